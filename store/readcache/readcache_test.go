package readcache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ever returns a count that never stays the same.
func ever() Changes {
	var n atomic.Uint64
	return func(string, string) uint64 { return n.Add(1) }
}

// constant returns a read of a value, which counts its calls.
func constant[T any](value T, bytes int, calls *atomic.Int64) func(context.Context) (T, int, error) {
	return func(context.Context) (T, int, error) {
		calls.Add(1)
		return value, bytes, nil
	}
}

func get[T any](t *testing.T, c *Cache, key Key, read func(context.Context) (T, int, error)) (T, bool) {
	t.Helper()
	value, cached, err := Read(t.Context(), c, key, read)
	if err != nil {
		t.Fatal(err)
	}
	return value, cached
}

func TestKeepsUntilChange(t *testing.T) {
	var calls atomic.Int64
	changes := uint64(0)
	c := New(1<<20, func(string, string) uint64 { return changes })
	for _, step := range []struct {
		key    Key
		change bool
		cached bool
	}{
		{key: Key{ID: "a"}},
		{key: Key{ID: "a"}, cached: true},
		{key: Key{ID: "b"}},
		{key: Key{ID: "a", First: 2}},
		{key: Key{ID: "a"}, change: true},
		{key: Key{ID: "a"}, cached: true},
		{key: Key{ID: "b"}},
	} {
		if step.change {
			changes++
		}
		value, cached := get(t, c, step.key, constant("value", 5, &calls))
		if value != "value" || cached != step.cached {
			t.Errorf("%+v: got %q, cached %v", step, value, cached)
		}
	}
	if got, want := c.Stats(), (Stats{Hits: 2, Misses: 5, Bytes: 3 * (keyBytes + 5)}); got != want || calls.Load() != 5 {
		t.Errorf("got %+v with %d calls, want %+v", got, calls.Load(), want)
	}
}

// TestKeepsNothing lists the caches and values that are read again each time.
func TestKeepsNothing(t *testing.T) {
	never := func(string, string) uint64 { return 0 }
	for name, test := range map[string]struct {
		cache *Cache
		bytes int
	}{
		"no cache":           {nil, 1},
		"no counts":          {New(1<<20, nil), 1},
		"no capacity":        {New(0, never), 1},
		"too large":          {New(1<<20, never), 1 << 20},
		"expires":            {New(1<<20, never), Expires},
		"changed by reading": {New(1<<20, ever()), 1},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			for range 2 {
				if _, cached := get(t, test.cache, Key{}, constant(1, test.bytes, &calls)); cached {
					t.Error("a value was kept")
				}
			}
			if _, found, keep := Lookup[int](test.cache, Key{}, nil); found {
				t.Error("Lookup found a value")
			} else if keep(1, test.bytes); name != "changed by reading" {
				if _, found, _ := Lookup[int](test.cache, Key{}, nil); found {
					t.Error("Lookup kept a value")
				}
			}
			if calls.Load() != 2 || test.cache.Stats().Bytes != 0 {
				t.Errorf("%d calls, %+v", calls.Load(), test.cache.Stats())
			}
		})
	}
}

func TestDropsValuesUnusedForLongest(t *testing.T) {
	c := New(3*(keyBytes+1), func(string, string) uint64 { return 0 })
	var calls atomic.Int64
	for _, id := range strings.Fields("a b c a d") { // d drops b
		get(t, c, Key{ID: id}, constant(id, 1, &calls))
	}
	kept := ""
	for _, id := range strings.Fields("a b c d") {
		if _, found, _ := Lookup[string](c, Key{ID: id}, nil); found {
			kept += id
		}
	}
	if kept != "acd" {
		t.Errorf("kept %s, want acd", kept)
	}
}

// TestErrorsAreNotKept checks that equal reads share an error, and that later ones do not get it.
func TestErrorsAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(1<<20, func(string, string) uint64 { return 0 })
		var calls atomic.Int64
		wrong := errors.New("wrong")
		slow := func(context.Context) (int, int, error) {
			calls.Add(1)
			time.Sleep(maxWait)
			return 0, 0, wrong
		}
		for range 3 {
			go func() {
				if _, _, err := Read(t.Context(), c, Key{}, slow); err != wrong {
					t.Errorf("got %v", err)
				}
			}()
		}
		time.Sleep(time.Minute)
		if calls.Load() != 1 {
			t.Errorf("%d reads, want 1", calls.Load())
		}
		if _, cached := get(t, c, Key{}, constant(1, 1, &calls)); cached {
			t.Error("an error was kept")
		}
	})
}

// TestNoReadDependsOnAnothersRequest checks that a read is carried out if the one that it waited
// for ends with its own request, or panics.
func TestNoReadDependsOnAnothersRequest(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context) error{
		"cancelled": func(ctx context.Context) error { return ctx.Err() },
		"panics":    func(context.Context) error { panic("a mistake in read") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(0, nil)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				lead := func() {
					defer func() { _ = recover() }()
					_, _, _ = Read(ctx, c, Key{}, func(ctx context.Context) (int, int, error) {
						<-ctx.Done()
						return 0, 0, end(ctx)
					})
				}
				go lead()
				synctest.Wait()
				go lead() // waits for the first one, and ends with the same request
				synctest.Wait()
				var calls atomic.Int64
				value, cached := get(t, c, Key{}, constant(7, 0, &calls))
				if value != 7 || cached || calls.Load() != 1 || len(c.flights) > 0 {
					t.Errorf("got %d, cached %v, %d calls, %d flights left", value, cached, calls.Load(), len(c.flights))
				}
			})
		})
	}
}

