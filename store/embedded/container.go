package embedded

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"cosmosblog/store/embedded/value"
)

// database is a database with its containers. It is part of a catalog and never changes.
type database struct {
	number     uint32
	name, rid  string
	resource   json.RawMessage
	containers map[string]*container // by name
}

// container is a container at work. Its fields never change but for what is guarded or atomic inside; a changed
// definition makes a new container value that shares the ranges.
type container struct {
	databaseNumber, number uint32
	databaseName           string
	name, rid              string
	link                   string          // of names, escaped as in a path
	resource               json.RawMessage // as a read gives it
	definition             definition
	keyPath                []string
	indexes                []index
	built                  int64       // how many times what is derived of the items was made anew since the engine was opened
	excluded               exclusion   // from the indexes, as charges count them
	ranges                 []*keyRange // in the order of their keys, covering all of them
	splits                 []split     // that made them of those it began with
	scripts                map[scriptName]*storedScript
	watch                  *watchers
}

// keyRange is a physical range: a piece of the effective partition keys. It never changes but in its log.
type keyRange struct {
	id       uint32
	min, max []byte   // effective partition keys from min (nil: the lowest) to before max (nil: to the end)
	parents  []string // ids of the ranges that were split before it came to be, the eldest first
	*log
}

// log gives the numbers of a range's changes. The ranges that come of a split share the log of the one that was split.
type log struct {
	number uint32 // the id of the range that it began with: names its keys

	mu      sync.Mutex    // held while a number is taken and its batch handed to Pebble
	lsn     uint64        // the last number given; guarded by mu
	ceiling uint64        // numbers up to this one may be given; guarded by mu
	dropped bool          // its container was deleted; guarded by mu
	built   atomic.Int64  // that of the container which may write; changed while mu is held
	applied atomic.Uint64 // the last number whose batch Pebble has
	durable atomic.Uint64 // the last number that is on disk
}

// self is the container's link of resource ids.
func (c *container) self() string {
	return "dbs/" + databaseRID(c.databaseNumber) + "/colls/" + c.rid + "/"
}

// rangeOf gives the physical range of an effective partition key.
func (c *container) rangeOf(epk []byte) *keyRange {
	for _, r := range c.ranges[:len(c.ranges)-1] {
		if bytes.Compare(epk, r.max) < 0 {
			return r
		}
	}
	return c.ranges[len(c.ranges)-1]
}

func (c *container) rangeByID(id string) *keyRange {
	for _, r := range c.ranges {
		if r.idText() == id {
			return r
		}
	}
	return nil
}

// minText and maxText write the bounds as the service does: hexadecimal digits, "" and "FF" at the ends.
func (r *keyRange) minText() string { return strings.ToUpper(hex.EncodeToString(r.min)) }

func (r *keyRange) maxText() string {
	if r.max == nil {
		return "FF"
	}
	return strings.ToUpper(hex.EncodeToString(r.max))
}

func (r *keyRange) idText() string { return strconv.FormatUint(uint64(r.id), 10) }

// contains tells whether an effective partition key, or what begins with one, lies in the range.
func (r *keyRange) contains(epk []byte) bool {
	return bytes.Compare(epk, r.min) >= 0 && (r.max == nil || bytes.Compare(epk, r.max) < 0)
}

// knows tells whether an id is the range's or that of one it came of.
func (r *keyRange) knows(id string) bool { return r.idText() == id || slices.Contains(r.parents, id) }

// newRanges cuts the effective partition keys, which begin with two bits of zero, into equal pieces.
func newRanges(count int) []*keyRange {
	ranges := make([]*keyRange, count)
	for i := range ranges {
		ranges[i] = &keyRange{id: uint32(i), log: &log{number: uint32(i)}}
		if i > 0 {
			at := make([]byte, epkBytes)
			binary.BigEndian.PutUint32(at, uint32(uint64(i)<<30/uint64(count)))
			ranges[i].min = at
			ranges[i-1].max = ranges[i].min
		}
	}
	return ranges
}

// indexed gives the part of an item that is indexed, and charged for as such.
func (c *container) indexed(item value.Value) value.Value {
	return c.excluded.from(item)
}

// partitionOf gives the logical partition that an item's own value names.
func (c *container) partitionOf(item value.Value) (partition, error) {
	key, err := partitionKeyValue(item.Path(c.keyPath...))
	if err != nil {
		return partition{}, err
	}
	return newPartition(key), nil
}

func rangeList(r *keyRange) []*keyRange { return []*keyRange{r} }
