package audit

import (
	"hash/maphash"
	"sync"
)

// userCache remembers some users, and that some are not there. It may be used concurrently; nil remembers nothing.
type userCache struct {
	mu    sync.Mutex
	users map[string]*auditedUser
}

// maxCachedUsers is how many users are remembered: some megabytes. Then it begins anew.
const maxCachedUsers = 20_000

func newUserCache() *userCache { return &userCache{users: map[string]*auditedUser{}} }

func (c *userCache) get(id string) (*auditedUser, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	user, ok := c.users[id]
	return user, ok
}

func (c *userCache) put(id string, user *auditedUser) {
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
