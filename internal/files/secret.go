package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LoadSecret returns the content of the file at path, a small secret that only its owner can read:
// a key of local tokens, the embedded engine's master key, or the key of a self-signed certificate.
// The first process that needs a secret creates it. After that, it never changes.
//
// If the file does not exist, LoadSecret creates it with mode 0600 and the result of create, and
// its folder with mode 0700. If several processes create the file at once, one of them succeeds,
// and all of them return its content. The file is complete and synced to disk before it gets its
// name.
//
// LoadSecret returns an error for the operator if other users own the file or can read it, or if it
// is not a regular file. Other errors are those of the file system.
func LoadSecret(path string, create func() ([]byte, error)) ([]byte, error) {
	secret, err := readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	made, err := create()
	if err != nil {
		return nil, err
	}
	if err := publishSecret(path, made); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readSecret(path)
}

// readSecret reads a secret, and rejects files that other users can read. It checks the open file,
// so that no other file can take its place after the check.
func readSecret(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("other users can read %s (mode %04o), so its content is no longer secret: delete the file, "+
			"and the next start creates a new one (or run chmod 600 on it if you are sure that no one has read it)",
			path, info.Mode().Perm())
	case info.Size() > maxSecretSize:
		return nil, fmt.Errorf("%s has %d bytes, which is too large for a key", path, info.Size())
	}
	if err := CheckOwner(path, info, 0); err != nil {
		return nil, err
	}
	secret := make([]byte, info.Size())
	_, err = file.ReadAt(secret, 0)
	return secret, err
}

// maxSecretSize is several times the size of the largest secret in bytes.
const maxSecretSize = 64 << 10

// publishSecret writes a temporary file in the same folder, syncs it to disk and then links it to
// path. A link, unlike a rename, fails with fs.ErrExist if the name is taken.
func publishSecret(path string, secret []byte) error {
	folder := filepath.Dir(path)
	draft, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(secret)
	if err == nil {
		err = draft.Sync()
	}
	if err = errors.Join(err, draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); err != nil {
		return err
	}
	return SyncFolder(folder)
}
