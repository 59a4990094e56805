package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// split is the division of a physical range. Splits are stored in the order in which they
// happened; repeating them yields the same ranges and ids.
type split struct {
	Range uint32 `json:"range"` // id of the divided range
	At    []byte `json:"at"`    // effective partition key at which the upper child begins
}

// newRangesSplit returns a container's initial ranges after applying its splits.
func newRangesSplit(count int, splits []split) ([]*keyRange, error) {
	ranges := newRanges(count)
	for i, s := range splits {
		at := slices.IndexFunc(ranges, func(r *keyRange) bool { return r.id == s.Range })
		if at < 0 {
			return nil, fmt.Errorf("engine: the definition of a container is damaged: there is no range %d to split", s.Range)
		}
		ranges = slices.Replace(ranges, at, at+1, ranges[at].children(uint32(count+2*i), s.At)...)
	}
	return ranges, nil
}

// children divides a range. Both children share its log, and each begins with full allowances.
// Positions in the range's change feed are therefore valid in theirs, and a concurrent write to the
// old range ends up in the right child.
func (r *keyRange) children(id uint32, at []byte) []*keyRange {
	parents := append(slices.Clone(r.parents), r.idText())
	return []*keyRange{
		{id: id, min: r.min, max: at, parents: parents, allowances: new(allowances), log: r.log},
		{id: id + 1, min: at, max: r.max, parents: parents, allowances: new(allowances), log: r.log},
	}
}

// epkEnd is above every effective partition key, cut to 8 bytes: their two highest bits are
// zero.
const epkEnd = 1 << 62

// middle returns the effective partition key in the middle of the range.
func (r *keyRange) middle() ([]byte, error) {
	low, high := uint64(0), uint64(epkEnd)
	if r.min != nil {
		low = binary.BigEndian.Uint64(r.min)
	}
	if r.max != nil {
		high = binary.BigEndian.Uint64(r.max)
	}
	if high-low < 2 {
		return nil, errors.New("engine: the range is too small to be split")
	}
	at := binary.BigEndian.AppendUint64(make([]byte, 0, epkBytes), low+(high-low)/2)
	return at[:epkBytes], nil
}

// Split divides a physical range of a container in the middle of its keys. The service splits
// ranges by itself when they grow; here, Split lets tests do so. Afterwards, requests for the
// range's id get status 410, and its two children have new ids. Log sequence numbers, session
// tokens and continuations of the range are valid in each child. Split may run concurrently with
// requests. It returns after the split is on disk.
//
// It returns ErrClosed, or an error if the container or range does not exist, or if the range is
// too small. It also returns an error if the container's partition key has version 1, because
// SDKs cannot route its items to several ranges.
func (e *Engine) Split(database, container, rangeID string) error {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return ErrClosed
	}
	c, err := e.container(database, container)
	if err != nil {
		return fmt.Errorf("engine: split a range of %s/%s: %w", database, container, err)
	}
	return e.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		d := next.databases[c.databaseName]
		if d == nil || d.containers[c.name] == nil {
			return errOwnerNotFound
		}
		old := d.containers[c.name]
		r := old.rangeByID(rangeID)
		switch {
		case r == nil:
			return fmt.Errorf("engine: there is no range %s to split", rangeID)
		case old.definition.PartitionKey.Version != 2:
			return errors.New("engine: splitting a range requires version 2 of the partition key")
		case old.nextRangeID() > math.MaxUint32-2:
			return errors.New("engine: there are no more ids for ranges")
		}
		at, err := r.middle()
		if err != nil {
			return err
		}
		changed := *old
		changed.splits = append(slices.Clone(old.splits), split{r.id, at})
		i := slices.Index(old.ranges, r)
		changed.ranges = slices.Replace(slices.Clone(old.ranges), i, i+1, r.children(uint32(old.nextRangeID()), at)...)
		next.databases[d.name] = d.with(c.name, &changed)
		return setDefinition(batch, definitionKey(d.number, c.name), changed.stored())
	})
}

// nextRangeID returns the id of the next range that a split creates. A container never uses an
// id twice.
func (c *container) nextRangeID() int { return len(c.ranges) + len(c.splits) }
