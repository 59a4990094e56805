package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A folder's seal is a file that lists the other files, their lengths, and the checksums of
// those that Pebble does not check itself. Pebble detects changed tables. But it treats a cut or
// damaged end of a log or manifest as an unfinished write, as it must after a crash. It treats a
// folder without its marker as a new folder.
//
// In a closed folder and in a backup, all files must match the seal exactly. While a folder is
// open, its seal states how much of each growing file is known to be on disk. After a crash,
// only that much is checked: see disk.

const (
	sealName     = "seal.json"
	unsealedName = sealName + ".tmp" // a new seal until it is on disk; leftovers are ignored
)

// sealedFile is the seal's entry for a file.
type sealedFile struct {
	Size int64 `json:"size"`
	// CRC is the CRC-32C of the first Size bytes. It is unset for tables, whose blocks have their
	// own checksums.
	CRC uint32 `json:"crc32c,omitempty"`
	// Open reports that the file may have grown since.
	Open bool `json:"open,omitempty"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeSeal writes the seal of a folder that is not open.
func writeSeal(fsys vfs.FS, dir string) error {
	files, err := sealedFiles(fsys, dir)
	if err != nil {
		return err
	}
	return replaceSeal(fsys, dir, files)
}

// replaceSeal writes a seal. The new seal gets its final name only after the seal and all names
// in it are on disk. A kill or a full disk therefore leaves the previous seal, never a broken
// one.
func replaceSeal(fsys vfs.FS, dir string, files map[string]sealedFile) error {
	text, err := json.Marshal(files)
	if err != nil {
		return err
	}
	unsealed := fsys.PathJoin(dir, unsealedName)
	if err := writeFile(fsys, unsealed, text); err != nil {
		return errors.Join(err, fsys.Remove(unsealed))
	}
	if err := syncDir(fsys, dir); err != nil {
		return err
	}
	if err := fsys.Rename(unsealed, fsys.PathJoin(dir, sealName)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

// writeFile writes a file and syncs it.
func writeFile(fsys vfs.FS, path string, text []byte) error {
	file, err := fsys.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// readSeal checks a folder against its seal and returns the seal's entries, or nil if there is
// no seal. Error: ErrDamaged.
func readSeal(fsys vfs.FS, dir string) (map[string]sealedFile, error) {
	text, err := readFile(fsys, fsys.PathJoin(dir, sealName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var sealed map[string]sealedFile
	if err := json.Unmarshal(text, &sealed); err != nil {
		return nil, fmt.Errorf("%w: %s cannot be read", ErrDamaged, sealName)
	}
	for name, want := range sealed {
		if err := want.verify(fsys, fsys.PathJoin(dir, name)); err != nil {
			return nil, err
		}
	}
	return sealed, nil
}

// verify compares a file with its entry.
func (want sealedFile) verify(fsys vfs.FS, path string) error {
	name := fsys.PathBase(path)
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is missing", ErrDamaged, name)
	case err != nil:
		return err
	case info.Size() < want.Size || info.Size() > want.Size && !want.Open:
		return fmt.Errorf("%w: %s has %d bytes instead of %d", ErrDamaged, name, info.Size(), want.Size)
	case isTable(name):
		return nil
	}
	text, err := readFile(fsys, path)
	if err != nil {
		return err
	}
	if crc32.Checksum(text[:want.Size], castagnoli) != want.CRC {
		return fmt.Errorf("%w: the content of %s differs from what was written", ErrDamaged, name)
	}
	return nil
}

// isTable reports whether Pebble itself detects damage of a file.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// sealedFiles returns entries for all files of a folder except the seal.
func sealedFiles(fsys vfs.FS, dir string) (map[string]sealedFile, error) {
	names, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	files := make(map[string]sealedFile, len(names))
	for _, name := range names {
		if name == sealName || name == unsealedName {
			continue
		}
		path := fsys.PathJoin(dir, name)
		info, err := fsys.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			continue
		}
		file := sealedFile{Size: info.Size()}
		if !isTable(name) {
			text, err := readFile(fsys, path)
			if err != nil {
				return nil, err
			}
			file.CRC = crc32.Checksum(text, castagnoli)
		}
		files[name] = file
	}
	return files, nil
}

func readFile(fsys vfs.FS, path string) ([]byte, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	return text, errors.Join(err, file.Close())
}

func syncDir(fsys vfs.FS, dir string) error {
	folder, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
