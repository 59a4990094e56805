package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// split is the division of a physical range, or the merge of it and the next one. Splits are stored
// in the order in which they happened; repeating them yields the same ranges and ids.
type split struct {
	Range uint32 `json:"range"`           // id of the range
	At    []byte `json:"at,omitempty"`    // effective partition key at which the upper child begins
	Merge bool   `json:"merge,omitempty"` // the range and the next one are merged
}

// newIDs returns the number of ids that the split uses.
func (s split) newIDs() int {
	if s.Merge {
		return 1
	}
	return 2
}

// newRangesSplit returns a container's initial ranges after applying its splits.
func newRangesSplit(count int, splits []split) ([]*keyRange, error) {
	ranges, id := newRanges(count), count
	for _, s := range splits {
		at := slices.IndexFunc(ranges, func(r *keyRange) bool { return r.id == s.Range })
		if at < 0 || s.Merge && at == len(ranges)-1 {
			return nil, fmt.Errorf("engine: the definition of a container is damaged: there is no range %d to split", s.Range)
		}
		ranges = s.apply(ranges, at, uint32(id))
		id += s.newIDs()
	}
	return ranges, nil
}

// apply returns the ranges after a split of the range at an index. id is the first new one.
func (s split) apply(ranges []*keyRange, at int, id uint32) []*keyRange {
	if s.Merge {
		return slices.Replace(slices.Clone(ranges), at, at+2, ranges[at].mergedWith(ranges[at+1], id))
	}
	return slices.Replace(slices.Clone(ranges), at, at+1, ranges[at].children(id, s.At)...)
}

// mergedWith returns the range of both ranges, which have one log. Positions in the change feed of
// either are valid in it.
func (r *keyRange) mergedWith(next *keyRange, id uint32) *keyRange {
	parents := slices.Concat(r.parents, next.parents, []string{r.idText(), next.idText()})
	slices.Sort(parents)
	return &keyRange{id: id, min: r.min, max: next.max, parents: slices.Compact(parents), allowances: new(allowances), log: r.log}
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
	return e.divide(database, container, rangeID, splitAt)
}

// splitAt returns the split of a range of a container in its middle.
func splitAt(c *container, i int) (split, error) {
	if c.definition.PartitionKey.Version != 2 {
		return split{}, errors.New("engine: splitting a range requires version 2 of the partition key")
	}
	at, err := c.ranges[i].middle()
	return split{Range: c.ranges[i].id, At: at}, err
}

// MergeRanges merges a physical range of a container and the next one, in the order of their keys.
// On the service, an operator does that (learn.microsoft.com/azure/cosmos-db/merge). Afterwards,
// requests for the ids of both get status 410, and the new range has a new id. Log sequence
// numbers, session tokens and continuations of both stay valid. MergeRanges may run concurrently
// with requests. It returns after the merge is on disk.
//
// It returns ErrClosed, or an error if the container or range does not exist, if it is the last
// one, or if the two were not one range before: only the parts of a split range have one log.
func (e *Engine) MergeRanges(database, container, rangeID string) error {
	return e.divide(database, container, rangeID, mergeAt)
}

// mergeAt returns the merge of a range of a container and the next one.
func mergeAt(c *container, i int) (split, error) {
	if i == len(c.ranges)-1 || c.ranges[i].log != c.ranges[i+1].log {
		return split{}, fmt.Errorf("engine: the range %s and the next one were not one before, so they cannot be merged", c.ranges[i].idText())
	}
	return split{Range: c.ranges[i].id, Merge: true}, nil
}

// divide splits or merges a range of a container. what returns the split of the range at an index.
func (e *Engine) divide(database, name, rangeID string, what func(c *container, i int) (split, error)) error {
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return ErrClosed
	}
	c, err := e.container(database, name)
	if err != nil {
		return fmt.Errorf("engine: split or merge a range of %s/%s: %w", database, name, err)
	}
	return e.changeCatalog(func(next *catalog, batch *pebble.Batch) error {
		d := next.databases[c.databaseName]
		if d == nil || d.containers[c.name] == nil {
			return errOwnerNotFound
		}
		old := d.containers[c.name]
		i := slices.Index(old.ranges, old.rangeByID(rangeID))
		switch {
		case i < 0:
			return fmt.Errorf("engine: there is no range %s to split or to merge", rangeID)
		case old.nextRangeID() > math.MaxUint32-2:
			return errors.New("engine: there are no more ids for ranges")
		}
		s, err := what(old, i)
		if err != nil {
			return err
		}
		changed := *old
		changed.splits = append(slices.Clone(old.splits), s)
		changed.ranges = s.apply(old.ranges, i, uint32(old.nextRangeID()))
		next.databases[d.name] = d.with(c.name, &changed)
		return setDefinition(batch, definitionKey(d.number, c.name), changed.stored())
	})
}

// initialRanges returns the number of ranges before all splits and merges.
func (c *container) initialRanges() int {
	n := len(c.ranges)
	for _, s := range c.splits {
		if s.Merge {
			n++
		} else {
			n--
		}
	}
	return n
}

// nextRangeID returns the id of the next range that a split or a merge creates. A container never
// uses an id twice.
func (c *container) nextRangeID() int {
	id := c.initialRanges()
	for _, s := range c.splits {
		id += s.newIDs()
	}
	return id
}
