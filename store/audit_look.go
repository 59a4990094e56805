package store

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// look is one way of looking at subjects. What it remembers may be out of date by the time that it is used: the first look
// at everything is cheap by it, and what differs then is looked at by one that remembers nothing.
type look struct {
	*Store
	cached *userCache // nil: users are read
	known  *hashSet   // authors and ids of posts that are there; nil: posts are read
}

// isFresh tells whether the look remembers nothing. Such a look also asks whether the projector has something to do yet.
func (l look) isFresh() bool { return l.cached == nil }

// at gives what drifts in a subject as it is now, or only seems to, because a projector is not done with it.
func (l look) at(ctx context.Context, s subject) ([]Drift, error) {
	switch s.container {
	case postsContainer:
		return l.atPost(ctx, s.partition)
	case usersContainer:
		return l.atUser(ctx, s.partition)
	case usernamesContainer:
		return l.atReservation(ctx, s.partition)
	}
	return l.atFeed(ctx)
}

// partition reads the items of one partition, but for the texts. One that cannot be read is there as such.
func (s *Store) partition(ctx context.Context, c *azcosmos.ContainerClient, partition, text string) ([]*auditedItem, error) {
	return auditedItems(ctx, c.NewQueryItemsPager(text, azcosmos.NewPartitionKeyString(partition), nil))
}

// itemPager gives the pages of a query.
type itemPager interface {
	More() bool
	NextPage(context.Context) (azcosmos.QueryItemsResponse, error)
}

func auditedItems(ctx context.Context, pager itemPager) ([]*auditedItem, error) {
	var items []*auditedItem
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, asBlogError(err)
		}
		for _, text := range page.Items {
			items = append(items, newAuditedItem(text))
		}
	}
	return items, nil
}

func newAuditedItem(text []byte) *auditedItem {
	item := new(auditedItem)
	item.unreadable = json.Unmarshal(text, item) // goes on behind a property that it cannot read
	return item
}

// readAudited reads one item; nil where it is not there.
func (s *Store) readAudited(ctx context.Context, c *azcosmos.ContainerClient, partition, id string) (*auditedItem, error) {
	response, err := c.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err = asBlogError(err); err != nil {
		if isNotFound(err) {
			err = nil
		}
		return nil, err
	}
	return newAuditedItem(response.Value), nil
}

// unreadableDrift gives the drift of an item that cannot be read; false for one that can.
func (i *auditedItem) unreadableDrift(container, partition string) (Drift, bool) {
	if i.unreadable == nil {
		return Drift{}, false
	}
	return i.drift(DriftUnreadable, container, partition).says("", i.unreadable, ""), true
}

// unlessChanged makes sure that a source is as it was before its views were read. Otherwise what differs is not to be
// believed, and the drifts are without a state.
func (l look) unlessChanged(ctx context.Context, drifts []Drift, c *azcosmos.ContainerClient, partition, id string, before azcore.ETag) ([]Drift, error) {
	if len(drifts) == 0 {
		return nil, nil
	}
	now, err := l.readAudited(ctx, c, partition, id)
	if err != nil {
		return nil, err
	}
	if now == nil || now.ETag != before {
		for i := range drifts {
			drifts[i].source = ""
		}
	}
	return drifts, nil
}

// authors reads users by their ids. Those that are not there are nil.
func (l look) authors(ctx context.Context, ids []string) (map[string]*userItem, error) {
	users := make(map[string]*userItem, len(ids))
	var unknown []string
	for _, id := range ids {
		if _, ok := users[id]; ok {
			continue
		}
		user, ok := l.cached.get(id)
		if users[id] = user; !ok {
			unknown = append(unknown, id)
		}
	}
	read, err := readEach[userItem](ctx, l.users, selves(unknown))
	if err != nil {
		return nil, err
	}
	for i := range read {
		if read[i].Type == typeUser {
			users[read[i].ID] = &read[i]
		}
	}
	for _, id := range unknown {
		l.cached.put(id, users[id])
	}
	return users, nil
}

// userCache remembers some users, and that some are not there. It may be used concurrently; nil remembers nothing.
type userCache struct {
	mu    sync.Mutex
	users map[string]*userItem
}

// maxCachedUsers is how many users are remembered: some megabytes. Then it begins anew.
const maxCachedUsers = 20_000

func newUserCache() *userCache { return &userCache{users: map[string]*userItem{}} }

func (c *userCache) get(id string) (*userItem, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	user, ok := c.users[id]
	return user, ok
}

func (c *userCache) put(id string, user *userItem) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.users) >= maxCachedUsers {
		clear(c.users)
	}
	c.users[id] = user
}

// hashSet is a set of pairs of texts, of which 64 bits each are kept: that any two of a billion are taken for one has a
// chance below 3 in 100. It may be used concurrently; nil has nothing.
type hashSet struct {
	seed maphash.Seed

	mu  sync.Mutex
	has map[uint64]struct{}
}

func newHashSet() *hashSet {
	return &hashSet{seed: maphash.MakeSeed(), has: map[uint64]struct{}{}}
}

func (s *hashSet) hash(a, b string) uint64 { return maphash.Comparable(s.seed, [2]string{a, b}) }

// add puts a pair of texts into the set, and tells whether it is new there.
func (s *hashSet) add(a, b string) bool {
	if s == nil {
		return true
	}
	hash := s.hash(a, b)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.has[hash]
	s.has[hash] = struct{}{}
	return !ok
}

func (s *hashSet) contains(a, b string) bool {
	if s == nil {
		return false
	}
	hash := s.hash(a, b)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.has[hash]
	return ok
}
