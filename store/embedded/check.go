package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Check reads everything and tells what does not agree: every item stands once in the change feed, under its own number,
// once in each index, and under its second of expiry; and there is no entry without its item. It may run beside other
// requests: it looks at one moment. Errors: all that is wrong, joined, at most 100 of each container; ErrClosed.
func (e *Engine) Check() (err error) {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return ErrClosed
	}
	snapshot := e.db.NewSnapshot()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	for _, d := range e.catalog.Load().databases {
		for _, c := range d.containers {
			check := &checker{reader: snapshot, container: c}
			err = errors.Join(err, check.run())
		}
	}
	return err
}

// checker compares one container's items with what else is kept of them.
type checker struct {
	reader    pebble.Reader
	container *container
	expected  map[byte]int // entries that the items ask for, by space
	found     []error
}

const mostFaults = 100

func (c *checker) fault(format string, args ...any) {
	if len(c.found) < mostFaults {
		c.found = append(c.found, fmt.Errorf("embedded: check of %s: "+format, append([]any{c.container.name}, args...)...))
	}
}

func (c *checker) run() error {
	c.expected = map[byte]int{}
	if err := c.each(spaceItem, c.item); err != nil {
		return err
	}
	for _, space := range []byte{spaceFeed, spaceIndex, spaceExpiry} {
		count := 0
		if err := c.each(space, func(_, _ []byte) error { count++; return nil }); err != nil {
			return err
		}
		if count != c.expected[space] {
			c.fault("there are %d entries of the kind %q, and the items ask for %d", count, space, c.expected[space])
		}
	}
	return errors.Join(c.found...)
}

func (c *checker) each(space byte, f func(key, stored []byte) error) error {
	it, err := c.reader.NewIter(within(containerKey(space, c.container.number)))
	if err != nil {
		return err
	}
	for it.First(); it.Valid(); it.Next() {
		if err := f(it.Key(), it.Value()); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// item checks one item and the entries that it asks for.
func (c *checker) item(key, stored []byte) error {
	l := locator(bytes.Clone(key[5:]))
	r, err := decodeRecord(stored)
	if err != nil {
		c.fault("item %q: %v", l, err)
		return nil
	}
	root, err := r.value()
	if err != nil {
		c.fault("item %q: %v", l, err)
		return nil
	}
	p, err := c.container.partitionOf(root)
	id, _ := root.Get("id").AsString()
	if err != nil || !bytes.Equal(p.locator(id), l) {
		c.fault("item %q lies at the place of another partition key or id", id)
		return nil
	}
	number := c.container.number
	c.entry(id, feedKey(number, r.log, r.lsn, r.sequence), l)
	for _, x := range c.container.indexes {
		c.entry(id, x.key(number, l, len(p.prefix), root), l)
	}
	if r.expires != 0 {
		c.entry(id, expiryKey(number, r.expires, l), nil)
	}
	if r.lsn > c.container.rangeOf(p.epk()).given() {
		c.fault("item %q has the number %d, which was not given yet", id, r.lsn)
	}
	return nil
}

// given is the last number that was given to a transaction.
func (r *keyRange) given() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lsn
}

// entry looks for one entry of an item.
func (c *checker) entry(id string, key, want []byte) {
	c.expected[key[0]]++
	stored, closer, err := c.reader.Get(key)
	if err != nil {
		c.fault("item %q has no entry of the kind %q (range or index %d): %v", id, key[0], binary.BigEndian.Uint16(key[5:]), err)
		return
	}
	defer closer.Close()
	if !bytes.Equal(stored, want) {
		c.fault("the entry of the kind %q of item %q names another item", key[0], id)
	}
}
