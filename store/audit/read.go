package audit

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"iter"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// database is the database that an audit reads and repairs.
type database struct {
	db     *cosmos.DB
	store  *store.Store
	feeds  *changefeed.Feeds
	views  *views.Views
	chores *chores.Chores
}

func open(db *cosmos.DB) *database {
	return &database{db: db, store: store.New(db), feeds: changefeed.New(db), views: views.New(db), chores: chores.New(db)}
}

// pages reads the items of a partition that a query selects, page by page.
func (d *database) pages(
	ctx context.Context, container string, partition azcosmos.PartitionKey, query string, parameters ...azcosmos.QueryParameter,
) iter.Seq2[[]*auditedItem, error] {
	return func(yield func([]*auditedItem, error) bool) {
		for page, err := range cosmos.Pages[json.RawMessage](ctx, d.db.Container(container), partition, query, 0, parameters...) {
			items := make([]*auditedItem, len(page))
			for i, text := range page {
				items[i] = newAuditedItem(container, text)
			}
			if !yield(items, err) || err != nil {
				return
			}
		}
	}
}

// readPartition returns the items of one partition that a query selects.
func (d *database) readPartition(ctx context.Context, container, partition, query string) (items []*auditedItem, err error) {
	for page, err := range d.pages(ctx, container, azcosmos.NewPartitionKeyString(partition), query) {
		if err != nil {
			return nil, err
		}
		items = append(items, page...)
	}
	return items, nil
}

// readItems returns items of a container by their addresses, also those that do not exist.
func (d *database) readItems(
	ctx context.Context, container string, addresses []cosmos.Address,
) (map[cosmos.Address]*auditedItem, error) {
	items := make(map[cosmos.Address]*auditedItem, len(addresses))
	read, err := cosmos.ReadEach[json.RawMessage](ctx, d.db.Container(container), addresses)
	for _, text := range read {
		item := newAuditedItem(container, text)
		items[cosmos.Address{Partition: item.partition, ID: item.ID}] = item
	}
	for _, at := range addresses {
		if items[at] == nil {
			items[at] = absentItem(container, at)
		}
	}
	return items, err
}

func (d *database) readItem(ctx context.Context, container, partition, id string) (*auditedItem, error) {
	at := cosmos.Address{Partition: partition, ID: id}
	items, err := d.readItems(ctx, container, []cosmos.Address{at})
	return items[at], err
}

// readOwn returns items whose id is their partition key, by their ids.
func (d *database) readOwn(ctx context.Context, container string, ids []string) (map[string]*auditedItem, error) {
	read, err := d.readItems(ctx, container, cosmos.OwnAddresses(ids))
	items := make(map[string]*auditedItem, len(read))
	for at, item := range read {
		items[at.ID] = item
	}
	return items, err
}

// maxCachedUsers is the maximum number of cached users, which take less than ten megabytes. A full
// cache is cleared.
const maxCachedUsers = 10_000

// caches has what a run has already read. It may be used concurrently.
type caches struct {
	mu    sync.Mutex
	users map[string]*auditedItem // also those that do not exist
	// known has the id of each existing post with its author, and with each of its lists.
	known hashSet
}

func newCaches() *caches { return &caches{users: map[string]*auditedItem{}, known: newHashSet()} }

// readUsers returns users by their ids.
func (c comparer) readUsers(ctx context.Context, ids []string) (map[string]*auditedItem, error) {
	users := make(map[string]*auditedItem, len(ids))
	var unknown []string
	c.mu.Lock()
	for _, id := range ids {
		if users[id] = c.users[id]; users[id] == nil {
			unknown = append(unknown, id)
		}
	}
	c.mu.Unlock()
	read, err := c.readOwn(ctx, schema.Users, unknown)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.users) > maxCachedUsers {
		clear(c.users)
	}
	for id, user := range read {
		user.properties = nil // takes less memory
		users[id], c.users[id] = user, user
	}
	return users, nil
}

// hashSet is a set of pairs of strings that takes little memory: it keeps 64 bits of each. Among a
// billion pairs, the probability of a collision is below 3 in 100. It may be used concurrently.
type hashSet struct {
	seed   maphash.Seed
	mu     *sync.Mutex
	hashes map[uint64]struct{}
}

func newHashSet() hashSet { return hashSet{maphash.MakeSeed(), new(sync.Mutex), map[uint64]struct{}{}} }

// add adds a pair to the set, and reports whether it is new.
func (s hashSet) add(a, b string) (isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.hashes)
	s.hashes[maphash.Comparable(s.seed, [2]string{a, b})] = struct{}{}
	return len(s.hashes) > n
}

// contains reports whether a pair is in the set.
func (s hashSet) contains(a, b string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.hashes[maphash.Comparable(s.seed, [2]string{a, b})]
	return ok
}
