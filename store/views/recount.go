package views

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// RecountList sets a list's counter to the number of live entries, and its weight, for repairs.
// Errors: CONFLICT if entries came or went during each of several counts; those of the database.
func (v *Views) RecountList(ctx context.Context, list blog.List) error {
	e := listEntries{v, list}
	err := cosmos.RetryOnConflict(func() error { return e.recount(ctx) })
	if err == nil {
		err = cosmos.RetryOnConflict(func() error { return e.overwriteWeight(ctx) })
	}
	return err
}

const liveEntriesQuery = `SELECT c.id FROM c WHERE c.type = 'post' AND c.deleted = false`

// recount corrects the counter. Every entry that comes or goes also changes the counter's etag, so
// a concurrent change makes the write fail. Error: CONFLICT in that case.
func (e listEntries) recount(ctx context.Context) error {
	counter, etag, err := cosmos.Read[json.RawMessage](ctx, e.lists, string(e.list), schema.CounterID)
	if err != nil && !cosmos.IsNotFound(err) {
		return err
	}
	item := schema.NewCounterItem(e.list)
	if err == nil {
		_ = json.Unmarshal(*counter, &item) // as far as it can be decoded
	}
	was := item.PostCount
	item.ID, item.List, item.Type, item.PostCount = schema.CounterID, e.list, schema.TypeCounter, 0
	partition := azcosmos.NewPartitionKeyString(string(e.list))
	for page, err := range cosmos.Pages[json.RawMessage](ctx, e.lists, partition, liveEntriesQuery, 0) {
		if err != nil {
			return err
		}
		item.PostCount += len(page)
	}
	if etag != "" && was == item.PostCount {
		return nil
	}
	item.Revision++
	return writeCopy(ctx, e.lists, string(e.list), schema.CounterID, item, CopyState{ETag: etag})
}

// overwriteWeight writes the weight, whatever state the stored one is of. It reads the counter
// after the weight. If the counter changes after that, whoever changes it writes the weight again.
func (e listEntries) overwriteWeight(ctx context.Context) error {
	name := schema.NewWeightItem(schema.NewCounterItem(e.list))
	_, etag, err := cosmos.Read[json.RawMessage](ctx, e.lists, name.List, name.ID)
	if err != nil && !cosmos.IsNotFound(err) {
		return err
	}
	counter, err := e.readCounter(ctx)
	if err != nil {
		return err
	}
	item := expiring(schema.NewWeightItem(counter))
	return writeCopy(ctx, e.lists, item.List, item.ID, item, CopyState{ETag: etag})
}
