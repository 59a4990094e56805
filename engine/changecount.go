package engine

import (
	"hash/maphash"
	"sync/atomic"

	"cosmosblog/engine/value"
)

// changeCounts counts the writes of logical partitions, in a table of fixed size. Partitions with
// equal hashes share a counter. The hash covers the container's names and not its number, so that
// a container has the same counters after it was deleted and created again.
//
// The table exists from the first call of Changes on. A write that finds no table was visible
// before the table existed, so the reads after that call see it.
type changeCounts struct {
	seed    maphash.Seed
	table   atomic.Pointer[[1 << 16]atomic.Uint64]
	catalog atomic.Uint64 // changes of definitions; part of every partition's count
}

func newChangeCounts() *changeCounts { return &changeCounts{seed: maphash.MakeSeed()} }

// add counts a write of a logical partition.
func (n *changeCounts) add(database, container string, epk []byte) {
	if table := n.table.Load(); table != nil {
		table[n.index(database, container, epk)].Add(1)
	}
}

// of returns the number of writes of a logical partition since the table exists.
func (n *changeCounts) of(database, container string, epk []byte) uint64 {
	table := n.table.Load()
	if table == nil {
		n.table.CompareAndSwap(nil, new([1 << 16]atomic.Uint64))
		table = n.table.Load()
	}
	return table[n.index(database, container, epk)].Load()
}

// index returns the place of a logical partition in the table.
func (n *changeCounts) index(database, container string, epk []byte) uint16 {
	var h maphash.Hash
	h.SetSeed(n.seed)
	h.WriteString(database)
	h.WriteByte('/') // cannot be part of a name
	h.WriteString(container)
	h.Write(epk)
	return uint16(h.Sum64())
}

// Changes returns a number that increases with every write of a logical partition: of items, in
// batches and by scripts, and the removal of expired items. It also increases if a database,
// container, script or throughput is created, changed or deleted, and if a partition with the same
// hash is written. The partition key is a string; database and container are names, and need not
// exist. Numbers of different engines are unrelated, even if they opened the same folder.
//
// The number increases after the write is visible to reads and before it is acknowledged. So a
// cache of reads returns no data older than an acknowledged write if it calls Changes before each
// read, and uses the result only while Changes returns the same number. Items with an expiry are
// an exception: they expire without a write.
//
// Changes is safe for concurrent use and takes no lock. The first call allocates 512 KB, and later
// ones nothing.
func (e *Engine) Changes(database, container, partitionKey string) uint64 {
	epk := effectivePartitionKey(value.String(partitionKey))
	// Neither number ever decreases, so the sum stays the same only if both do.
	return e.counts.of(database, container, epk[:]) + e.counts.catalog.Load()
}
