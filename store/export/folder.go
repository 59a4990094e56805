package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cosmosblog/internal/files"
	"cosmosblog/store/follow"
)

// The files of an export beside the folders of its tables.
const (
	manifestName   = "export.json"
	draftName      = ".export.json" // of the next manifest
	lockName       = "lock"
	unfinishedName = "unfinished" // folder of the files of the batch that is being written
)

// manifest is the content of export.json. Replacing it commits a batch: its files and the positions
// that they reach.
type manifest struct {
	Format int    `json:"format"`
	Source string `json:"source"`
	// Files of the batches from FirstBatch to LastBatch belong to the export. The next run removes
	// those of other batches.
	FirstBatch int64 `json:"firstBatch"`
	LastBatch  int64 `json:"lastBatch"`
	// StartedAgain is the first batch of an export that has started again and has not reached the end
	// of the feeds yet; 0 otherwise. It becomes FirstBatch then. Until then, the batches from
	// FirstBatch to Before belong to the export too.
	StartedAgain int64             `json:"startedAgain,omitempty"`
	Before       int64             `json:"before,omitempty"`
	Sequence     int64             `json:"sequence"`            // the last one
	UpTo         time.Time         `json:"upTo,omitzero"`       // Result.UpTo of the last complete run
	Positions    []follow.Position `json:"positions,omitempty"` // of all change feeds; none at the beginning
	History      string            `json:"history,omitempty"`   // changefeed.History.Name of the positions
	// ByQuery says that the feeds may not show all items, because the database went back to an earlier
	// state at some time. An export that starts again reads them by query.
	ByQuery bool `json:"byQuery,omitempty"`
	// Items is where the query of all items continues. It is nil if they were read, or come from the
	// feeds.
	Items *itemsPosition `json:"items,omitempty"`
}

// has reports whether the files of a batch belong to the export.
func (m manifest) has(batch int64) bool {
	if m.StartedAgain > 0 {
		return batch >= m.FirstBatch && batch <= m.Before || batch >= m.StartedAgain && batch <= m.LastBatch
	}
	return batch >= m.FirstBatch && batch <= m.LastBatch
}

// startAgain returns the manifest of an export that reads everything again. What an earlier attempt
// has written since it started again no longer belongs to it, and neither does an export that was
// never complete.
func (m manifest) startAgain() manifest {
	switch {
	case m.UpTo.IsZero():
		m.Before = 0
	case m.StartedAgain == 0:
		m.Before = m.LastBatch
	}
	m.StartedAgain = m.LastBatch + 1
	m.Positions, m.Items = nil, nil
	return m
}

// complete returns the manifest of a run that has read all feeds to their ends.
func (m manifest) complete(upTo time.Time) manifest {
	m.UpTo = upTo
	if m.StartedAgain > 0 {
		m.FirstBatch, m.StartedAgain, m.Before = m.StartedAgain, 0, 0
	}
	return m
}

const manifestFormat = 2

// FolderError is the error of a folder that cannot take the export. Another run would fail in the
// same way.
type FolderError struct{ reason string }

func (e *FolderError) Error() string { return e.reason }

func folderError(format string, args ...any) error {
	return &FolderError{fmt.Sprintf(format, args...) + ": export to another folder"}
}

// InUseError is the error of a folder to which another process exports.
type InUseError struct{ Folder string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("another process is exporting to %s: wait until it is done", e.Folder)
}

// folder is the folder of an export, locked by this process.
type folder struct {
	path     string
	lock     *os.File
	manifest manifest // as committed
	// before is called before every change of the folder with what it is. If it returns an error, the
	// export ends at once, as it does if the process is killed. Only tests set it.
	before func(step string) error
}

// openFolder locks a folder, which it creates if there is none, and removes what an interrupted run
// left. Errors: *InUseError; the folder has other files and no export, or an export of another
// source, or other users own it or can write in it (*FolderError); those of the disk.
func openFolder(path, source string, before func(string) error) (*folder, error) {
	if before == nil {
		before = func(string) error { return nil }
	}
	f := &folder{path: path, before: before}
	if err := f.open(source); err != nil {
		if f.lock != nil {
			f.lock.Close()
		}
		return nil, err
	}
	return f, nil
}

func (f *folder) open(source string) error {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	if err := files.CheckOwner(f.path, info, 0o002); err != nil {
		return &FolderError{err.Error()}
	}
	if err := f.readManifest(source); err != nil {
		return err
	}
	lock, err := files.OpenLock(f.file(lockName))
	if err != nil {
		return err
	}
	f.lock = lock
	if err := files.Lock(lock); errors.Is(err, files.ErrLocked) {
		return &InUseError{f.path}
	} else if err != nil {
		return err
	}
	if err := f.readManifest(source); err != nil { // another process may have exported before the lock
		return err
	}
	if f.manifest.Positions == nil { // a new folder becomes that of an export before it has other files
		if err := f.writeManifest(f.manifest); err != nil {
			return err
		}
	}
	return f.clean()
}

