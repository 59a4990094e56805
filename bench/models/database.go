package models

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/seed"
)

// Parallel is the number of requests that an operation, Load or Follow of V1, V2 or V3 sends at
// once.
const Parallel = 16

// CreateContainer creates a container with one partition key and the service's default index, which
// has every property. paths are those that queries filter by: the embedded engine has no index of
// properties that are not named.
func CreateContainer(ctx context.Context, db *cosmos.DB, name, partitionKey string, throughput int32, paths ...string) error {
	database, err := db.Client().NewDatabase(db.Name())
	if err != nil {
		return err
	}
	index := azcosmos.IndexingPolicy{IndexingMode: azcosmos.IndexingModeConsistent, Automatic: true,
		IncludedPaths: []azcosmos.IncludedPath{{Path: "/*"}}, ExcludedPaths: []azcosmos.ExcludedPath{{Path: `/"_etag"/?`}}}
	for _, path := range paths {
		index.IncludedPaths = append(index.IncludedPaths, azcosmos.IncludedPath{Path: path + "/?"})
	}
	manual := azcosmos.NewManualThroughputProperties(throughput)
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     name,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{partitionKey}, Version: 2},
		IndexingPolicy:         &index,
	}, &azcosmos.CreateContainerOptions{ThroughputProperties: &manual})
	return err
}

// WriteItems creates items of one partition of a new container, in as few transactions as possible.
func WriteItems(ctx context.Context, c *azcosmos.ContainerClient, partition string, items []any) error {
	for len(items) > 0 {
		batch := c.NewTransactionalBatch(azcosmos.NewPartitionKeyString(partition))
		size, n := 0, 0
		for ; n < len(items) && n < cosmos.MaxBatchOperations; n++ {
			text, err := cosmos.EncodeItem(items[n])
			if err != nil {
				return err
			}
			if size += len(text); size > cosmos.MaxBatchBytes && n > 0 {
				break
			}
			batch.CreateItem(text, nil)
		}
		if err := cosmos.ExecuteBatch(ctx, c, batch); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// QueryEach executes a query on each physical partition of a container, as SDKs do for a query that
// names no partition key, and returns the results in no order. The container must never have been
// split: the ids of its physical partitions are then the numbers from 0.
func QueryEach[T any](ctx context.Context, c *azcosmos.ContainerClient, text string, parameters ...azcosmos.QueryParameter) ([]T, error) {
	ranges, err := c.ReadFeedRanges(ctx, nil)
	if err != nil {
		return nil, err
	}
	results := make([][]T, len(ranges))
	err = Each(ctx, len(ranges), func(ctx context.Context, i int) (err error) {
		ctx = policy.WithHTTPHeader(ctx, http.Header{"X-Ms-Documentdb-Partitionkeyrangeid": {strconv.Itoa(i)}})
		results[i], err = cosmos.QueryAcross[T](ctx, c, text, parameters...)
		return err
	})
	var all []T
	for _, part := range results {
		all = append(all, part...)
	}
	return all, err
}

// Each calls do for all numbers below n, at most Parallel at once. It returns the first error.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Parallel)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// Clock returns strictly increasing dates, so that the order of new items is that of their writes.
// It may be used concurrently.
type Clock struct {
	mu   sync.Mutex
	last time.Time
}

// Date returns the present, or a microsecond after the last date if that is later.
func (c *Clock) Date() blog.DateTime {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now().Truncate(time.Microsecond)
	if !now.After(c.last) {
		now = c.last.Add(time.Microsecond)
	}
	c.last = now
	return blog.NewDateTime(now)
}

// EachThread calls write for each post of a set with its comments and likes, Parallel at once.
func EachThread(ctx context.Context, set *seed.Set, write func(ctx context.Context, post *blog.Post, comments []*blog.Comment, likes []*blog.Like) error) error {
	users := make([]*blog.User, set.Users())
	for n := range users {
		users[n] = set.User(n)
	}
	return Each(ctx, set.Users(), func(ctx context.Context, n int) error {
		for _, heading := range set.Headings(n) {
			t := set.Thread(heading, users)
			if err := write(ctx, t.Post, t.Comments, t.Likes); err != nil {
				return fmt.Errorf("post %s: %w", t.Post.ID, err)
			}
		}
		return nil
	})
}

// CreateDatabase creates the database of db. It returns an error if it exists.
func CreateDatabase(ctx context.Context, db *cosmos.DB) error {
	_, err := db.Client().CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: db.Name()}, nil)
	return err
}

// RemoveDatabase removes the database of db with everything in it.
func RemoveDatabase(ctx context.Context, db *cosmos.DB) error {
	database, err := db.Client().NewDatabase(db.Name())
	if err != nil {
		return err
	}
	_, err = database.Delete(ctx, nil)
	return err
}
