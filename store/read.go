package store

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/readcache"
)

// The queries of this package read through the Store's cache. Items and pages that they get from
// it are shared, and must not be changed. Commands read what they change without the cache.

// address is where an item is in its container.
type address = cosmos.Address

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

// access is how a read uses the cache.
type access struct {
	cache *readcache.Cache // nil if the read must not use it

	// needed is what a kept result must have seen, as a session token. It is empty if all kept results
	// have. Otherwise, the read shares no other read: its answer could be older.
	needed string
}

// accessTo returns how a read of a container uses the cache. What is kept or shared may be older
// than the state that the session of ctx needs.
//
// If nothing counts changes, the cache only shares reads, each with the session of the request that
// sends it. If a tail counts them, what is kept has the state that the tail has passed, at least.
func (s *Store) accessTo(ctx context.Context, c *azcosmos.ContainerClient) access {
	if s.isExact() {
		return access{cache: s.cache}
	}
	switch needed := cosmos.NeededSession(ctx, c.ID()); {
	case needed == "" || s.cache.Keeps() && s.tail.Passed(c.ID(), needed):
		return access{cache: s.cache}
	case s.cache.Keeps():
		return access{s.cache, needed}
	}
	return access{}
}

// permits reports whether a kept result with a state may be used. If the session needs a state of a
// range that no answer of the result has named, such as one from before a split, the result may be
// used if its own numbers are as great, since a part of a range goes on with its numbers.
func (a access) permits(seen string) bool {
	if a.needed == "" {
		return true
	}
	var read cosmos.Reached
	read.Add(seen)
	return read.Covers(a.needed)
}

// isExact reports whether kept values need no session, because all reads show the latest state.
func (s *Store) isExact() bool { return s.cache.Keeps() && s.tail == nil }

// seen is the result of a read with its charge, and with the state of the container in which the
// result is complete, as a session token: that of its own answers, never what its session had seen
// by then. It is what the cache keeps. Another session that gets it has seen that state: otherwise,
// its next read could be answered by a replica that is behind.
type seen[T any] struct {
	result T
	token  string  // names the ranges of the answers alone; empty if the cache is exact
	charge float64 // RU of the read; of a read many, an equal share
}

// permittedBy returns whether a read may use a kept result.
func permittedBy[T any](a access) func(seen[T]) bool {
	return func(kept seen[T]) bool { return a.permits(kept.token) }
}

// inSession returns a context with a session if a tail counts the changes: a read without one could
// be answered by a replica that lacks a change that is counted.
func (s *Store) inSession(ctx context.Context) context.Context {
	if s.tail == nil {
		return ctx
	}
	return cosmos.InSession(ctx)
}

// beforeRead prepares the session of ctx for a read whose result may be kept.
func (s *Store) beforeRead(ctx context.Context, c *azcosmos.ContainerClient) {
	if s.tail != nil {
		s.tail.Join(ctx, c.ID())
	}
}

// tokenToKeep returns the session token to keep with the results of a read that the meter has
// counted, or "" if the cache is exact.
func (s *Store) tokenToKeep(meter *cosmos.Meter, c *azcosmos.ContainerClient) string {
	if s.isExact() {
		return ""
	}
	return meter.ReadState(c.ID())
}

// bytesToKeep returns the size of a result that is kept with a session token.
func bytesToKeep(result int, token string) int {
	if result == readcache.Expires {
		return result
	}
	return result + len(token)
}

// readShared is readcache.Read of one container.
func readShared[T any](
	ctx context.Context, s *Store, c *azcosmos.ContainerClient, key readcache.Key,
	read func(context.Context) (result T, bytes int, err error),
) (found seen[T], cached bool, err error) {
	ctx = s.inSession(ctx)
	access := s.accessTo(ctx, c)
	readSeen := func(ctx context.Context) (seen[T], int, error) {
		s.beforeRead(ctx, c)
		metered, meter := cosmos.Metered(ctx)
		result, bytes, err := read(metered)
		token := s.tokenToKeep(meter, c)
		return seen[T]{result, token, meter.Charged()}, bytesToKeep(bytes, token), err
	}
	if access.needed == "" {
		found, cached, err = readcache.Read(ctx, access.cache, key, readSeen)
	} else {
		found, cached, err = readAlone(ctx, access, key, readSeen)
	}
	if cached && found.token != "" {
		cosmos.JoinSession(ctx, c.ID(), found.token)
	}
	return found, cached, err
}

