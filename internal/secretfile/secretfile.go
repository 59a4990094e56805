// Package secretfile keeps small secrets in files that their owner alone can read: the key that signs local tokens, the
// embedded engine's master key, the key of a self-signed certificate. A secret is made once, by whoever needs it first,
// and never changes afterwards.
package secretfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Load gives what the file at path holds. Where there is no such file it makes one, mode 0600, with what create gives,
// and the folder too, mode 0700. When several processes do so at once, one file wins and all of them get its content.
// The file is complete and on disk before anybody sees it.
//
// Errors: a sentence for the person at the keyboard when the file can be read by others, or is not a file; otherwise
// what the file system said.
func Load(path string, create func() ([]byte, error)) ([]byte, error) {
	secret, err := read(path)
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
	if err := publish(path, made); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return read(path)
}

// read refuses a secret that is one no longer. The check is made on the open file, so that nobody swaps it in between.
func read(path string) ([]byte, error) {
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
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("others can read %s (mode %04o), so what it holds is no secret any more: delete it to have a new one made, or, where you know that nobody has read it, run chmod 600 on it",
			path, info.Mode().Perm())
	case info.Size() > maxSize:
		return nil, fmt.Errorf("%s holds %d bytes, which is no key of ours", path, info.Size())
	}
	secret := make([]byte, info.Size())
	_, err = file.ReadAt(secret, 0)
	return secret, err
}

const maxSize = 64 << 10

// publish writes a file beside path, brings it to disk and then gives it its name. A link, unlike a rename, fails where
// the name is taken: fs.ErrExist.
func publish(path string, secret []byte) error {
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
	return syncFolder(folder)
}

// syncFolder brings the folder's new entry to disk.
func syncFolder(folder string) error {
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