func (f *folder) close() error { return f.lock.Close() }

func (f *folder) file(names ...string) string {
	return filepath.Join(append([]string{f.path}, names...)...)
}

// readManifest reads the manifest. In an empty folder, it makes a new one.
func (f *folder) readManifest(source string) error {
	f.manifest = manifest{Format: manifestFormat, Source: source, FirstBatch: 1}
	text, err := os.ReadFile(f.file(manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return f.checkEmpty()
	}
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return folderError("%s is damaged", f.file(manifestName))
	}
	switch {
	case m.Format != manifestFormat:
		return folderError("%s has the format %d, and this program writes the format %d", f.path, m.Format, manifestFormat)
	case m.Source != source:
		return folderError("%s is an export of %s, and not of %s", f.path, m.Source, source)
	}
	f.manifest = m
	return nil
}

// checkEmpty rejects a folder with other files, because cleaning removes files.
func (f *folder) checkEmpty() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		// Another process may have written the manifest since it was looked for.
		if name := e.Name(); name != lockName && name != draftName && name != manifestName && name != unfinishedName {
			return folderError("%s has other files, and no export", f.path)
		}
	}
	return nil
}

// clean removes the files of batches that are not, or no longer, part of the export. The posts are
// first: their tags and likes count only with them.
func (f *folder) clean() error {
	if err := f.before("remove unfinished files"); err != nil {
		return err
	}
	if err := os.RemoveAll(f.file(unfinishedName)); err != nil {
		return err
	}
	for _, table := range slices.Backward(tableNames) {
		if err := f.cleanTable(table); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) cleanTable(table string) error {
	names, err := fs.Glob(os.DirFS(f.path), table+"/date=*/*.parquet")
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	for _, name := range names {
		path := f.file(name)
		if batch, ok := batchOf(filepath.Base(path)); !ok || f.manifest.has(batch) {
			continue
		}
		if err := f.before("remove a file"); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		if os.Remove(filepath.Dir(path)) == nil { // it is empty
			delete(folders, filepath.Dir(path))
			folders[f.file(table)] = true
		} else {
			folders[filepath.Dir(path)] = true
		}
	}
	return syncFolders(folders) // the next batch has the same number
}

// fileName returns the name of a file in the folder of its date. A batch has several files of one
// date if other dates come between them.
func fileName(batch int64, n int) string { return fmt.Sprintf("%06d-%d.parquet", batch, n) }

func batchOf(name string) (batch int64, ok bool) {
	number, rest, ok := strings.Cut(name, "-")
	if !ok || !strings.HasSuffix(rest, ".parquet") {
		return 0, false
	}
	batch, err := strconv.ParseInt(number, 10, 64)
	return batch, err == nil
}

// draft is a finished file in the folder unfinished.
type draft struct{ path, table, date, name string }

// commit moves the drafts of a batch to their tables and replaces the manifest. After an error, the
// next run removes the files that were moved.
func (f *folder) commit(drafts []draft, next manifest) error {
	folders := map[string]bool{}
	for _, table := range tableNames {
		for _, d := range drafts {
			if d.table != table {
				continue
			}
			to := f.file(table, "date="+d.date)
			if err := f.before("move a file"); err != nil {
				return err
			}
			if err := os.MkdirAll(to, 0o700); err != nil {
				return err
			}
			if err := os.Rename(d.path, filepath.Join(to, d.name)); err != nil {
				return err
			}
			folders[to], folders[f.file(table)], folders[f.path] = true, true, true
		}
	}
	if err := syncFolders(folders); err != nil {
		return err
	}
	return f.writeManifest(next)
}

// writeManifest replaces the manifest in one step.
func (f *folder) writeManifest(next manifest) error {
	text, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return err
	}
	if err := f.before("write the manifest"); err != nil {
		return err
	}
	path := f.file(draftName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a run that was killed
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // follows no link
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := f.before("replace the manifest"); err != nil {
		return err
	}
	if err := os.Rename(path, f.file(manifestName)); err != nil {
		return err
	}
	f.manifest = next
	return files.SyncFolder(f.path)
}

func syncFolders(paths map[string]bool) error {
	for path := range paths {
		if err := files.SyncFolder(path); err != nil {
			return err
		}
	}
	return nil
}