// TestAtMostTwoReadsOfOneKey checks that reads of a key wait for the next one while the partition
// changes, so that a slow database is not asked by all of them at once.
func TestAtMostTwoReadsOfOneKey(t *testing.T) {
	for name, changes := range map[string]Changes{
		"no counts":    nil,
		"many changes": ever(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(1<<20, changes)
				var calls, running atomic.Int64
				for range 20 {
					go func() {
						_, _, _ = Read(t.Context(), c, Key{}, func(context.Context) (int, int, error) {
							calls.Add(1)
							if running.Add(1) > 1 {
								t.Error("two reads of one key at once")
							}
							time.Sleep(maxWait - 1)
							running.Add(-1)
							return 0, 0, nil
						})
					}()
					synctest.Wait()
				}
				time.Sleep(time.Minute)
				if calls.Load() != 2 {
					t.Errorf("%d reads for 20 requests, want 2", calls.Load())
				}
			})
		})
	}
}

// TestMissingAnswers checks that reads whose answers never come delay no equal read by more than a
// moment, whether they began before it or after it had joined them.
func TestMissingAnswers(t *testing.T) {
	for name, changes := range map[string]Changes{
		"no counts":    nil,
		"no changes":   func(string, string) uint64 { return 0 },
		"many changes": ever(),
	} {
		for missing := range int64(3) {
			t.Run(fmt.Sprintf("%s, %d missing", name, missing), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := New(1<<20, changes)
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					var calls atomic.Int64
					read := func(ctx context.Context) (int64, int, error) {
						call := calls.Add(1)
						if call <= missing {
							<-ctx.Done()
							return 0, 0, ctx.Err()
						}
						time.Sleep(time.Millisecond)
						return call, 8, nil
					}
					begun := time.Now()
					var answered, late atomic.Int64
					for range 20 {
						go func() {
							if _, _, err := Read(ctx, c, Key{}, read); err == nil {
								answered.Add(1)
							}
							if ctx.Err() == nil && time.Since(begun) > time.Duration(missing)*4*maxWait+time.Second {
								late.Add(1)
							}
						}()
						time.Sleep(time.Millisecond)
					}
					<-ctx.Done()
					synctest.Wait()
					if answered.Load() != 20-missing || late.Load() > 0 || calls.Load() > 20 {
						t.Errorf("%d of 20 reads were answered, %d late, by %d requests", answered.Load(), late.Load(), calls.Load())
					}
					if len(c.flights) > 0 {
						t.Errorf("%d flights are left", len(c.flights))
					}
				})
			})
		}
	}
}

// TestSlowDatabase checks that all reads of a key end soon after the database has answered, and
// that few of them reach it, if each answer takes many times maxWait.
func TestSlowDatabase(t *testing.T) {
	for name, changes := range map[string]Changes{
		"no counts":    nil,
		"no changes":   func(string, string) uint64 { return 0 },
		"many changes": ever(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const answer = 10 * maxWait
				c := New(1<<20, changes)
				var calls, ended atomic.Int64
				for range 100 {
					go func() {
						_, _, err := Read(t.Context(), c, Key{}, func(context.Context) (int, int, error) {
							calls.Add(1)
							time.Sleep(answer)
							return 0, 8, nil
						})
						if err == nil {
							ended.Add(1)
						}
					}()
					synctest.Wait()
				}
				time.Sleep(4 * answer)
				if ended.Load() != 100 || calls.Load() > 10 {
					t.Errorf("%d of 100 reads have ended, by %d requests", ended.Load(), calls.Load())
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// TestMemory keeps many small values with keys as long as the usual ones, and compares the size of
// the heap with the bytes that the cache counts.
func TestMemory(t *testing.T) {
	const capacity = 16 << 20
	heap := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	c := New(capacity, func(string, string) uint64 { return 0 })
	for i := range 100_000 {
		partition, id := fmt.Sprintf("p_%028d", i), fmt.Sprintf("c_%028d", i)
		_, _, keep := Lookup[*[100]byte](c, Key{Container: "posts", Partition: partition, ID: id, Date: "2026-01-01T00:00:00.000000Z"}, nil)
		keep(new([100]byte), 100)
	}
	used, stats := heap()-before, c.Stats()
	t.Logf("the heap grew by %d bytes for %d counted bytes", used, stats.Bytes)
	if used > capacity || stats.Bytes > capacity || stats.Bytes < capacity*9/10 {
		t.Errorf("the heap grew by %d bytes, the cache counts %d of %d", used, stats.Bytes, capacity)
	}
	runtime.KeepAlive(c)
}
