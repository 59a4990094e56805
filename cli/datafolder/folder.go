package datafolder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cosmosblog/internal/files"
)

// The program's files in a data folder. The program does not touch other files in it.
const (
	lockName   = "lock"        // locked by the process that owns the folder
	ownerName  = "owner.json"  // the owner's process id and the key of its engine
	socketName = "engine.sock" // the owner's socket
	engineName = "engine"      // the engine's folder
	keyName    = "engine-key"  // the engine's generated master key
	tlsName    = "engine-tls.pem"
)

// folder is a data folder that this process owns. No other process opens its engine until release.
type folder struct {
	path string
	lock *os.File
}

// owner is the content of the file ownerName.
type owner struct {
	PID  int    `json:"pid"`
	Key  string `json:"key"`
	Life string `json:"life,omitempty"` // engine.Life
}

// own locks a folder and creates it if it does not exist. It returns files.ErrLocked if another
// process owns the folder, and an error for the operator if another user does, or if all can write
// in it.
func own(path string) (*folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, folderError(path, err)
	}
	lock, err := files.OpenLock(filepath.Join(path, lockName))
	if err != nil {
		return nil, folderError(path, err)
	}
	if err := files.Lock(lock); err != nil {
		lock.Close()
		if errors.Is(err, files.ErrLocked) {
			return nil, err
		}
		return nil, folderError(path, err)
	}
	// A group may write: that is how Kubernetes lets a process use a volume (fsGroup).
	info, err := os.Stat(path)
	if err == nil {
		err = files.CheckOwner(path, info, 0o002)
	}
	if err != nil {
		lock.Close()
		return nil, folderError(path, err)
	}
	return &folder{path, lock}, nil
}

// folderError names the folder and the cause, without the names of the files in it.
func folderError(path string, err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return fmt.Errorf("the data folder %s cannot be used: %w", path, err)
}

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

// writeOwner records the process that owns the folder, the key that signs requests to its engine,
// and the engine's life.
func (f *folder) writeOwner(key, life string) error {
	text, err := json.Marshal(owner{os.Getpid(), key, life})
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(f.path, "."+ownerName+".*") // mode 0600
	if err != nil {
		return folderError(f.path, err)
	}
	_, err = draft.Write(text)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), f.file(ownerName))
	}
	if err != nil {
		os.Remove(draft.Name())
		return folderError(f.path, err)
	}
	return nil
}

// readOwner returns the current or last owner of a folder. It returns fs.ErrNotExist if no owner
// was recorded yet.
func readOwner(path string) (owner, error) {
	var o owner
	text, err := os.ReadFile(filepath.Join(path, ownerName))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}

// release unlocks the folder. The lock file stays: if it were removed, two processes could each
// lock one of that name.
func (f *folder) release() error {
	if err := os.Remove(f.file(ownerName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, f.lock.Close())
	}
	return f.lock.Close()
}

// CheckExists returns an error if a folder holds no data. Commands that must not create a data
// folder call it first.
func CheckExists(path string) error {
	_, err := os.Stat(filepath.Join(path, engineName))
	if err == nil {
		return nil
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no data in the folder %s: "+
			"name a data folder that a server or an engine has used", path)
	}
	return folderError(path, err)
}

// Fingerprint returns a text by which a data folder differs from another one that had the same path
// before. A copy and a backup of a folder have the same. It is empty if no server has used the
// folder.
func Fingerprint(path string) (string, error) {
	key, err := os.ReadFile(filepath.Join(path, keyName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", folderError(path, err)
	}
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8]), nil
}

// IsSame reports whether two paths lead to the same existing data folder.
func IsSame(path, other string) bool {
	one, err := os.Stat(filepath.Join(path, engineName))
	if err != nil {
		return false
	}
	another, err := os.Stat(filepath.Join(other, engineName))
	return err == nil && os.SameFile(one, another)
}
