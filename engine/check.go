package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Check verifies the stored data. For every item:
//
//   - The change feed holds it exactly once, under a number that no other transaction uses.
//   - Each index holds it exactly once.
//   - Its expiry entry matches its ttl.
//   - Its JSON is the encoding of its properties, with the system properties at the end.
//   - No other item of the container has its resource id or etag.
//
// No entry may lack its item, no key may belong to a missing container, and no throughput to a
// missing resource.
//
// Check reads from a snapshot and may run concurrently with requests. It returns all faults
// joined, at most 100 for each container, or ErrClosed.
func (e *Engine) Check() error { return e.CheckWithProgress(context.Background(), func(_, _ int) {}) }

// CheckWithProgress is Check that also calls progress periodically, with the number of items
// checked and their total. It stops with the context's error when ctx ends.
func (e *Engine) CheckWithProgress(ctx context.Context, progress func(done, total int)) (err error) {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return ErrClosed
	}
	e.catalogMu.Lock() // so that the catalog matches the snapshot
	snapshot, catalog := e.db.NewSnapshot(), e.catalog.Load()
	e.catalogMu.Unlock()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	state := &checkState{ctx: ctx, reader: snapshot, catalog: catalog, epoch: e.epoch, progress: progress}
	return state.all()
}

// checkState is the state of one check that all containers share.
type checkState struct {
	ctx      context.Context
	reader   pebble.Reader
	catalog  *catalog
	epoch    uint64
	progress func(done, total int)

	done, total int // numbers of items
}

func (s *checkState) all() error {
	var containers []*container
	for _, d := range sorted(s.catalog.databases) {
		containers = append(containers, sorted(d.containers)...)
	}
	for _, c := range containers {
		n, err := s.count(containerKey(spaceItem, c.number))
		if err != nil {
			return err
		}
		s.total += n
	}
	err := s.definitions(containers)
	for _, c := range containers {
		check := &checker{checkState: s, container: c, expected: map[byte]int{}}
		err = errors.Join(err, check.run())
	}
	s.progress(s.done, s.total)
	return err
}

func (s *checkState) count(prefix []byte) (n int, err error) {
	err = each(s.reader, prefix, func(_, _ []byte) error { n++; return s.ctx.Err() })
	return n, err
}

// definitions compares the stored databases and containers with the catalog, and finds offers
// and keys without an owner.
func (s *checkState) definitions(containers []*container) error {
	owners, numbers := map[string]bool{}, map[uint32]bool{}
	for _, d := range s.catalog.databases {
		owners[d.rid] = true
	}
	for _, c := range containers {
		owners[c.rid], numbers[c.number] = true, true
	}
	var found []error
	for _, o := range s.catalog.offers {
		if !owners[o.owner] {
			found = append(found, fmt.Errorf("engine: check: the throughput %s belongs to no database or container", o.rid))
		}
	}
	for space, want := range map[byte]int{
		spaceDatabase:  len(s.catalog.databases),
		spaceContainer: len(containers),
		spaceOffer:     len(s.catalog.offers),
	} {
		if n, err := s.count([]byte{space}); err != nil || n != want {
			found = append(found, errors.Join(err, fmt.Errorf("engine: check: %d %s definitions are stored, but the catalog has %d", n, spaceNames[space], want)))
		}
	}
	for _, space := range containerSpaces {
		found = append(found, s.orphans(space, numbers))
	}
	return errors.Join(found...)
}

// orphans finds keys of containers that do not exist. It seeks from container to container.
func (s *checkState) orphans(space byte, numbers map[uint32]bool) (err error) {
	it, err := s.reader.NewIter(within([]byte{space}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Error(), it.Close()) }()
	for ok := it.First(); ok; {
		number := binary.BigEndian.Uint32(it.Key()[1:])
		if !numbers[number] {
			err = errors.Join(err, fmt.Errorf("engine: check: %s entries exist for container %d, which does not exist", spaceNames[space], number))
		}
		ok = it.SeekGE(after(containerKey(space, number)))
	}
	return err
}
