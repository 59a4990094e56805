package embedded

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

// A closed folder is sealed: a file in it says which others there are, how long they are, and what the short ones hold.
// Pebble notices by itself where a table was changed, but takes the end of a log or of a manifest that is cut or damaged
// for a write that never ended, as it must after a crash. After an orderly end, and in a backup, there is no such write.
//
// The seal is looked at and removed before the folder is opened. Where there is none, the engine ended by a crash.

const (
	sealName     = "seal.json"
	unsealedName = sealName + ".tmp" // the seal until it is on disk: what is left of it says nothing
)

// sealedFile is what the seal says of a file.
type sealedFile struct {
	Size int64 `json:"size"`
	// CRC is the file's CRC-32C; absent of tables, of which each block has its own.
	CRC *uint32 `json:"crc32c,omitempty"`
}

// writeSeal seals a folder that nobody has open. The seal gets its name once it is on disk: a kill, or a full disk, leaves
// the folder without a seal, and never with a broken one.
func writeSeal(fsys vfs.FS, dir string) error {
	files, err := sealedFiles(fsys, dir)
	if err != nil {
		return err
	}
	text, err := json.Marshal(files)
	if err != nil {
		return err
	}
	unsealed := fsys.PathJoin(dir, unsealedName)
	if err := writeFile(fsys, unsealed, text); err != nil {
		return errors.Join(err, fsys.Remove(unsealed))
	}
	if err := fsys.Rename(unsealed, fsys.PathJoin(dir, sealName)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

// writeFile writes a file and brings it to disk.
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

// breakSeal holds a folder to its seal, where it has one, and removes that. Error: ErrDamaged; then the seal stays.
func breakSeal(fsys vfs.FS, dir string) error {
	path := fsys.PathJoin(dir, sealName)
	text, err := readFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var sealed map[string]sealedFile
	if err := json.Unmarshal(text, &sealed); err != nil {
		return fmt.Errorf("%w: %s cannot be read", ErrDamaged, sealName)
	}
	found, err := sealedFiles(fsys, dir)
	if err != nil {
		return err
	}
	for name, want := range sealed {
		if err := want.holds(name, found); err != nil {
			return err
		}
	}
	if err := fsys.Remove(path); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

// holds compares a file with what was sealed.
func (want sealedFile) holds(name string, found map[string]sealedFile) error {
	got, ok := found[name]
	switch {
	case !ok:
		return fmt.Errorf("%w: %s is missing", ErrDamaged, name)
	case got.Size != want.Size:
		return fmt.Errorf("%w: %s has %d bytes and had %d", ErrDamaged, name, got.Size, want.Size)
	case got.CRC != nil && want.CRC != nil && *got.CRC != *want.CRC:
		return fmt.Errorf("%w: %s does not hold what was written to it", ErrDamaged, name)
	}
	return nil
}

// sealedFiles looks at all files of a folder but the seal.
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
		if !strings.HasSuffix(name, ".sst") && !strings.HasSuffix(name, ".blob") {
			text, err := readFile(fsys, path)
			if err != nil {
				return nil, err
			}
			sum := crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))
			file.CRC = &sum
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
