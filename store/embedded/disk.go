package embedded

import (
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// disk is the file system under a folder that is open. It knows how far each file that grows is on disk, and writes that
// into the folder's seal: in renewals, and before Pebble removes a file that the seal names.
//
// The first write that fails is the last one: from then on the folder stays as it is, as though the machine had
// crashed, and Pebble goes on in memory. Pebble itself would end the process, or go on with its locks held. Whoever waits
// for the disk asks failure before saying that something is on it.
type disk struct {
	vfs.FS
	dir    string
	shadow *vfs.MemFS // what is written after the failure
	tell   func(error)
	broken atomic.Pointer[error]

	sealing sync.Mutex            // held while a seal is written
	sealed  map[string]sealedFile // what the seal on disk says; guarded by sealing

	mu    sync.Mutex
	files map[string]sealedFile // how far each file but the tables is on disk; guarded by mu
}

// ErrDisk says that a folder can no longer be written: its disk is full, or broken. What was acknowledged is on it.
var ErrDisk = errors.New("the disk cannot be written")

// newDisk holds a folder to its seal, and keeps the seal while it is open. tell is told of the first write that fails.
// Error: ErrDamaged.
func newDisk(fsys vfs.FS, dir string, tell func(error)) (*disk, error) {
	dir = fsys.PathDir(fsys.PathJoin(dir, sealName)) // as it stands in the paths of its files
	d := &disk{FS: fsys, dir: dir, shadow: vfs.NewMem(), tell: tell, files: map[string]sealedFile{}}
	files, err := readSeal(fsys, dir)
	if err = errors.Join(err, d.shadow.MkdirAll(dir, 0o700)); err != nil || files == nil {
		return d, err
	}
	for name, file := range files {
		if !isTable(name) && name != "LOCK" { // which Pebble makes anew
			file.Open = true
			d.files[name] = file
		}
	}
	return d, d.renewSeal()
}

// failure tells whether a write failed. A disk that is nil never does.
func (d *disk) failure() error {
	if d == nil || d.broken.Load() == nil {
		return nil
	}
	return *d.broken.Load()
}

func (d *disk) fail(err error) {
	err = fmt.Errorf("%w: %w", ErrDisk, err)
	if d.broken.CompareAndSwap(nil, &err) {
		d.tell(err)
	}
}

// works runs a write, unless one failed already, and tells whether it was done.
func (d *disk) works(write func() error) bool {
	if d.failure() != nil {
		return false
	}
	err := write()
	if err != nil {
		d.fail(err)
	}
	return err == nil
}

// renewSeal writes the seal anew where there is something else to say than before.
func (d *disk) renewSeal() error {
	d.sealing.Lock()
	defer d.sealing.Unlock()
	return d.renewSealLocked()
}

func (d *disk) renewSealLocked() error {
	d.mu.Lock()
	files := maps.Clone(d.files)
	d.mu.Unlock()
	if !maps.Equal(files, d.sealed) && d.works(func() error { return replaceSeal(d.FS, d.dir, files) }) {
		d.sealed = files
	}
	return d.failure()
}

// note says how far a file is on disk.
func (d *disk) note(name string, file sealedFile) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[name] = file
}

// forget is for a file that goes: the seal must not name it any more.
func (d *disk) forget(path string) error {
	name := d.PathBase(path)
	d.sealing.Lock()
	defer d.sealing.Unlock()
	d.mu.Lock()
	delete(d.files, name)
	d.mu.Unlock()
	if _, named := d.sealed[name]; !named {
		return nil
	}
	return d.renewSealLocked()
}

func (d *disk) isOurs(path string) bool { return d.PathDir(path) == d.dir }

// Create makes a file, and follows it where it is the folder's.
func (d *disk) Create(path string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.make(path, func() (vfs.File, error) { return d.FS.Create(path, category) })
}

