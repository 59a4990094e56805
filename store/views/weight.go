package views

import (
	"context"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// counted writes the weight if it has changed with the counter, which is given as it was after a
// transaction that added to it.
func (e listEntries) counted(ctx context.Context, text []byte, added int) error {
	var counter schema.CounterItem
	if err := cosmos.Decode(text, &counter); err != nil {
		return err
	}
	if schema.Weight(counter.PostCount) == schema.Weight(counter.PostCount-added) {
		return nil
	}
	return e.writeWeight(ctx, counter)
}

// updateWeight writes the weight for the present state of the counter. A list without a counter has
// no weight.
func (e listEntries) updateWeight(ctx context.Context) error {
	counter, err := e.readCounter(ctx)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = e.writeWeight(ctx, counter)
	}
	return err
}

// writeWeight writes the weight for a state of the counter, unless the stored one is of the same
// state or a later one. It writes an equal weight too: a worker that is late may still write the
// weight of a state in between. The weight of an empty list becomes a tombstone.
func (e listEntries) writeWeight(ctx context.Context, counter schema.CounterItem) error {
	item := expiring(schema.NewWeightItem(counter))
	return cosmos.RetryOnConflict(func() error {
		current, etag, err := cosmos.Read[schema.WeightItem](ctx, e.lists, item.List, item.ID)
		if err != nil && !cosmos.IsNotFound(err) || err == nil && current.Revision >= item.Revision {
			return err
		}
		return writeCopy(ctx, e.lists, item.List, item.ID, item, CopyState{ETag: etag})
	})
}

// expiring returns a weight with the ttl of a tombstone if its list is empty.
func expiring(item schema.WeightItem) schema.WeightItem {
	if item.Weight == 0 {
		item.TTL = int32(DeletedTTL.Seconds())
	}
	return item
}
