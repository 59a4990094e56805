package engine

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// slowDisk is a file system that blocks syncs of the log while it is held.
type slowDisk struct {
	mem     *vfs.MemFS
	held    atomic.Bool
	release chan struct{}
	waiting chan struct{}
}

func (d *slowDisk) String() string { return "slow disk" }

// MaybeError never returns an error. It blocks syncs.
func (d *slowDisk) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		if d.held.Load() && strings.HasSuffix(op.Path, ".log") {
			select {
			case d.waiting <- struct{}{}:
			default:
			}
			<-d.release
		}
	}
	return nil
}

// heldWrite is an engine on a slow disk with one write that Pebble has applied but that is not
// on disk.
type heldWrite struct {
	*account
	disk *slowDisk
	free func() // releases the disk and waits for the write
}

// holdWrite calls prepare, then sends a write that waits for the disk.
func holdWrite(t *testing.T, prepare func(*account), write func(*account) answer) heldWrite {
	t.Helper()
	d := &slowDisk{mem: vfs.NewCrashableMem(), release: make(chan struct{}), waiting: make(chan struct{}, 1)}
	a := newBlog(t, Options{Dir: "data", FS: errorfs.Wrap(d.mem, d)})
	a.create("p0", `{"id":"first","postId":"p0"}`) // makes the range reserve its numbers
	prepare(a)
	d.held.Store(true)
	var writer sync.WaitGroup
	writer.Go(func() { write(a) })
	<-d.waiting
	c, _ := a.container("blog", "posts")
	for _, r := range c.ranges { // apply holds mu until the range's number includes the write
		r.mu.Lock()
		r.mu.Unlock()
	}
	free := sync.OnceFunc(func() { d.held.Store(false); close(d.release); writer.Wait() })
	t.Cleanup(free)
	return heldWrite{a, d, free}
}

// crash opens the account as a crash would leave it now.
func (h heldWrite) crash(t *testing.T) *account {
	t.Helper()
	return reopen(t, h.disk.mem.CrashClone(vfs.CrashCloneCfg{}), h.Key())
}

// briefWait is how long a test waits for responses that must not arrive.
const briefWait = 50 * time.Millisecond

// waits fails if a response arrives while the disk is held. It returns the response that arrives
// after the release.
func (h heldWrite) waits(t *testing.T, ask func() answer) answer {
	t.Helper()
	answers := make(chan answer, 1)
	go func() { answers <- ask() }()
	select {
	case early := <-answers:
		t.Errorf("got %d %s before the write was on disk", early.status, early.text)
		return early
	case <-time.After(briefWait):
	}
	h.free()
	return <-answers
}

func noMore(*account) {}

func createLost(a *account) answer {
	return a.send("POST", docs, `{"id":"x","postId":"p1"}`, "pk", "p1")
}

// TestChangeFeedWaitsForDurableRewrite checks that the change feed does not show a rewrite
// before it is durable. After a crash, readers would otherwise miss the previous state.
func TestChangeFeedWaitsForDurableRewrite(t *testing.T) {
	var start string
	h := holdWrite(t, func(a *account) {
		start = a.changes("").header.Get("Etag")
		a.create("p1", `{"id":"x","postId":"p1","n":1}`)
	}, func(a *account) answer { return a.send("PUT", docs+"/x", `{"id":"x","postId":"p1","n":2}`, "pk", "p1") })
	page := h.waits(t, func() answer { return h.changes(start) })
	if len(page.items()) != 1 || page.items()[0].Get("n").String() != "2" {
		t.Errorf("the page: %s", page.text)
	}
}

// TestEmptyTransactionWaitsForDisk checks a transaction without changes. It writes nothing to
// the log but must still wait for what it read.
func TestEmptyTransactionWaitsForDisk(t *testing.T) {
	h := holdWrite(t, noMore, createLost)
	h.waits(t, func() answer {
		return h.send("POST", docs, `[{"operationType":"Create","resourceBody":{"id":"e","postId":"p2"}},{"operationType":"Delete","id":"e"}]`,
			"pk", "p2", "x-ms-cosmos-is-batch-request", "True")
	})
}

// TestResponsesDependOnDurableData checks that responses about a write whose outcome is unknown
// to the client still hold after a crash.
func TestResponsesDependOnDurableData(t *testing.T) {
	const once = `function once() { const c = getContext().getCollection(), l = c.getAltLink();
		c.readDocument(l + "/docs/x", function (err) { getContext().getResponse().setBody({ duplicate: !err }); }); }`
	for what, ask := range map[string]func(a *account) answer{
		"a conflict":   createLost,
		"a point read": func(a *account) answer { return a.send("GET", docs+"/x", "", "pk", "p1") },
		"a script":     func(a *account) answer { return a.send("POST", posts+"/sprocs/once", "[]", "pk", "p1") },
	} {
		t.Run(what, func(t *testing.T) {
			h := holdWrite(t, func(a *account) { a.addScript("sprocs", "once", once) }, createLost)
			crashed := h.crash(t)
			crashed.must(404, crashed.send("GET", docs+"/x", "", "pk", "p1"))
			h.waits(t, func() answer { return ask(h.account) })
			after := h.crash(t)
			after.must(200, after.send("GET", docs+"/x", "", "pk", "p1"))
		})
	}
}
