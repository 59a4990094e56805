package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"cosmosblog/engine/value"
)

// checker compares a container's items with their index, feed and expiry entries.
type checker struct {
	*checkState
	container   *container
	expected    map[byte]int // number of entries that the items require, by space
	rids, etags numbers      // in the items' resource ids and etags
	found       []error
}

// numbers is a set of numbers, most of which are close to each other. It takes little memory: 16 MB
// for 18 million numbers with gaps.
type numbers struct {
	set   roaring64.Bitmap
	twice int // numbers that were added again
}

func (n *numbers) add(number uint64) {
	if !n.set.CheckedAdd(number) {
		n.twice++
	}
}

const maxFaults = 100

func (c *checker) fault(format string, args ...any) {
	if len(c.found) < maxFaults {
		c.found = append(c.found, fmt.Errorf("engine: check of %s: "+format, append([]any{c.container.name}, args...)...))
	}
}

func (c *checker) run() error {
	number := c.container.number
	if err := each(c.reader, containerKey(spaceItem, number), c.item); err != nil {
		return err
	}
	for _, space := range []byte{spaceIndex, spaceExpiry} {
		n, err := c.count(containerKey(space, number))
		if err != nil {
			return err
		}
		c.counted(space, n)
	}
	if err := c.feed(); err != nil {
		return err
	}
	for name, twice := range map[string]int{"resource id": c.rids.twice, "etag": c.etags.twice} {
		if twice > 0 {
			c.fault("%d items share their %s with another item", twice, name)
		}
	}
	return errors.Join(c.found...)
}

func (c *checker) counted(space byte, n int) {
	if n != c.expected[space] {
		c.fault("there are %d %s entries, but the items require %d", n, spaceNames[space], c.expected[space])
	}
}

// feed checks that each number belongs to one transaction of one partition and does not exceed
// its log's ceiling.
func (c *checker) feed() error {
	n, previous, partition := 0, []byte(nil), []byte(nil)
	err := each(c.reader, containerKey(spaceFeed, c.container.number), func(key, l []byte) error {
		n++
		log, transaction, epk := binary.BigEndian.Uint32(key[5:]), key[:len(key)-4], l[:min(len(l), epkBytes)]
		if bytes.Equal(transaction, previous) && !bytes.Equal(epk, partition) {
			c.fault("the number %d of log %d was assigned to two transactions", feedLSN(key), log)
		}
		previous, partition = append(previous[:0], transaction...), append(partition[:0], epk...)
		stored, closer, err := c.reader.Get(ceilingKey(c.container.number, log))
		if err != nil {
			c.fault("log %d has changes but no ceiling: %v", log, err)
			return nil
		}
		if feedLSN(key) > binary.BigEndian.Uint64(stored) {
			c.fault("the number %d of log %d is above the log's ceiling", feedLSN(key), log)
		}
		return errors.Join(c.ctx.Err(), closer.Close())
	})
	c.counted(spaceFeed, n)
	return err
}

// progressInterval is the number of items checked between two progress reports.
const progressInterval = 1000

// item checks one item and the entries that it requires.
func (c *checker) item(key, stored []byte) error {
	if c.done++; c.done%progressInterval == 0 {
		c.progress(c.done, c.total)
	}
	l := locator(bytes.Clone(key[5:]))
	r, root, p, err := c.container.decode(stored)
	if err != nil {
		c.fault("item %q: %v", l, err)
		return c.ctx.Err()
	}
	id, _ := root.Get("id").AsString()
	if !bytes.Equal(p.locator(id), l) {
		c.fault("item %q is stored under another partition key or id", id)
		return c.ctx.Err()
	}
	c.entries(id, p, l, r, root)
	c.properties(id, r, root)
	return c.ctx.Err()
}

// entries checks the feed, index and expiry entries of an item.
func (c *checker) entries(id string, p partition, l locator, r *record, root value.Value) {
	number := c.container.number
	if log := c.container.rangeOf(p.epk()).log.number; r.log != log {
		c.fault("item %q is in log %d instead of log %d", id, r.log, log)
	}
	c.entry(id, feedKey(number, r.log, r.lsn, r.sequence), l)
	for _, x := range c.container.indexes {
		c.entry(id, x.key(number, l, len(p.prefix), root), l)
	}
	if r.expires != 0 {
		c.entry(id, expiryKey(number, r.expires, l), nil)
	}
}

// properties compares an item's stored JSON, including system properties, with the encoding of
// its values.
func (c *checker) properties(id string, r *record, root value.Value) {
	ts, _ := root.Get("_ts").AsNumber()
	rid, _ := root.Get("_rid").AsString()
	etag, _ := root.Get("_etag").AsString()
	written := withSystem(root, rid, c.container.self()+"docs/"+rid+"/", etag, int64(ts))
	if !bytes.Equal(r.text, value.Text(written)) {
		c.fault("the stored JSON of item %q differs from the encoding of its properties", id)
	}
	if expires, err := c.container.definition.expiry(root, int64(ts)); err != nil || expires != r.expires {
		c.fault("item %q expires at %d, but its ttl requires %d: %v", id, r.expires, expires, err)
	}
	number, ok := c.container.itemNumber(rid)
	serial, given := etagSerial(etag)
	if !ok || !given || max(number, serial)>>40 > c.epoch {
		c.fault("item %q has the resource id %q and the etag %s, which were never assigned", id, rid, etag)
	}
	c.rids.add(number)
	c.etags.add(serial)
}

// etagSerial returns the serial number in an etag.
func etagSerial(etag string) (uint64, bool) {
	digits := strings.ReplaceAll(strings.TrimSuffix(etag, `-0000-000000000000"`), "-", "")
	b, err := hex.DecodeString(strings.TrimPrefix(digits, `"`))
	if err != nil || len(b) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(b), true
}

// entryName returns the name of an entry's space, with the number of an index.
func entryName(key []byte) string {
	name := spaceNames[key[0]]
	if key[0] == spaceIndex {
		name += fmt.Sprintf(" %d", binary.BigEndian.Uint16(key[len(containerKey(spaceIndex, 0)):]))
	}
	return name
}

// entry checks one entry of an item.
func (c *checker) entry(id string, key, want []byte) {
	c.expected[key[0]]++
	stored, closer, err := c.reader.Get(key)
	if err != nil {
		c.fault("item %q has no %s entry: %v", id, entryName(key), err)
		return
	}
	defer closer.Close()
	if !bytes.Equal(stored, want) {
		c.fault("the %s entry of item %q refers to another item", entryName(key), id)
	}
}
