package engine

import (
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// disk is the file system under an open folder. It tracks how much of each growing file is on
// disk and records that in the folder's seal. It renews the seal periodically, and before Pebble
// removes a file that the seal names.
//
// After the first failed write, disk executes no further writes. The folder stays unchanged, as
// after a crash of the machine, while Pebble continues in memory. Pebble itself would terminate
// the process, or continue with its locks held. Callers must check failure before they report
// that something is on disk.
type disk struct {
	vfs.FS
	dir       string
	shadow    *vfs.MemFS // receives writes after the failure
	onFailure func(error)
	broken    atomic.Pointer[error]

	sealing sync.Mutex            // held while a seal is written
	sealed  map[string]sealedFile // content of the seal on disk; guarded by sealing

	mu    sync.Mutex
	files map[string]sealedFile // durable part of each file except tables; guarded by mu
}

// ErrDisk reports that a folder can no longer be written because its disk is full or broken.
// Acknowledged writes are on the disk.
var ErrDisk = errors.New("the disk cannot be written")

// newDisk checks a folder against its seal, then maintains the seal while the folder is open. It
// calls onFailure once, on the first failed write. Error: ErrDamaged.
func newDisk(fsys vfs.FS, dir string, onFailure func(error)) (*disk, error) {
	dir = fsys.PathDir(fsys.PathJoin(dir, sealName)) // in the form of its files' paths
	d := &disk{FS: fsys, dir: dir, shadow: vfs.NewMem(), onFailure: onFailure, files: map[string]sealedFile{}}
	files, err := readSeal(fsys, dir)
	if err = errors.Join(err, d.shadow.MkdirAll(dir, 0o700)); err != nil || files == nil {
		return d, err
	}
	for name, file := range files {
		if !isTable(name) && name != "LOCK" { // Pebble creates LOCK again
			file.Open = true
			d.files[name] = file
		}
	}
	return d, d.renewSeal()
}

// failure returns the error of the first failed write, or nil. A nil disk never fails.
func (d *disk) failure() error {
	if d == nil || d.broken.Load() == nil {
		return nil
	}
	return *d.broken.Load()
}

func (d *disk) fail(err error) {
	err = fmt.Errorf("%w: %w", ErrDisk, err)
	if d.broken.CompareAndSwap(nil, &err) {
		d.onFailure(err)
	}
}

// tryWrite executes a write unless one has failed already. It reports whether the write succeeded.
func (d *disk) tryWrite(write func() error) bool {
	if d.failure() != nil {
		return false
	}
	err := write()
	if err != nil {
		d.fail(err)
	}
	return err == nil
}

// renewSeal writes the seal again if its content changed.
func (d *disk) renewSeal() error {
	d.sealing.Lock()
	defer d.sealing.Unlock()
	return d.renewSealLocked()
}

func (d *disk) renewSealLocked() error {
	d.mu.Lock()
	files := maps.Clone(d.files)
	d.mu.Unlock()
	if !maps.Equal(files, d.sealed) && d.tryWrite(func() error { return replaceSeal(d.FS, d.dir, files) }) {
		d.sealed = files
	}
	return d.failure()
}

// recordDurable records how much of a file is on disk.
func (d *disk) recordDurable(name string, file sealedFile) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[name] = file
}

