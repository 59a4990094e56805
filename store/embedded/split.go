package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// split is a physical range that was divided. Splits are kept in the order in which they happened, so that doing them
// again gives the same ranges with the same ids.
type split struct {
	Range uint32 `json:"range"` // the id of the range that is gone
	At    []byte `json:"at"`    // the effective partition key with which the upper child begins
}

// newRangesSplit gives the ranges that a container was made with, after its splits.
func newRangesSplit(count int, splits []split) ([]*keyRange, error) {
	ranges := newRanges(count)
	for i, s := range splits {
		at := slices.IndexFunc(ranges, func(r *keyRange) bool { return r.id == s.Range })
		if at < 0 {
			return nil, fmt.Errorf("embedded: the definition of a container is damaged: there is no range %d to split", s.Range)
		}
		ranges = slices.Replace(ranges, at, at+1, ranges[at].children(uint32(count+2*i), s.At)...)
	}
	return ranges, nil
}

// children divides a range. Both go on in its log: what was a position in the range's change feed is one in theirs, and a
// write that is under way in the old range is in the right one of the new.
func (r *keyRange) children(id uint32, at []byte) []*keyRange {
	parents := append(slices.Clone(r.parents), r.idText())
	return []*keyRange{
		{id: id, min: r.min, max: at, parents: parents, log: r.log},
		{id: id + 1, min: at, max: r.max, parents: parents, log: r.log},
	}
}

// epkEnd is before what every effective partition key, cut to 8 bytes, is below: their two highest bits are zero.
const epkEnd = 1 << 62

// middle gives the effective partition key in the middle of the range.
func (r *keyRange) middle() ([]byte, error) {
	low, high := uint64(0), uint64(epkEnd)
	if r.min != nil {
		low = binary.BigEndian.Uint64(r.min)
	}
	if r.max != nil {
		high = binary.BigEndian.Uint64(r.max)
	}
	if high-low < 2 {
		return nil, errors.New("embedded: the range is too small to be split")
	}
	at := binary.BigEndian.AppendUint64(make([]byte, 0, epkBytes), low+(high-low)/2)
	return at[:epkBytes], nil
}

// Split divides a physical range of a container in the middle of its keys, as the service does by itself when a range has
// grown: for tests of what stands on the engine. From then on the range's id is answered with 410, and its two children
// have new ids. Numbers, session tokens and continuations of the range hold in each of the children. It may be called
// while there are other requests; the split is on disk when it returns.
// Errors: where there is no such container or range, the range has no middle, or the container's partition key is of
// version 1, which the SDKs cannot route.
func (e *Engine) Split(database, container, rangeID string) error {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return ErrClosed
	}
	c, err := e.container(database, container)
	if err != nil {
		return fmt.Errorf("embedded: split a range of %s/%s: %w", database, container, err)
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
			return fmt.Errorf("embedded: there is no range %s to split", rangeID)
		case old.definition.PartitionKey.Version != 2:
			return errors.New("embedded: a range is split where the partition key is of version 2")
		case old.nextRangeID() > math.MaxUint32-2:
			return errors.New("embedded: there are no more ids for ranges")
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

// nextRangeID is the id of the next range that a split makes: no two ranges of a container ever have the same.
func (c *container) nextRangeID() int { return len(c.ranges) + len(c.splits) }
