package engine

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"cosmosblog/proof/testseed"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// reopen opens the folder that another engine wrote on a file system.
func reopen(t *testing.T, fs vfs.FS, key string) *account {
	t.Helper()
	return newAccount(t, Options{Dir: "data", FS: fs, Key: key})
}

func TestRestartKeepsData(t *testing.T) {
	fs := vfs.NewMem()
	a := newBlog(t, Options{Dir: "data", FS: fs})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	a.must(201, a.send("POST", posts+"/sprocs", `{"id":"s","body":"function s() { getContext().getResponse().setBody(1) }"}`))
	feed := a.must(200, a.changes(""))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b := reopen(t, fs, a.Key())
	b.must(200, b.send("GET", docs+"/a", "", "pk", "p1"))
	b.must(200, b.send("POST", posts+"/sprocs/s", "[]", "pk", "p1"))
	b.must(304, b.changes(feed.header.Get("Etag")))
	b.create("p1", `{"id":"b","postId":"p1"}`)
	if next := b.must(200, b.changes(feed.header.Get("Etag"))); fmt.Sprint(next.ids()) != "[b]" {
		t.Errorf("after the restart: %v", next.ids())
	}
}

var crashes = flag.Int("crashes", 2, "number of crashes of TestAcknowledgedWritesSurviveCrashes")

// TestAcknowledgedWritesSurviveCrashes writes from many goroutines and simulates a crash that
// drops all unsynced data. Every write acknowledged before must exist afterwards.
func TestAcknowledgedWritesSurviveCrashes(t *testing.T) {
	seed := testseed.Of(t)
	random := rand.New(rand.NewPCG(seed, 0))
	for range *crashes {
		crashOnce(t, 200+random.IntN(800))
	}
}

func crashOnce(t *testing.T, writes int) {
	fs := vfs.NewCrashableMem()
	a := newBlog(t, Options{Dir: "data", FS: fs})
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	crash := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 64 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-crash:
					return
				default:
				}
				id := fmt.Sprintf("w%d-%d", w, i)
				pk := fmt.Sprintf("p%d", (w+i)%7)
				got := a.send("POST", docs, fmt.Sprintf(`{"id":%q,"postId":%q}`, id, pk), "pk", pk)
				if got.status != 201 {
					t.Errorf("status %d", got.status)
					return
				}
				mu.Lock()
				acknowledged[pk+"/"+id] = true
				reached := len(acknowledged) == writes
				mu.Unlock()
				if reached {
					close(crash)
				}
			}
		})
	}
	<-crash
	mu.Lock()
	feed := a.changes("", "x-ms-max-item-count", "-1")
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	before := len(acknowledged)
	known := make([]string, 0, before)
	for name := range acknowledged {
		known = append(known, name)
	}
	mu.Unlock()
	writers.Wait()

	b := reopen(t, crashed, a.Key())
	seen := map[string]int{}
	for etag := ""; ; {
		page := b.changes(etag, "x-ms-max-item-count", "100")
		if page.status == 304 {
			break
		}
		etag = page.header.Get("Etag")
		for _, item := range page.items() {
			id, _ := item.Get("id").AsString()
			pk, _ := item.Get("postId").AsString()
			seen[pk+"/"+id]++
		}
	}
	for _, name := range known {
		if seen[name] != 1 {
			t.Errorf("acknowledged item %s occurs %d times in the change feed after the crash", name, seen[name])
		}
	}
	for _, item := range feed.items() {
		id, _ := item.Get("id").AsString()
		pk, _ := item.Get("postId").AsString()
		if seen[pk+"/"+id] != 1 {
			t.Errorf("%s/%s was in the change feed before the crash, but is lost", pk, id)
		}
	}
	assertNumbersIncrease(t, b, a)
}

// assertNumbersIncrease checks that the second engine uses no number of the first one again.
func assertNumbersIncrease(t *testing.T, b, a *account) {
	t.Helper()
	old, _ := a.container("blog", "posts")
	given := old.ranges[0].applied.Load()
	b.create("p1", `{"id":"after","postId":"p1"}`)
	c, _ := b.container("blog", "posts")
	if now := c.ranges[0].applied.Load(); now <= given {
		t.Errorf("number %d was assigned again (the crashed engine had reached %d)", now, given)
	}
}

