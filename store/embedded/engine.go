package embedded

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"cosmosblog/store/embedded/script"
)

// Options says where an engine keeps its items. The zero value is an engine in memory with a key of its own.
type Options struct {
	Dir string // the folder; where empty, and FS too, everything is in memory
	FS  vfs.FS // the operating system's where nil and Dir is given; a test's otherwise
	Key string // the account's master key, in base64; random where empty

	// Entra takes well-formed tokens of Entra ID beside the master key, for what the service lets them do.
	Entra bool

	Now func() time.Time // time.Now where nil

	// Script says how scripts run: time limits, and for tests which operations are refused.
	Script script.Options
	// QueriesSeeOwnWrites makes a query inside a script see what the script wrote before. Otherwise it sees the items as
	// they were before the transaction, without those that it deleted. The service's documents leave it open.
	QueriesSeeOwnWrites bool
	// Damaged is told when a file of the folder turns out to be damaged: at the first time that what is damaged is read, by
	// a request or by the housekeeping. It is called from any goroutine, more than once, and must not wait. The request
	// is answered 500. Where it is nil, the damage is logged.
	//
	// It is told ErrDisk by the first write of the folder that fails: every write from then on is answered 500, and so is
	// one of which it is not known whether it is on disk. What is on disk can still be read.
	Damaged func(error)
	// CacheBytes is for blocks that were read; 64 MiB where 0.
	CacheBytes int64
}

// Engine is one account. It is an http.Handler and may be used concurrently.
type Engine struct {
	options Options
	fs      vfs.FS
	disk    *disk  // nil where everything is in memory
	key     []byte // the master key, decoded
	macs    sync.Pool
	keyText string
	db      *pebble.DB
	locks   *partitionLocks
	queries queryCache

	waiting atomic.Int64 // how many transactions wait for the disk

	epoch  uint64 // how many times the folder was opened
	serial atomic.Uint64

	catalogMu sync.Mutex // held while a definition changes
	catalog   atomic.Pointer[catalog]
	watched   map[string]*watchers // by the container's names; guarded by catalogMu

	housekeeping housekeeping

	gate   sync.RWMutex // read-held while a request is worked on, taken by Close alone
	closed bool         // guarded by gate
}

// The errors of Open for a folder that another version of the engine wrote.
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
	metaNumber = "mnumber" // the last number given to a database or container
)

// Open opens a folder, and makes it where there is none. Errors: ErrDamaged, ErrNewerFormat; Pebble's (the folder is
// locked, not writable). Not all damage is found here: see Options.Damaged.
func Open(options Options) (*Engine, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	key, err := masterKey(options.Key)
	if err != nil {
		return nil, err
	}
	settings := pebbleOptions(options)
	e := &Engine{
		options: options,
		fs:      settings.FS,
		key:     key,
		keyText: base64.StdEncoding.EncodeToString(key),
		locks:   newPartitionLocks(),
		watched: map[string]*watchers{},
	}
	if options.Dir != "" {
		if e.disk, err = newDisk(e.fs, options.Dir, options.damaged); err != nil {
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

// sizeMismatch is what Pebble says of a table that is shorter or longer than its manifest knows (checkConsistency).
const sizeMismatch = "object size mismatch"

// unknownFormat is what Pebble says of a folder that a later version of it wrote.
const unknownFormat = "unknown format major version"

// openFailure says of an error whether it is of damage. A file that is not there, in a folder that is, was there before.
func openFailure(dir string, err error) error {
	if strings.Contains(err.Error(), unknownFormat) {
		return fmt.Errorf("embedded: %w: %w", ErrNewerFormat, err)
	}
	if !errors.Is(err, ErrDamaged) && (isDamage(err) || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), sizeMismatch)) {
		return fmt.Errorf("embedded: open %s: %w: %w", dir, ErrDamaged, err)
	}
	return fmt.Errorf("embedded: open %s: %w", dir, err)
}

func pebbleOptions(options Options) *pebble.Options {
	o := &pebble.Options{
		FS:                          options.FS,
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                16 << 20, // a larger one makes reads slower, a smaller one bulk writes
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       4,
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
	return o
}

// backgroundError is told what goes wrong in Pebble's housekeeping, which tries again.
func (o Options) backgroundError(err error) {
	if isDamage(err) {
		o.damaged(err)
		return
	}
	slog.Warn("embedded engine: housekeeping failed and will be tried again", "error", err)
}

func isDamage(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, errDamagedRecord) || pebble.IsCorruptionError(err)
}

func (o Options) damaged(err error) {
	if o.Damaged != nil {
		o.Damaged(err)
		return
	}
	slog.Error("embedded engine: the folder failed", "error", err)
}

// quietLogger leaves out what Pebble tells of its housekeeping.
type quietLogger struct{ pebble.Logger }

func (quietLogger) Infof(string, ...any) {}

func masterKey(text string) ([]byte, error) {
	if text == "" {
		key := make([]byte, 64)
		rand.Read(key)
		return key, nil
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("embedded: the master key is not base64: %w", err)
	}
	return key, nil
}

// load reads what the folder holds, and counts this opening.
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

// checkFormat refuses a folder in another format than this version's. A new folder has none yet.
// Errors: ErrNewerFormat, ErrOlderFormat.
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

// onDisk is asked, with Pebble's own error, before something is said to be on disk, or is handed to Pebble.
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
		return 0, fmt.Errorf("embedded: the record %s is damaged", name)
	}
	return binary.BigEndian.Uint64(stored), nil
}

func setMeta(batch *pebble.Batch, name string, n uint64) {
	batch.Set([]byte(name), binary.BigEndian.AppendUint64(nil, n), nil)
}

// Key gives the account's master key in base64.
func (e *Engine) Key() string { return e.keyText }

// nextSerial gives a number that was never given before, by any opening of the folder: 20 bits of the opening, 40 bits
// of a count. A backup that is opened is another account, which counts on its own.
func (e *Engine) nextSerial() uint64 { return e.epoch<<40 | e.serial.Add(1) }

// Close waits for the requests that are under way and closes the folder. Requests after it are answered 503. Closing
// again does nothing.
func (e *Engine) Close() error {
	e.housekeeping.end()
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

// Watch gives a channel that receives after writes to a container are on disk, also to one made anew under the same
// names; several writes may be one receiving. stop ends it. Error: where there is no such container.
func (e *Engine) Watch(database, container string) (written <-chan struct{}, stop func(), err error) {
	c, refusal := e.container(database, container)
	if refusal != nil {
		return nil, nil, fmt.Errorf("embedded: watch %s/%s: %w", database, container, refusal)
	}
	written, stop = c.watch.add()
	return written, stop, nil
}
