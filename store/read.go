package store

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/readcache"
)

// The queries of this package read through the Store's cache. Items and pages that they get from
// it are shared, and must not be changed. Commands read what they change without the cache.

// address is where an item is in its container.
type address struct{ partition, id string }

// ownAddress is the address of an item whose id is its partition key.
func ownAddress(id string) address { return address{id, id} }

func ownAddresses(ids []string) []address {
	addresses := make([]address, len(ids))
	for i, id := range ids {
		addresses[i] = ownAddress(id)
	}
	return addresses
}

// stored is an item that queries read by its address.
type stored[T any] interface {
	*T
	Address() (partition, id string)
	Bytes() int // in memory
	Expires() bool
}

// bytesOf returns the size of a read item for the cache. That of nil, for no item, is 0.
func bytesOf[T any, P stored[T]](item P) int {
	switch {
	case item == nil:
		return 0
	case item.Expires():
		return readcache.Expires
	}
	return item.Bytes()
}

// cacheFor returns the cache for reads of a container, or nil if a read must not use it. If nothing
// counts changes, the cache only shares reads, each with the session of the request that sends it.
// A session that has seen a state of the container must therefore read itself, because the other
// session may have seen an older one.
func (s *Store) cacheFor(ctx context.Context, c *azcosmos.ContainerClient) *readcache.Cache {
	if !s.cache.Keeps() && cosmos.SessionTokenOf(ctx, c.ID()) != "" {
		return nil
	}
	return s.cache
}

// readShared is readcache.Read in a session: one that gets the result of another session's read has
// seen its state. Without that, its next read could be answered by a replica that is behind. Kept
// values need no session, because all reads show the latest state where the cache keeps them.
func readShared[T any](
	ctx context.Context, s *Store, c *azcosmos.ContainerClient, key readcache.Key,
	read func(context.Context) (result T, bytes int, err error),
) (result T, cached bool, err error) {
	if s.cache.Keeps() {
		return readcache.Read(ctx, s.cache, key, read)
	}
	type seen struct {
		result T
		token  string
	}
	found, cached, err := readcache.Read(ctx, s.cacheFor(ctx, c), key, func(ctx context.Context) (seen, int, error) {
		result, bytes, err := read(ctx)
		return seen{result, cosmos.SessionTokenOf(ctx, c.ID())}, bytes, err
	})
	if cached {
		cosmos.JoinSession(ctx, c.ID(), found.token)
	}
	return found.result, cached, err
}

// readItem returns an item of a kind by one point read, or nil if there is none. Error: THROTTLED.
func readItem[T any, P stored[T]](ctx context.Context, s *Store, c *azcosmos.ContainerClient, kind string, at address) (P, error) {
	item, cached, err := readShared(ctx, s, c, at.key(c, kind), func(ctx context.Context) (P, int, error) {
		items, err := cosmos.ReadEach[T](ctx, c, []azcosmos.ItemIdentity{at.identity()})
		if err != nil || len(items) == 0 {
			return nil, 0, err
		}
		item := P(&items[0])
		return item, bytesOf(item), nil
	})
	if cached && err == nil {
		status := http.StatusOK
		if item == nil {
			status = http.StatusNotFound
		}
		cosmos.RecordCached(ctx, c.ID(), cosmos.OperationRead, status, at.partition)
	}
	return item, cosmos.ToBlogError(err)
}

// readItems returns the items of a kind at several addresses: those that are kept, and the others
// by one read many. Those that do not exist are nil or absent in the map. Error: THROTTLED.
func readItems[T any, P stored[T]](ctx context.Context, s *Store, c *azcosmos.ContainerClient, kind string, addresses []address) (map[address]P, error) {
	if len(addresses) == 1 {
		item, err := readItem[T, P](ctx, s, c, kind, addresses[0])
		if item == nil || err != nil {
			return nil, err
		}
		return map[address]P{addresses[0]: item}, nil
	}
	cache := s.cacheFor(ctx, c)
	items := make(map[address]P, len(addresses))
	keeps := map[address]func(P, int){}
	var kept []string
	var missing []azcosmos.ItemIdentity
	for _, at := range addresses {
		if _, ok := items[at]; ok || keeps[at] != nil {
			continue
		}
		item, found, keep := readcache.Lookup[P](cache, at.key(c, kind))
		if !found {
			keeps[at] = keep
			missing = append(missing, at.identity())
			continue
		}
		kept = append(kept, at.partition)
		items[at] = item
	}
	if len(kept) > 0 {
		cosmos.RecordCached(ctx, c.ID(), cosmos.OperationReadMany, http.StatusOK, kept...)
	}
	read, err := cosmos.ReadEach[T](ctx, c, missing)
	if err != nil {
		return nil, err
	}
	for i := range read {
		item := P(new(read[i])) // a copy, because a pointer into read would keep all of it in memory
		var at address
		at.partition, at.id = item.Address()
		items[at] = item
	}
	for at, keep := range keeps {
		keep(items[at], bytesOf(items[at]))
	}
	return items, nil
}

// readPage returns one page of a list in a partition, by one query. Error: THROTTLED.
func readPage[Item, Element any, P stored[Item]](
	ctx context.Context, s *Store, c *azcosmos.ContainerClient, partition string, l listing, request blog.PageRequest,
	element func(P) (Element, blog.Position),
) (blog.Page[Element], error) {
	key := readcache.Key{Container: c.ID(), Partition: partition, Read: l.first, First: request.First}
	if request.After != nil {
		key.Date, key.ID = string(request.After.CreationDate), request.After.ID
	}
	page, cached, err := readShared(ctx, s, c, key, func(ctx context.Context) (blog.Page[Element], int, error) {
		items, err := list[Item](ctx, c, partition, l, request)
		if err != nil {
			return blog.Page[Element]{}, 0, err
		}
		bytes := 0
		for i := range items {
			bytes += P(&items[i]).Bytes()
		}
		page := pageOf(items, request.First, element)
		if s.cache.Keeps() {
			page.Text = blog.NewPageText(bytes)
			bytes *= 2
		}
		return page, bytes, nil
	})
	if cached && err == nil {
		cosmos.RecordCached(ctx, c.ID(), cosmos.OperationQuery, http.StatusOK, partition)
	}
	return page, cosmos.ToBlogError(err)
}

// key returns the key of a read of an address. Reads of one address as items of different types
// have different keys.
func (a address) key(c *azcosmos.ContainerClient, kind string) readcache.Key {
	return readcache.Key{Container: c.ID(), Partition: a.partition, Read: kind, ID: a.id}
}

func (a address) identity() azcosmos.ItemIdentity {
	return azcosmos.ItemIdentity{ID: a.id, PartitionKey: azcosmos.NewPartitionKeyString(a.partition)}
}
