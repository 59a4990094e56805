package engine

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"cosmosblog/engine/script"
)

// Options configures an Engine. With the zero value, the engine is in memory and has a random
// key.
type Options struct {
	Dir string // the folder; if it is empty and FS is nil, everything is in memory
	FS  vfs.FS // default with Dir: the operating system's; tests replace it
	Key string // the account's master key in base64; random if empty

	// NumbersAfter is the number after which those of definitions begin in a new folder; resource ids
	// consist of them. If it is random, whoever stored a position in the change feeds of one folder
	// notices that another folder has other containers.
	NumbersAfter uint32

	// Entra makes the engine accept well-formed Entra ID tokens as well as the master key, for the
	// operations that the service permits with such a token.
	Entra bool

	// Consistency is the account's level; Session if it is zero. With Strong and BoundedStaleness,
	// reads of items are charged twice. A single engine has no replicas, so all its reads are strong.
	Consistency Consistency

	// WritesInSeveralRegions is what the description of the account says, and has no further effect.
	WritesInSeveralRegions bool

	Now func() time.Time // default: time.Now

	// Throughput is the throughput of each container in RU/s, divided evenly among its physical
	// ranges. A range that has used up a second's share rejects requests with 429 (TooManyRequests,
	// substatus 3200) and the time to wait (x-ms-retry-after-ms). With 0, the engine never throttles.
	// The throughput that an offer requests has no effect on this.
	//
	// Requests at low priority (x-ms-cosmos-priority-level) are rejected first: see budget.Allowance.
	Throughput float64

	// Buckets are the percentages of Throughput that the requests of each throughput bucket
	// (x-ms-cosmos-throughput-bucket) may use, by the bucket's id from 1 to 5. Beyond that, they are
	// rejected with 429 and substatus 3212. A bucket without a percentage has no limit of its own.
	Buckets map[int]float64

	// MetadataReads is the number of reads of definitions that the engine answers in five minutes. The
	// service answers 500. Others are rejected with 429. 0 is no limit.
	MetadataReads int

	// ThroughputLimit is the account's limit of its total throughput, in RU/s. What would exceed it is
	// rejected with 400 and substatus 1028: a database or container with a throughput, and a higher
	// throughput. A container outside of a shared throughput then needs an explicit one. 0 is no
	// limit.
	ThroughputLimit int

	// EtagsOfShownChanges makes the etag of a page of a change feed that of the last change which it
	// shows; without changes, that from which the page was read. Otherwise, the etag of the last page
	// is the state in which it was read, which also moves with changes that no page shows: those of
	// other partitions of the range, deletions, and expirations. No document says which of the two the
	// service does; an answer of it moved with the writes of another partition
	// (azure-cosmos-dotnet-v3, issue 2106).
	EtagsOfShownChanges bool

	// KeepExpired leaves expired items on disk, where no request sees them. Their removal takes log
	// sequence numbers, so engines that must have the same numbers keep them.
	KeepExpired bool

	// Script sets the time limits of scripts. Tests use it to reject operations.
	Script script.Options
	// QueriesSeeOwnWrites makes a query inside a script see the script's earlier writes. Otherwise
	// it sees the items as they were before the transaction, without those deleted in it. The
	// service's documentation does not specify this.
	QueriesSeeOwnWrites bool
	// SnapshotScripts runs procedures, and writes with triggers, under snapshot isolation, as the
	// service does. A script then reads the partition as it was when the script began, and other
	// writes may commit meanwhile. The script is rejected with 449 if an item that it wrote has
	// changed since then. Changes of items that it only read do not reject it.
	//
	// This is for tests, which find scripts that rely on more, with Script.Before. Otherwise,
	// scripts of one partition run one after the other. That is faster if they write the same
	// items, because none has to be repeated.
	SnapshotScripts bool
	// Damaged is called if a request or background work reads a damaged part of a file for the
	// first time. Such a request gets status 500. Damaged may be called more than once and from any
	// goroutine, and must not block. If it is nil, the damage is logged.
	//
	// It is called with ErrDisk on the first failed write to the folder. From then on, every write
	// gets status 500, and so does a write whose durability is unknown. Data on disk stays
	// readable.
	Damaged func(error)
	// CacheBytes is the size of the block cache; 0 means 64 MiB.
	CacheBytes int64
}

// backgroundError handles errors of Pebble's background work, which Pebble retries.
func (o Options) backgroundError(err error) {
	if isDamage(err) {
		o.damaged(err)
		return
	}
	slog.Warn("embedded engine: background work failed and will be retried", "error", err)
}

func (o Options) damaged(err error) {
	if o.Damaged != nil {
		o.Damaged(err)
		return
	}
	slog.Error("embedded engine: the folder is damaged or cannot be written", "error", err)
}