// dropFromSeal removes a file from the seal before the file itself is removed or renamed.
func (d *disk) dropFromSeal(path string) error {
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

func (d *disk) isInFolder(path string) bool { return d.PathDir(path) == d.dir }

// Create creates a file and tracks it if it is in the folder.
func (d *disk) Create(path string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.make(path, func() (vfs.File, error) { return d.FS.Create(path, category) })
}

// ReuseForWrite creates a file from an existing one.
func (d *disk) ReuseForWrite(old, path string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.make(path, func() (vfs.File, error) {
		if err := d.dropFromSeal(old); err != nil {
			return nil, err
		}
		return d.FS.ReuseForWrite(old, path, category)
	})
}

func (d *disk) make(path string, create func() (vfs.File, error)) (made vfs.File, err error) {
	if !d.isInFolder(path) {
		return create()
	}
	if !d.tryWrite(func() error { made, err = create(); return err }) {
		return d.shadow.Create(path, vfs.WriteCategoryUnspecified)
	}
	name := d.PathBase(path)
	if isTable(name) {
		return &diskFile{File: made, disk: d, table: true}, nil
	}
	f := &diskFile{File: made, disk: d, name: name}
	d.recordDurable(name, f.sealed())
	return f, nil
}

func (d *disk) Open(path string, options ...vfs.OpenOption) (vfs.File, error) {
	if d.failure() != nil {
		if file, err := d.shadow.Open(path, options...); err == nil {
			return file, nil
		}
	}
	return d.FS.Open(path, options...)
}

// OpenDir opens a folder for syncing its names.
func (d *disk) OpenDir(path string) (vfs.File, error) {
	folder, err := d.FS.OpenDir(path)
	if err != nil || path != d.dir {
		return folder, err
	}
	return &diskFile{File: folder, disk: d}, nil
}

// Remove removes a file after the seal no longer names it.
func (d *disk) Remove(path string) error {
	if d.isInFolder(path) {
		if err := d.dropFromSeal(path); err != nil || d.failure() != nil {
			return nil // after a failure, the folder stays as it is
		}
	}
	return d.FS.Remove(path)
}

// Rename renames a file. If the file is in the folder, the seal records its new name.
func (d *disk) Rename(old, path string) error {
	if !d.isInFolder(path) {
		return d.FS.Rename(old, path)
	}
	d.mu.Lock()
	file, known := d.files[d.PathBase(old)]
	d.mu.Unlock()
	if d.tryWrite(func() error { return errors.Join(d.dropFromSeal(old), d.FS.Rename(old, path)) }) && known {
		d.recordDurable(d.PathBase(path), file)
	}
	return nil
}

// diskFile is a file of the folder that is being written, or the folder itself. It is not safe
// for concurrent use.
type diskFile struct {
	vfs.File
	disk  *disk
	table bool   // Pebble retries a failed table
	name  string // in the seal; empty if the seal does not name the file
	size  int64  // bytes written
	crc   uint32
}

func (f *diskFile) sealed() sealedFile { return sealedFile{Size: f.size, CRC: f.crc, Open: true} }

// tryWrite executes a write of the file. Only a table reports the failure to Pebble.
func (f *diskFile) tryWrite(write func() error) (done bool, err error) {
	if done = f.disk.tryWrite(write); !done && f.table {
		err = f.disk.failure()
	}
	return done, err
}

func (f *diskFile) Write(p []byte) (int, error) {
	size, sum := f.size+int64(len(p)), f.crc
	if f.name != "" {
		sum = crc32.Update(sum, castagnoli, p) // before the write, which may change p
	}
	done, err := f.tryWrite(func() error { _, err := f.File.Write(p); return err })
	if done {
		f.size, f.crc = size, sum
	}
	return len(p), err
}

// Sync flushes written data to disk.
func (f *diskFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData flushes written data to disk, without the file's times.
func (f *diskFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *diskFile) sync(sync func() error) error {
	done, err := f.tryWrite(sync)
	if done && f.name != "" {
		f.disk.recordDurable(f.name, f.sealed())
	}
	return err
}

// SyncTo starts to flush the first length bytes and reports whether the whole file is on disk.
func (f *diskFile) SyncTo(length int64) (whole bool, err error) {
	_, err = f.tryWrite(func() (err error) { whole, err = f.File.SyncTo(length); return err })
	return whole, err
}

// Preallocate reserves disk space.
func (f *diskFile) Preallocate(offset, length int64) error {
	_, err := f.tryWrite(func() error { return f.File.Preallocate(offset, length) })
	return err
}
