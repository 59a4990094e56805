// Package readcache keeps what was read from a partition until the partition changes, and carries
// out equal reads only once at a time.
//
// It knows nothing of Cosmos DB. How old a value can be depends on who counts the changes of the
// partitions. If a change is counted after it is visible to reads and before it is acknowledged, a
// value is never older than an acknowledged write.
//
// The cache promises bounded memory, if values keep their part of the promise:
//   - The strings in the keys of kept values are copies. A caller's key may share memory with
//     anything, such as the body of a request: a part of a string keeps all of it alive. While a
//     read is in progress, the cache holds the key of the caller that carries it out.
//   - A value must hold no memory besides the bytes that are given with it. It must be made of what
//     was read, never of strings of the key. It must not point into a slice of values that were
//     read together, because that would keep all of them alive.
package readcache

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Key names one read: an item, or a page of a list. Reads with equal keys return equal values as
// long as the partition does not change.
type Key struct {
	Container string // its name; kept as it is, so it must be one of few
	Read      string // the name of the list, or of the item's type; kept as it is, too
	Partition string
	ID, Date  string // of the item, or of the position after which the page begins
	First     int    // the maximum number of elements of the page
}

// Changes returns the number of changes of a partition. If several partitions share one number, the
// cache drops values earlier than necessary.
type Changes func(container, partition string) uint64

// Cache keeps values. It may be used concurrently. The nil *Cache keeps nothing and shares no
// reads.
type Cache struct {
	capacity int64
	changes  Changes

	mu      sync.Mutex
	kept    *simplelru.LRU[Key, value]
	bytes   int64           // of kept
	flights map[Key]*flight // the latest one of each key, until it ends

	hits, shared, misses atomic.Int64
}

// value is a kept result. It is immutable.
type value struct {
	result  any
	bytes   int64
	changes uint64 // of the partition, noted before the read
}

// keyBytes is what a kept value takes beyond its own bytes: the key with two ids and a date of
// about 30 characters each, and its entries in a map and a list. TestMemory measures it.
const keyBytes = 576

// New returns a cache that keeps values of up to capacity bytes. Beyond that, it drops those that
// were not used for longest. If changes is nil, nothing tells the cache when a value becomes old.
// It then keeps nothing, and only shares reads.
func New(capacity int64, changes Changes) *Cache {
	// The size of the LRU is a number of values. The bytes reach their limit first.
	kept, err := simplelru.NewLRU[Key, value](int(capacity/keyBytes)+1, nil)
	if err != nil {
		panic("readcache: " + err.Error()) // only for a size below 1
	}
	return &Cache{capacity: capacity, changes: changes, kept: kept, flights: map[Key]*flight{}}
}

// Stats are numbers of reads since the start. Read counts each call once, Lookup each key.
type Stats struct {
	Hits   int64 // returned a kept value
	Shared int64 // returned the result of another read
	Misses int64 // were carried out
	Bytes  int64 // of the values kept now
}

// Stats returns the numbers of the cache; all are 0 for the nil *Cache.
func (c *Cache) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{Hits: c.hits.Load(), Shared: c.shared.Load(), Misses: c.misses.Load(), Bytes: c.bytes}
}

// Expires is the size of a value that must not be kept, because it can change without a change of
// its partition. A database stops returning an item with a time to live when that has passed.
const Expires = -1

// Read returns the value of a key: a kept one, that of an equal read, or that of read. The value
// must not be changed. read also returns the value's size in bytes, or Expires. The value may be
// kept, so it must hold no other memory: see the package comment. cached reports that read was not
// called. Errors: those of read, which equal reads share, and of ctx.
func Read[T any](
	ctx context.Context, c *Cache, key Key, read func(context.Context) (result T, bytes int, err error),
) (result T, cached bool, err error) {
	if c == nil {
		result, _, err = read(ctx)
		return result, false, err
	}
	found, cached, err := c.read(ctx, key, func() (any, int, error) { return read(ctx) })
	if err != nil {
		return result, cached, err
	}
	return found.(T), cached, nil
}

// Lookup returns the kept value of a key, if there is one and it is usable (nil: always).
// Otherwise, the caller may read the value and pass it to keep with its size, as Read does. Lookup
// shares no reads. It is for reads of several keys at once, and for those whose result not
// everybody may use.
func Lookup[T any](c *Cache, key Key, isUsable func(T) bool) (result T, found bool, keep func(result T, bytes int)) {
	if c == nil {
		return result, false, func(T, int) {}
	}
	kept, now := c.lookup(key, func(kept any) bool { return isUsable == nil || isUsable(kept.(T)) })
	if kept != nil {
		return kept.(T), true, nil
	}
	c.misses.Add(1)
	return result, false, func(result T, bytes int) { c.keep(key, value{result, int64(bytes), now}) }
}

// lookup returns the kept value of a key if it is usable, or nil and the number of changes at that
// time. A nil isUsable accepts every value.
func (c *Cache) lookup(key Key, isUsable func(any) bool) (result any, now uint64) {
	if c.changes == nil {
		return nil, 0
	}
	now = c.changes(key.Container, key.Partition)
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.kept.Get(key); ok && v.changes == now && (isUsable == nil || isUsable(v.result)) {
		c.hits.Add(1)
		return v.result, now
	}
	return nil, now
}

// clone returns an equal key whose strings share no memory with those of a request.
func (k Key) clone() Key {
	k.Partition, k.ID, k.Date = strings.Clone(k.Partition), strings.Clone(k.ID), strings.Clone(k.Date)
	return k
}

// keep adds a value, unless it expires or the partition has changed since it was read.
func (c *Cache) keep(key Key, v value) {
	if v.bytes == Expires || c.changes == nil || c.changes(key.Container, key.Partition) != v.changes {
		return
	}
	v.bytes += keyBytes
	if v.bytes > c.capacity {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.kept.Peek(key); ok {
		c.bytes -= old.bytes
	}
	c.kept.Add(key.clone(), v)
	c.bytes += v.bytes
	for c.bytes > c.capacity {
		_, oldest, _ := c.kept.RemoveOldest()
		c.bytes -= oldest.bytes
	}
}

// Keeps reports whether the cache keeps values. Otherwise, it only shares reads.
func (c *Cache) Keeps() bool { return c != nil && c.changes != nil }
