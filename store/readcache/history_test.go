package readcache

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/proof/testseed"
)

var (
	histories = flag.Int("histories", 200, "random histories of readers and writers of a cache")
)

// source is a database of registers. Each write of a register stores the next number.
type source struct {
	random  func(n int) int
	visible []atomic.Int64  // what a read returns
	acked   []atomic.Int64  // the highest number whose write was acknowledged
	counts  []atomic.Uint64 // changes; several registers share one
}

func newSource(registers, counts int, random func(int) int) *source {
	return &source{
		random:  random,
		visible: make([]atomic.Int64, registers),
		acked:   make([]atomic.Int64, registers),
		counts:  make([]atomic.Uint64, counts),
	}
}

// pause lets others run for a random time of the simulated clock.
func (s *source) pause() { time.Sleep(time.Duration(s.random(4)) * time.Millisecond) }

func (s *source) changes(_, partition string) uint64 {
	return s.counts[int(partition[0])%len(s.counts)].Load()
}

func keyOf(register int) Key {
	return Key{Container: "c", Partition: string(rune('a' + register)), ID: "x"}
}

// write stores the next number, counts the change, and acknowledges the write, in this order.
func (s *source) write(register int) {
	number := s.visible[register].Add(1)
	s.pause()
	s.counts[int(keyOf(register).Partition[0])%len(s.counts)].Add(1)
	s.pause()
	for acked := s.acked[register].Load(); acked < number && !s.acked[register].CompareAndSwap(acked, number); {
		acked = s.acked[register].Load()
	}
}

// read takes a while, and sometimes so long that others do not wait for it. Its result is of one
// moment in between.
func (s *source) read(register int) func(context.Context) (int64, int, error) {
	return func(ctx context.Context) (int64, int, error) {
		s.pause()
		number := s.visible[register].Load()
		s.pause()
		if s.random(20) == 0 {
			time.Sleep(time.Duration(s.random(4)) * maxWait)
		}
		return number, 8, ctx.Err()
	}
}

// TestReadsSeeAcknowledgedWrites runs random histories of readers and writers, and checks that no
// read returns a value older than a write that was acknowledged before the read began. In some
// histories nothing counts the changes; in others registers share a count. Some readers give up.
func TestReadsSeeAcknowledgedWrites(t *testing.T) {
	seed := testseed.Of(t)
	var hits, shared int64
	for i := range *histories {
		synctest.Test(t, func(t *testing.T) { history(t, seed+uint64(i), &hits, &shared) })
	}
	if hits == 0 || shared == 0 {
		t.Errorf("%d hits and %d shared reads: the histories test nothing", hits, shared)
	}
}

func history(t *testing.T, seed uint64, hits, shared *int64) {
	var mu sync.Mutex
	generator := rand.New(rand.NewPCG(seed, 1))
	random := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return generator.IntN(n)
	}
	const registers = 3
	s := newSource(registers, 1+random(registers), random)
	var changes Changes
	if random(4) > 0 {
		changes = s.changes
	}
	c := New(int64(1+random(4))*(keyBytes+8), changes)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				register := random(registers)
				if random(3) == 0 {
					s.write(register)
					continue
				}
				s.check(t, c, register, seed)
			}
		})
	}
	all.Wait()
	stats := c.Stats()
	*hits, *shared = *hits+stats.Hits, *shared+stats.Shared
	if stats.Bytes > c.capacity {
		t.Errorf("seed %d: %d bytes are kept, more than %d", seed, stats.Bytes, c.capacity)
	}
	if len(c.flights) > 0 {
		t.Errorf("seed %d: %d flights never ended", seed, len(c.flights))
	}
}

// check reads a register through the cache, in one of the two ways.
func (s *source) check(t *testing.T, c *Cache, register int, seed uint64) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if s.random(8) == 0 {
		after := time.Duration(s.random(4)) * time.Millisecond
		time.AfterFunc(after, cancel)
	}
	acked := s.acked[register].Load()
	var got int64
	if s.random(3) == 0 {
		number, found, keep := Lookup[int64](c, keyOf(register), nil)
		if !found {
			var bytes int
			number, bytes, _ = s.read(register)(t.Context())
			keep(number, bytes)
		}
		got = number
	} else {
		number, _, err := Read(ctx, c, keyOf(register), s.read(register))
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("seed %d: a read failed with the error of another: %v", seed, err)
			}
			return
		}
		got = number
	}
	if got < acked {
		t.Errorf("seed %d: got %d after %d was acknowledged", seed, got, acked)
	}
}
