package auth

import (
	"encoding/binary"
	"testing"
	"time"

	"cosmosblog/blog"
)

func numbered(n int) (hash tokenHash) {
	binary.BigEndian.PutUint64(hash[:], uint64(n))
	return hash
}

// TestRememberedIsBounded adds more tokens than there is room for. The newest is always found.
func TestRememberedIsBounded(t *testing.T) {
	var r remembered
	now := time.Now()
	for n := range 2 * maxRemembered {
		r.add(numbered(n), 1, verified{until: now.Add(time.Hour)})
		if _, ok := r.find(numbered(n), 1, now); !ok {
			t.Fatalf("token %d is not found", n)
		}
	}
	if len(r.accounts) != maxRemembered {
		t.Errorf("%d tokens are remembered, not %d", len(r.accounts), maxRemembered)
	}
}

// TestRememberedKeySets adds tokens that older and newer sets of keys have verified.
func TestRememberedKeySets(t *testing.T) {
	var r remembered
	now := time.Now()
	v := verified{account: blog.Account{Subject: "anna"}, until: now.Add(time.Hour)}
	r.add(numbered(1), 1, v)
	r.add(numbered(2), 2, v)
	r.add(numbered(3), 1, v) // its verification began before the read
	for n, want := range map[int]bool{1: false, 2: true, 3: false} {
		for _, keys := range []int{1, 2, 3} {
			if _, ok := r.find(numbered(n), keys, now); ok != (want && keys == 2) {
				t.Errorf("token %d, keys %d: found %v", n, keys, ok)
			}
		}
	}
	if len(r.accounts) != 1 {
		t.Errorf("%d tokens are remembered", len(r.accounts))
	}
}