func TestConcurrentWritesOfOneItemAreSerialized(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"n","postId":"p1","n":0}`)
	var writers sync.WaitGroup
	for range 32 {
		writers.Go(func() {
			for range 25 {
				a.must(200, a.send("PATCH", docs+"/n", `{"operations":[{"op":"incr","path":"/n","value":1}]}`, "pk", "p1"))
			}
		})
	}
	writers.Wait()
	got := a.must(200, a.send("GET", docs+"/n", "", "pk", "p1"))
	if n, _ := got.body.Get("n").AsNumber(); n != 800 {
		t.Errorf("n is %v after 800 increments", n)
	}
}

func TestExpiredItemsAreNotReturned(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"short","postId":"p1","ttl":10,"userId":"u"}`)
	a.create("p1", `{"id":"never","postId":"p1","ttl":-1,"userId":"u"}`)
	a.create("p1", `{"id":"plain","postId":"p1","userId":"u"}`)
	a.must(400, a.send("POST", docs, `{"id":"bad","postId":"p1","ttl":0}`, "pk", "p1"))
	a.clock.advance(9 * time.Second)
	a.must(200, a.send("GET", docs+"/short", "", "pk", "p1"))
	a.clock.advance(time.Second)
	for look := range 2 {
		a.must(404, a.send("GET", docs+"/short", "", "pk", "p1"))
		a.must(404, a.send("DELETE", docs+"/short", "", "pk", "p1"))
		got := a.must(200, a.query("p1", `{"query":"SELECT * FROM c"}`)).ids()
		slices.Sort(got)
		if fmt.Sprint(got) != "[never plain]" {
			t.Errorf("query: %v", got)
		}
		if feed := a.must(200, a.changes("")); fmt.Sprint(feed.ids()) != "[never plain]" {
			t.Errorf("change feed: %v", feed.ids())
		}
		removed, err := a.Purge(context.Background())
		if err != nil || removed != 1-look {
			t.Errorf("purge: %d, %v", removed, err)
		}
	}
	a.create("p1", `{"id":"short","postId":"p1"}`)
}

func TestWatchSignalsDurableWrites(t *testing.T) {
	a := newBlog(t, Options{})
	written, stop, err := a.Watch("blog", "posts")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	a.must(404, a.send("GET", docs+"/a", "", "pk", "p1"))
	select {
	case <-written:
		t.Error("signalled after a read")
	default:
	}
	a.create("p1", `{"id":"a","postId":"p1"}`)
	select {
	case <-written:
	default:
		t.Error("not signalled after an acknowledged write")
	}
	if _, _, err := a.Watch("blog", "none"); err == nil {
		t.Error("Watch of a missing container succeeded")
	}
}

func TestBackupIsConsistent(t *testing.T) {
	fs := vfs.NewMem()
	a := newBlog(t, Options{Dir: "data", FS: fs})
	a.create("p1", `{"id":"before","postId":"p1"}`)
	if err := a.Backup("copy"); err != nil {
		t.Fatal(err)
	}
	a.create("p1", `{"id":"after","postId":"p1"}`)
	if err := a.Backup("copy"); err == nil {
		t.Error("Backup overwrote another backup")
	}
	b := newAccount(t, Options{Dir: "copy", FS: fs, Key: a.Key()})
	b.must(200, b.send("GET", docs+"/before", "", "pk", "p1"))
	b.must(404, b.send("GET", docs+"/after", "", "pk", "p1"))
	b.create("p1", `{"id":"after","postId":"p1"}`)
}

// Each backup has a life of its own, which stays. A folder that never was a backup has none.
func TestLifeOfBackups(t *testing.T) {
	fs := vfs.NewMem()
	a := newBlog(t, Options{Dir: "data", FS: fs})
	if a.Life() != "" || newAccount(t, Options{}).Life() != "" {
		t.Errorf("the life of a new folder is %q", a.Life())
	}
	for _, dir := range []string{"b", "c"} {
		if err := a.Backup(dir); err != nil {
			t.Fatal(err)
		}
	}
	b, c := newAccount(t, Options{Dir: "b", FS: fs}), newAccount(t, Options{Dir: "c", FS: fs})
	if err := b.Backup("d"); err != nil {
		t.Fatal(err)
	}
	d := newAccount(t, Options{Dir: "d", FS: fs})
	if lives := []string{b.Life(), c.Life(), d.Life()}; slices.Contains(lives, "") || lives[0] == lives[1] || lives[0] == lives[2] {
		t.Errorf("the lives of three backups are %q", lives)
	}
	life := b.Life()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if again := newAccount(t, Options{Dir: "b", FS: fs}); again.Life() != life || again.Check() != nil {
		t.Errorf("the life was %s, and is %s after a restart", life, again.Life())
	}
	if a.Life() != "" {
		t.Error("a backup changed the life of the folder")
	}
}

func TestClosedEngineReturns503(t *testing.T) {
	a := newBlog(t, Options{})
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a.must(503, a.send("GET", "dbs/blog", ""))
	if a.Check() != ErrClosed || a.Backup("x") != ErrClosed {
		t.Error("methods of a closed engine did not return ErrClosed")
	}
}
