package engine

import (
	"context"
	"hash/maphash"
	"sync"
)

// partitionLocks has one lock for each logical partition that is being written. Unused locks
// take no memory.
type partitionLocks struct {
	seed   maphash.Seed
	shards [64]lockShard
}

type lockShard struct {
	mu    sync.Mutex
	locks map[string]*partitionLock
}

type partitionLock struct {
	held    chan struct{} // contains one element while the lock is held
	waiting int           // number of holders and waiters; guarded by the shard's mu
}

func newPartitionLocks() *partitionLocks {
	l := &partitionLocks{seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].locks = map[string]*partitionLock{}
	}
	return l
}

// lock waits for the lock of a key and returns the function that unlocks it. It returns the
// context's error if that ends first.
func (l *partitionLocks) lock(ctx context.Context, key []byte) (unlock func(), err error) {
	shard := &l.shards[maphash.Bytes(l.seed, key)%uint64(len(l.shards))]
	shard.mu.Lock()
	lock := shard.locks[string(key)]
	if lock == nil {
		lock = &partitionLock{held: make(chan struct{}, 1)}
		shard.locks[string(key)] = lock
	}
	lock.waiting++
	shard.mu.Unlock()

	leave := func() {
		shard.mu.Lock()
		if lock.waiting--; lock.waiting == 0 {
			delete(shard.locks, string(key))
		}
		shard.mu.Unlock()
	}
	select {
	case lock.held <- struct{}{}:
		return func() { <-lock.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
