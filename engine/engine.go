package engine

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Engine is one account. It is an http.Handler and is safe for concurrent use.
type Engine struct {
	options Options
	fs      vfs.FS
	disk    *disk // nil if everything is in memory
	key     atomic.Pointer[accountKey]
	db      *pebble.DB
	locks   *partitionLocks
	counts  *changeCounts
	queries queryCache

	lastDate atomic.Pointer[dateHeader]

	waiting atomic.Int64 // number of transactions waiting for the disk

	account atomic.Pointer[accountProperties]

	metadata metadataReads

	life   string // see Life
	epoch  uint64 // number of times the folder was opened
	serial atomic.Uint64

	catalogMu sync.Mutex // held while a definition changes
	catalog   atomic.Pointer[catalog]
	watched   map[string]*watchers // by the container's names; guarded by catalogMu

	housekeeping housekeeping

	gate   sync.RWMutex // read-locked by each request, locked only by Close
	closed bool         // guarded by gate
}

// Errors that Open returns for a folder of another version of the engine.
var (
	ErrNewerFormat = errors.New("the data was written by a newer version")
	ErrOlderFormat = errors.New("the data was written by an older version")
)

// ErrDamaged reports that a file in the folder is missing or differs from what was written.
var ErrDamaged = errors.New("a file is damaged")

const (
	formatVersion = 2 // format 1 was never released

	metaFormat = "mformat"
	metaEpoch  = "mepoch"
	metaNumber = "mnumber" // the last number assigned to a database or container
)

// Open opens a folder and creates it if necessary. It returns ErrDamaged, ErrNewerFormat,
// ErrOlderFormat, or Pebble's error if the folder is locked or not writable. Open does not
// detect all damage; see Options.Damaged.
func Open(options Options) (*Engine, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	settings := pebbleOptions(options)
	e := &Engine{
		options: options,
		fs:      settings.FS,
		locks:   newPartitionLocks(),
		counts:  newChangeCounts(),
		watched: map[string]*watchers{},
	}
	err := e.SetKey(options.Key)
	if err != nil {
		return nil, err
	}
	e.SetConsistency(cmp.Or(options.Consistency, Session), options.WritesInSeveralRegions)
	if options.Dir != "" {
		if e.disk, err = newDisk(e.fs, options.Dir, options.damaged); err != nil {
			return nil, openFailure(options.Dir, err)
		}
		if e.life, err = readLife(e.fs, options.Dir); err != nil {
			return nil, openFailure(options.Dir, err)
		}
		settings.FS = e.disk
	}
	settings.WALMinSyncInterval = func() time.Duration { return syncInterval(e.waiting.Load()) }
	if e.db, err = pebble.Open(options.Dir, settings); err != nil {
		return nil, openFailure(options.Dir, err)
	}
	if err := e.load(); err != nil {
		return nil, errors.Join(openFailure(options.Dir, errors.Join(e.disk.failure(), err)), e.db.Close())
	}
	e.housekeeping = startHousekeeping(e)
	return e, nil
}

// sizeMismatch is part of Pebble's error for a table whose size differs from the manifest
// (checkConsistency).
const sizeMismatch = "object size mismatch"

// unknownFormat is part of Pebble's error for a folder written by a later version of Pebble.
const unknownFormat = "unknown format major version"

// openFailure marks errors caused by damage. A missing file in an existing folder is damage too.
func openFailure(dir string, err error) error {
	if strings.Contains(err.Error(), unknownFormat) {
		return fmt.Errorf("engine: %w: %w", ErrNewerFormat, err)
	}
	if !errors.Is(err, ErrDamaged) && (isDamage(err) || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), sizeMismatch)) {
		return fmt.Errorf("engine: open %s: %w: %w", dir, ErrDamaged, err)
	}
	return fmt.Errorf("engine: open %s: %w", dir, err)
}