// ReuseForWrite makes a file out of another.
func (d *disk) ReuseForWrite(old, path string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.make(path, func() (vfs.File, error) {
		if err := d.forget(old); err != nil {
			return nil, err
		}
		return d.FS.ReuseForWrite(old, path, category)
	})
}

func (d *disk) make(path string, create func() (vfs.File, error)) (made vfs.File, err error) {
	if !d.isOurs(path) {
		return create()
	}
	if !d.works(func() error { made, err = create(); return err }) {
		return d.shadow.Create(path, vfs.WriteCategoryUnspecified)
	}
	name := d.PathBase(path)
	if isTable(name) {
		return &diskFile{File: made, disk: d, table: true}, nil
	}
	f := &diskFile{File: made, disk: d, name: name}
	d.note(name, f.sealed())
	return f, nil
}

// Open opens a file for reading.
func (d *disk) Open(path string, options ...vfs.OpenOption) (vfs.File, error) {
	if d.failure() != nil {
		if file, err := d.shadow.Open(path, options...); err == nil {
			return file, nil
		}
	}
	return d.FS.Open(path, options...)
}

// OpenDir opens a folder, to bring its names to disk.
func (d *disk) OpenDir(path string) (vfs.File, error) {
	folder, err := d.FS.OpenDir(path)
	if err != nil || path != d.dir {
		return folder, err
	}
	return &diskFile{File: folder, disk: d}, nil
}

// Remove removes a file, after the seal has forgotten it.
func (d *disk) Remove(path string) error {
	if d.isOurs(path) {
		if err := d.forget(path); err != nil || d.failure() != nil {
			return nil // it stays, as everything does
		}
	}
	return d.FS.Remove(path)
}

// Rename renames a file of the folder, which the seal knows under its new name.
func (d *disk) Rename(old, path string) error {
	if !d.isOurs(path) {
		return d.FS.Rename(old, path)
	}
	d.mu.Lock()
	file, known := d.files[d.PathBase(old)]
	d.mu.Unlock()
	if d.works(func() error { return errors.Join(d.forget(old), d.FS.Rename(old, path)) }) && known {
		d.note(d.PathBase(path), file)
	}
	return nil
}

// diskFile is a file of the folder that is written, or the folder itself. It is for one goroutine at a time.
type diskFile struct {
	vfs.File
	disk  *disk
	table bool   // Pebble makes a table again that it could not write
	name  string // in the seal; empty where that does not name it
	size  int64  // of what was written
	crc   uint32
}

func (f *diskFile) sealed() sealedFile { return sealedFile{Size: f.size, CRC: f.crc, Open: true} }

// works runs a write of the file. What fails shows in a table alone.
func (f *diskFile) works(write func() error) (done bool, err error) {
	if done = f.disk.works(write); !done && f.table {
		err = f.disk.failure()
	}
	return done, err
}

// Write appends.
func (f *diskFile) Write(p []byte) (int, error) {
	size, sum := f.size+int64(len(p)), f.crc
	if f.name != "" {
		sum = crc32.Update(sum, castagnoli, p) // now: a write may change p
	}
	done, err := f.works(func() error { _, err := f.File.Write(p); return err })
	if done {
		f.size, f.crc = size, sum
	}
	return len(p), err
}

// Sync brings what was written to disk.
func (f *diskFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData brings what was written to disk, without the file's times.
func (f *diskFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *diskFile) sync(sync func() error) error {
	done, err := f.works(sync)
	if done && f.name != "" {
		f.disk.note(f.name, f.sealed())
	}
	return err
}

// SyncTo begins to bring a part to disk, and tells whether the whole is there.
func (f *diskFile) SyncTo(length int64) (whole bool, err error) {
	_, err = f.works(func() (err error) { whole, err = f.File.SyncTo(length); return err })
	return whole, err
}

// Preallocate takes room.
func (f *diskFile) Preallocate(offset, length int64) error {
	_, err := f.works(func() error { return f.File.Preallocate(offset, length) })
	return err
}
