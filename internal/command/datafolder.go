package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The files of a data folder that are ours. It may hold others, which are left alone.
const (
	lockName   = "lock"        // locked by the process that owns the folder
	ownerName  = "owner.json"  // who that is, and the key of its engine
	socketName = "engine.sock" // where it answers
	engineName = "engine"      // the engine's folder
	keyName    = "engine-key"  // the engine's master key where no other is given
	tlsName    = "engine-tls.pem"
)

// dataFolder is a data folder that this process owns: until release, no other process opens its engine.
type dataFolder struct {
	path string
	lock *os.File
}

// owner is what ownerName holds.
type owner struct {
	PID int    `json:"pid"`
	Key string `json:"key"`
}

// ownDataFolder takes a folder, and makes it where there is none. Errors: errLocked where another process owns it;
// otherwise a sentence.
func ownDataFolder(path string) (*dataFolder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, folderError(path, err)
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, folderError(path, err)
	}
	if err := lockFile(lock); err != nil {
		lock.Close()
		if errors.Is(err, errLocked) {
			return nil, err
		}
		return nil, folderError(path, err)
	}
	return &dataFolder{path, lock}, nil
}

// folderError says which folder it is, and what the file system said of it, without our own file names.
func folderError(path string, err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return fmt.Errorf("the data folder %s cannot be used: %w", path, err)
}

func (f *dataFolder) file(name string) string { return filepath.Join(f.path, name) }

// announce tells the processes that find the folder owned how to sign their requests.
func (f *dataFolder) announce(key string) error {
	text, err := json.Marshal(owner{os.Getpid(), key})
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

// readOwner tells who owns a folder, or owned it last. Error: fs.ErrNotExist where nobody said so yet.
func readOwner(path string) (owner, error) {
	var o owner
	text, err := os.ReadFile(filepath.Join(path, ownerName))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}

// release gives the folder back. The lock file stays: were it removed, two processes could each lock one of that name.
func (f *dataFolder) release() error {
	if err := os.Remove(f.file(ownerName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, f.lock.Close())
	}
	return f.lock.Close()
}