func pebbleOptions(options Options) *pebble.Options {
	o := &pebble.Options{
		FS:                 options.FS,
		FormatMajorVersion: pebble.FormatNewest,
		// A larger size slows down reads, a smaller one bulk writes.
		MemTableSize:                16 << 20,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       8,
		L0StopWritesThreshold:       24,
		Logger:                      quietLogger{pebble.DefaultLogger},
		EventListener: &pebble.EventListener{
			DataCorruption:  func(info pebble.DataCorruptionInfo) { options.damaged(info.Details) },
			BackgroundError: options.backgroundError,
		},
	}
	if o.FS == nil {
		o.FS = vfs.Default
		if options.Dir == "" {
			o.FS = vfs.NewMem()
		}
	}
	o.CacheSize = options.CacheBytes
	if o.CacheSize == 0 {
		o.CacheSize = 64 << 20
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	// Tables of level 0 are soon rewritten.
	o.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	o.Levels[1].Compression = func() *sstable.CompressionProfile { return sstable.SnappyCompression }
	return o
}

func isDamage(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, errDamagedRecord) || pebble.IsCorruptionError(err)
}

// quietLogger drops Pebble's informational messages.
type quietLogger struct{ pebble.Logger }

func (quietLogger) Infof(string, ...any) {}

// load reads the folder's contents and increments the number of times it was opened.
func (e *Engine) load() error {
	var err error
	if e.epoch, err = e.meta(metaEpoch); err != nil {
		return err
	}
	if err := e.checkFormat(); err != nil {
		return err
	}
	e.epoch++
	batch := e.db.NewBatch()
	defer batch.Close()
	setMeta(batch, metaFormat, formatVersion)
	setMeta(batch, metaEpoch, e.epoch)
	if err := e.onDisk(batch.Commit(pebble.Sync)); err != nil {
		return err
	}
	catalog, err := e.loadCatalog()
	if err != nil {
		return err
	}
	e.catalog.Store(catalog)
	if e.disk == nil {
		return nil
	}
	return e.disk.renewSeal()
}

// checkFormat rejects a folder in another format. A new folder has no format yet. Errors:
// ErrNewerFormat, ErrOlderFormat.
func (e *Engine) checkFormat() error {
	format, err := e.meta(metaFormat)
	switch {
	case err != nil:
		return err
	case format > formatVersion:
		return fmt.Errorf("%w (format %d, this version uses %d): use that version, or another folder",
			ErrNewerFormat, format, formatVersion)
	case format < formatVersion && e.epoch > 0:
		return fmt.Errorf("%w (format %d, this version uses %d): remove the folder, or restore a backup in format %d",
			ErrOlderFormat, format, formatVersion, formatVersion)
	}
	return nil
}

// onDisk returns err, or errDiskFailed if err is nil but a write has failed before. Callers use
// it before they acknowledge a write or hand a batch to Pebble.
func (e *Engine) onDisk(err error) error {
	if err == nil && e.disk.failure() != nil {
		err = errDiskFailed
	}
	return err
}

var errDiskFailed = errorf(http.StatusInternalServerError, 0, "The engine's disk cannot be written.")

func (e *Engine) meta(name string) (uint64, error) {
	stored, closer, err := e.db.Get([]byte(name))
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer closer.Close()
	if len(stored) != 8 {
		return 0, fmt.Errorf("engine: the record %s is damaged", name)
	}
	return binary.BigEndian.Uint64(stored), nil
}

func setMeta(batch *pebble.Batch, name string, n uint64) {
	batch.Set([]byte(name), binary.BigEndian.AppendUint64(nil, n), nil)
}

// nextSerial returns a number that was never returned before for the folder: 20 bits of the
// epoch, then a 40-bit count. An opened backup is a separate account with its own count.
func (e *Engine) nextSerial() uint64 { return e.epoch<<40 | e.serial.Add(1) }

// Close waits for running requests and closes the folder. Later requests get status 503. Closing
// again does nothing.
func (e *Engine) Close() error {
	e.housekeeping.stop()
	e.gate.Lock()
	defer e.gate.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	var errs []error
	for _, d := range e.catalog.Load().databases {
		for _, c := range d.containers {
			for _, r := range c.ranges {
				errs = append(errs, e.releaseNumbers(c, r))
			}
		}
	}
	errs = append(errs, e.db.Flush(), e.db.Close(), e.disk.failure())
	err := errors.Join(errs...)
	if err != nil || e.options.Dir == "" {
		return err
	}
	return writeSeal(e.fs, e.options.Dir)
}
