package audit

import (
	"hash/maphash"
	"sync"
)

// hashSet is a set of pairs of strings that takes little memory: it keeps 64 bits of each. Among a
// billion pairs, the probability of a collision is below 3 in 100. It may be used concurrently. A
// nil set is empty.
type hashSet struct {
	seed maphash.Seed

	mu     sync.Mutex
	hashes map[uint64]struct{}
}

// newHashSet returns an empty set.
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

// contains reports whether a pair is in the set.
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