// readAlone returns a kept result that the session may use, or reads one and keeps it. It shares no
// other read.
func readAlone[T any](
	ctx context.Context, a access, key readcache.Key, read func(context.Context) (seen[T], int, error),
) (result seen[T], cached bool, err error) {
	result, cached, keep := readcache.Lookup(a.cache, key, permittedBy[T](a))
	if cached {
		return result, true, nil
	}
	result, bytes, err := read(ctx)
	if err == nil {
		keep(result, bytes)
	}
	return result, false, err
}

// readItem returns an item of a kind by one point read, or nil if there is none. Error: THROTTLED.
func readItem[T any, P stored[T]](ctx context.Context, s *Store, c *azcosmos.ContainerClient, kind string, at address) (P, error) {
	found, cached, err := readShared(ctx, s, c, keyOf(c, kind, at), func(ctx context.Context) (P, int, error) {
		item, _, err := cosmos.Read[T](ctx, c, at.Partition, at.ID)
		if cosmos.IsNotFound(err) {
			return nil, 0, nil
		}
		return item, bytesOf(P(item)), err
	})
	if cached && err == nil {
		status := http.StatusOK
		if found.result == nil {
			status = http.StatusNotFound
		}
		cosmos.RecordCached(ctx, c.ID(), cosmos.OperationRead, status, found.charge, at.Partition)
	}
	return found.result, cosmos.ToBlogError(err)
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
	ctx = s.inSession(ctx)
	access := s.accessTo(ctx, c)
	items := make(map[address]P, len(addresses))
	keeps := map[address]func(seen[P], int){}
	var kept []string
	keptCharge := 0.0
	var missing []address
	for _, at := range addresses {
		if _, ok := items[at]; ok || keeps[at] != nil {
			continue
		}
		item, found, keep := readcache.Lookup(access.cache, keyOf(c, kind, at), permittedBy[P](access))
		if !found {
			keeps[at] = keep
			missing = append(missing, at)
			continue
		}
		kept = append(kept, at.Partition)
		keptCharge += item.charge
		items[at] = item.result
		if item.token != "" {
			cosmos.JoinSession(ctx, c.ID(), item.token)
		}
	}
	if len(kept) > 0 {
		cosmos.RecordCached(ctx, c.ID(), cosmos.OperationReadMany, http.StatusOK, keptCharge, kept...)
	}
	s.beforeRead(ctx, c)
	metered, meter := cosmos.Metered(ctx)
	read, err := cosmos.ReadEach[T](metered, c, missing)
	if err != nil {
		return nil, err
	}
	for i := range read {
		item := P(new(read[i])) // a copy, because a pointer into read would keep all of it in memory
		var at address
		at.Partition, at.ID = item.Address()
		items[at] = item
	}
	token, share := s.tokenToKeep(meter, c), meter.Charged()/float64(len(missing))
	for at, keep := range keeps {
		keep(seen[P]{items[at], token, share}, bytesToKeep(bytesOf(items[at]), token))
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
	found, cached, err := readShared(ctx, s, c, key, func(ctx context.Context) (blog.Page[Element], int, error) {
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
		cosmos.RecordCached(ctx, c.ID(), cosmos.OperationQuery, http.StatusOK, found.charge, partition)
	}
	return found.result, cosmos.ToBlogError(err)
}

// keyOf returns the key of a read of an address. Reads of one address as items of different types
// have different keys.
func keyOf(c *azcosmos.ContainerClient, kind string, at address) readcache.Key {
	return readcache.Key{Container: c.ID(), Partition: at.Partition, Read: kind, ID: at.ID}
}
