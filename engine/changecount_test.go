package engine

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestChangesCountsWrites checks that every kind of write has changed the partition's count when
// it is acknowledged, and that reads and rejected writes do not change it.
func TestChangesCountsWrites(t *testing.T) {
	for _, snapshots := range []bool{false, true} {
		t.Run(fmt.Sprintf("snapshots %t", snapshots), func(t *testing.T) { testChanges(t, snapshots) })
	}
}

func testChanges(t *testing.T, snapshots bool) {
	a := newBlog(t, Options{SnapshotScripts: snapshots})
	a.addScript("sprocs", "add", `function add() { const c = getContext().getCollection();
		if (!c.createDocument(c.getSelfLink(), {id: "s", postId: "p1"})) throw new Error("x"); }`)
	a.addTrigger("beside", "Post", "All", `function beside() { const c = getContext().getCollection();
		if (!c.upsertDocument(c.getSelfLink(), {id: "t", postId: "p1"})) throw new Error("x"); }`)
	const item = `{"id":"x","postId":"p1"}`
	purge := func(a *account) answer {
		a.clock.advance(time.Hour)
		if n, err := a.Purge(context.Background()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		return answer{status: 200}
	}
	split := func(a *account) answer {
		if err := a.Split("blog", "posts", "0"); err != nil {
			t.Fatal(err)
		}
		return answer{status: 200}
	}
	replaced := `{"id":"posts","partitionKey":{"paths":["/postId"],"kind":"Hash","version":2},"defaultTtl":9}`
	for _, step := range []struct {
		name   string
		counts bool
		status int
		send   func(a *account) answer
	}{
		{"create", true, 201, func(a *account) answer { return a.send("POST", docs, item, "pk", "p1") }},
		{"conflict", false, 409, func(a *account) answer { return a.send("POST", docs, item, "pk", "p1") }},
		{"point read", false, 200, func(a *account) answer { return a.send("GET", docs+"/x", "", "pk", "p1") }},
		{"query", false, 200, func(a *account) answer { return a.query("p1", `{"query":"SELECT * FROM c"}`) }},
		{"change feed", false, 200, func(a *account) answer { return a.changes("") }},
		{"upsert", true, 200, func(a *account) answer { return a.send("POST", docs, item, "pk", "p1", asUpsert, "True") }},
		{"replace", true, 200, func(a *account) answer { return a.send("PUT", docs+"/x", item, "pk", "p1") }},
		{"failed condition", false, 412, func(a *account) answer {
			return a.send("PUT", docs+"/x", item, "pk", "p1", "If-Match", `"other"`)
		}},
		{"trigger", true, 200, func(a *account) answer {
			return a.send("PUT", docs+"/x", item, "pk", "p1", postTrigger, "beside")
		}},
		{"patch", true, 200, func(a *account) answer {
			return a.send("PATCH", docs+"/x", `{"operations":[{"op":"set","path":"/n","value":1}]}`, "pk", "p1")
		}},
		{"batch", true, 200, func(a *account) answer {
			return a.send("POST", docs, `[{"operationType":"Upsert","resourceBody":{"id":"y","postId":"p1","ttl":5}}]`,
				"pk", "p1", "x-ms-cosmos-is-batch-request", "True")
		}},
		{"rejected batch", false, 207, func(a *account) answer {
			return a.send("POST", docs, `[{"operationType":"Delete","id":"y"},{"operationType":"Delete","id":"none"}]`,
				"pk", "p1", "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True")
		}},
		{"procedure", true, 200, func(a *account) answer { return a.send("POST", posts+"/sprocs/add", "[]", "pk", "p1") }},
		{"purge", true, 200, purge},
		{"delete", true, 204, func(a *account) answer { return a.send("DELETE", docs+"/x", "", "pk", "p1") }},
		{"split", true, 200, split},
		{"definition", true, 200, func(a *account) answer { return a.send("PUT", posts, replaced) }},
		{"container deleted", true, 204, func(a *account) answer { return a.send("DELETE", posts, "") }},
		{"container created again", true, 201, func(a *account) answer { return a.send("POST", "dbs/blog/colls", blogContainer) }},
		{"write in it", true, 201, func(a *account) answer { return a.send("POST", docs, item, "pk", "p1") }},
		{"database deleted", true, 204, func(a *account) answer { return a.send("DELETE", "dbs/blog", "") }},
	} {
		before := a.Changes("blog", "posts", "p1")
		a.must(step.status, step.send(a))
		now := a.Changes("blog", "posts", "p1")
		if now < before || (now > before) != step.counts {
			t.Errorf("%s: the count changed from %d to %d", step.name, before, now)
		}
	}
}

// TestChangesOfOtherPartitions checks that a write does not change the counts of the other
// partitions, unless their hashes are equal.
func TestChangesOfOtherPartitions(t *testing.T) {
	a := newBlog(t, Options{})
	count := func() (changed int) {
		for i := range 100 {
			changed += int(a.Changes("blog", "posts", fmt.Sprint("other", i)))
		}
		return changed
	}
	before := count()
	a.create("p1", `{"id":"x","postId":"p1"}`)
	if changed := count() - before; changed > 10 { // 0.02 expected
		t.Errorf("%d of 100 other partitions were counted", changed)
	}
	if n := testing.AllocsPerRun(100, func() { a.Changes("blog", "posts", "p1") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// countedCache caches one item as the comment of Changes requires.
type countedCache struct {
	mu    sync.Mutex
	count uint64
	n     int // the cached item's property n; -1 if none is cached
}

// read returns the item's property n from the cache, or through an engine.
func (c *countedCache) read(a *account) int {
	now := a.Changes("blog", "posts", "p1")
	c.mu.Lock()
	if c.n >= 0 && c.count == now {
		defer c.mu.Unlock()
		return c.n
	}
	c.mu.Unlock()
	stored := a.send("GET", docs+"/x", "", "pk", "p1")
	n, _ := stored.body.Get("n").AsNumber()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count, c.n = now, int(n)
	return c.n
}

// TestCountedReadsSeeAcknowledgedWrites reads one item through caches while it is written. A read
// that begins after a write was acknowledged must return it or a later one.
func TestCountedReadsSeeAcknowledgedWrites(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"x","postId":"p1","n":0}`)
	var acknowledged atomic.Int64
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			cache := countedCache{n: -1}
			for !done.Load() {
				least := int(acknowledged.Load())
				if n := cache.read(a); n < least {
					t.Errorf("read %d after %d was acknowledged", n, least)
					return
				}
				runtime.Gosched() // a hit does not block
			}
		})
	}
	for n := 1; n <= 1000 && !t.Failed(); n++ {
		a.must(200, a.send("PUT", docs+"/x", fmt.Sprintf(`{"id":"x","postId":"p1","n":%d}`, n), "pk", "p1"))
		acknowledged.Store(int64(n))
	}
	done.Store(true)
	readers.Wait()
}
