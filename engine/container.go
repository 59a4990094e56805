package engine

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

	"cosmosblog/engine/value"
)

// database is a database with its containers. It is part of a catalog and immutable.
type database struct {
	number     uint32
	name, rid  string
	resource   json.RawMessage
	containers map[string]*container // by name
}

// container is an open container. Its fields are immutable, apart from guarded and atomic state
// inside them. A changed definition creates a new container value that shares the ranges.
type container struct {
	databaseNumber, number uint32
	databaseName           string
	name, rid              string
	link                   string          // made of names, escaped as in a path
	resource               json.RawMessage // as returned by a read
	definition             definition
	keyPath                []string
	indexes                []index
	generation             int64       // number of rebuilds of index and expiry entries since Open
	excluded               exclusion   // from the indexes, for request charges
	ranges                 []*keyRange // in key order; they cover the key space
	splits                 []split     // that turned the initial ranges into these
	scripts                map[scriptName]*storedScript
	watch                  *watchers
}

// keyRange is a physical range: an interval of effective partition keys. It is immutable except
// for its log and its allowances.
type keyRange struct {
	id         uint32
	min, max   []byte      // effective partition keys from min (nil: lowest) to before max (nil: end)
	parents    []string    // ids of the split ranges that it descends from, oldest first
	allowances *allowances // used if the engine throttles
	*log
}

// log numbers the changes of a range. The two halves of a split range share its log.
type log struct {
	number uint32 // the id of its first range; part of its keys

	mu         sync.Mutex    // held while a number is assigned and its batch handed to Pebble
	lsn        uint64        // the last number assigned; guarded by mu
	ceiling    uint64        // the highest number reserved; guarded by mu
	dropped    bool          // the container was deleted; guarded by mu
	generation atomic.Int64  // of the container value that may write; changed with mu held
	applied    atomic.Uint64 // the last number whose batch Pebble has
	durable    atomic.Uint64 // the last number on disk
	hidden     atomic.Uint64 // the change feed shows only later numbers: see HideChanges
}

// self returns the container's link, made of resource ids.
func (c *container) self() string {
	return "dbs/" + databaseRID(c.databaseNumber) + "/colls/" + c.rid + "/"
}

// rangeOf returns the physical range of an effective partition key.
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

// minText and maxText return the bounds in the service's form: hexadecimal digits, with "" and
// "FF" at the ends.
func (r *keyRange) minText() string { return strings.ToUpper(hex.EncodeToString(r.min)) }

func (r *keyRange) maxText() string {
	if r.max == nil {
		return "FF"
	}
	return strings.ToUpper(hex.EncodeToString(r.max))
}

func (r *keyRange) idText() string { return strconv.FormatUint(uint64(r.id), 10) }

// contains reports whether an effective partition key, or a key that begins with one, is in the
// range.
func (r *keyRange) contains(epk []byte) bool {
	return bytes.Compare(epk, r.min) >= 0 && (r.max == nil || bytes.Compare(epk, r.max) < 0)
}

// matchesID reports whether id is the range's own or that of a range it descends from.
func (r *keyRange) matchesID(id string) bool {
	return r.idText() == id || slices.Contains(r.parents, id)
}

// newRanges divides the effective partition keys into equal ranges. The first two bits of every
// key are zero.
func newRanges(count int) []*keyRange {
	ranges := make([]*keyRange, count)
	for i := range ranges {
		ranges[i] = &keyRange{id: uint32(i), allowances: new(allowances), log: &log{number: uint32(i)}}
		if i > 0 {
			at := make([]byte, epkBytes)
			binary.BigEndian.PutUint32(at, uint32(uint64(i)<<30/uint64(count)))
			ranges[i].min = at
			ranges[i-1].max = ranges[i].min
		}
	}
	return ranges
}

// partitionOf returns the logical partition named by the item's own partition key value.
func (c *container) partitionOf(item value.Value) (partition, error) {
	key, err := keyOf(item.Path(c.keyPath...))
	if err != nil {
		return partition{}, err
	}
	return newPartition(key), nil
}

func rangeList(r *keyRange) []*keyRange { return []*keyRange{r} }
