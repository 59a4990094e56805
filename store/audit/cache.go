package audit

import (
	"hash/maphash"
	"sync"
)

// userCache caches users, including the ids of users who do not exist. It may be used concurrently.
// A nil cache is always empty.
type userCache struct {
	mu    sync.Mutex
	users map[string]*auditedUser
}

// maxCachedUsers is the maximum number of cached users, which take a few megabytes. A full cache
// is cleared.
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

// hashSet is a set of pairs of strings that keeps 64 bits of each. Among a billion pairs, the
// probability of a collision is below 3 in 100. It may be used concurrently. A nil set is empty.
type hashSet struct {
	seed maphash.Seed

	mu     sync.Mutex
	hashes map[uint64]struct{}
}

func newHashSet() *hashSet {
	return &hashSet{seed: maphash.MakeSeed(), hashes: map[uint64]struct{}{}}
}

func (s *hashSet) hash(a, b string) uint64 {
	return maphash.Comparable(s.seed, [2]string{a, b})
}

// add adds a pair to the set, and reports whether it is new. A nil set stays empty.
func (s *hashSet) add(a, b string) (isNew bool) {
	if s == nil {
		return true
	}
	hash := s.hash(a, b)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.hashes[hash]
	s.hashes[hash] = struct{}{}
	return !ok
}

func (s *hashSet) contains(a, b string) bool {
	if s == nil {
		return false
	}
	hash := s.hash(a, b)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.hashes[hash]
	return ok
}
