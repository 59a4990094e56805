package engine

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// plainContainer has the default indexing policy, so all properties are charged for.
const (
	plainContainer = `{"id":"plain","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1}`
	plain          = "dbs/d/colls/plain/docs"
)

func newPlain(t *testing.T) *account {
	t.Helper()
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"d"}`))
	a.must(201, a.send("POST", "dbs/d/colls", plainContainer))
	return a
}

// eventually waits until a condition holds, which another goroutine establishes.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("the condition did not hold within a minute")
		}
	}
}

// waiting returns the number of holders and waiters of partition locks.
func (l *partitionLocks) waiting() int {
	n := 0
	for i := range l.shards {
		l.shards[i].mu.Lock()
		for _, lock := range l.shards[i].locks {
			n += lock.waiting
		}
		l.shards[i].mu.Unlock()
	}
	return n
}

// TestPatchesWithUnstorableResultsAreRejected patches items. Only patches create values that
// were never parsed, and the result must be parsable again.
func TestPatchesWithUnstorableResultsAreRejected(t *testing.T) {
	a := newPlain(t)
	deep := strings.Repeat(`{"x":`, 100) + "1" + strings.Repeat("}", 100)
	a.must(201, a.send("POST", plain, `{"id":"x","pk":"p","n":1e308,"a":`+deep+`}`, "pk", "p"))
	a.must(400, a.send("PATCH", plain+"/x", `{"operations":[{"op":"incr","path":"/n","value":1e308}]}`, "pk", "p"))
	a.must(400, a.send("PATCH", plain+"/x", `{"operations":[{"op":"set","path":"/a`+strings.Repeat("/x", 100)+`","value":`+deep+`}]}`, "pk", "p"))
	a.must(204, a.send("DELETE", plain+"/x", "", "pk", "p"))
}

func TestParsingMemoryIsBounded(t *testing.T) {
	text := []byte("[" + strings.TrimSuffix(strings.Repeat(`{"":1},`, 2<<20/7), ",") + "]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := value.Parse(text)
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || mb > 200 {
		t.Errorf("%d objects in 2 MB: %d MB, %v", v.Len(), mb, err)
	}
}

// BenchmarkReplaceOfManyProperties checks that the time grows linearly with the number of
// properties, not quadratically.
func BenchmarkReplaceOfManyProperties(b *testing.B) {
	for _, properties := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(properties), func(b *testing.B) {
			a := newBlog(b, Options{})
			item := []byte(`{"id":"x","postId":"p"`)
			for i := range properties {
				item = fmt.Appendf(item, `,"n%06d":1`, i)
			}
			item = append(item, '}')
			a.create("p", string(item))
			for b.Loop() {
				a.must(200, a.send("PUT", docs+"/x", string(item), "pk", "p", "Prefer", "return=minimal"))
			}
		})
	}
}

func TestBatchResponsesAreBounded(t *testing.T) {
	a := newPlain(t)
	a.must(201, a.send("POST", plain, `{"id":"y","pk":"p","a":"`+strings.Repeat("x", 1<<20)+`"}`, "pk", "p", "Prefer", "return=minimal"))
	read := func(n int) answer {
		body := "[" + strings.TrimSuffix(strings.Repeat(`{"operationType":"Read","id":"y"},`, n), ",") + "]"
		return a.send("POST", plain, body, "pk", "p", "x-ms-cosmos-is-batch-request", "True")
	}
	a.must(200, read(3))
	if got := a.must(207, read(30)); len(got.text) > maxPageBytes {
		t.Errorf("the read response has %d bytes", len(got.text))
	}
	patches := "[" + strings.TrimSuffix(strings.Repeat(`{"operationType":"Patch","id":"y","resourceBody":[{"op":"incr","path":"/n","value":1}]},`, 30), ",") + "]"
	if got := a.must(207, a.send("POST", plain, patches, "pk", "p", "x-ms-cosmos-is-batch-request", "True")); len(got.text) > maxPageBytes {
		t.Errorf("the patch response has %d bytes", len(got.text))
	}
	a.must(200, a.send("POST", plain, patches, "pk", "p", "x-ms-cosmos-is-batch-request", "True", "Prefer", "return=minimal"))
	bulk := "[" + strings.Repeat(`{"operationType":"Read","id":"y"},`, 5) + `{"operationType":"Create","resourceBody":{"id":"z","pk":"p"}}]`
	got := a.must(207, a.send("POST", plain, bulk, "pk", "p", "x-ms-cosmos-is-batch-request", "True",
		"x-ms-cosmos-batch-atomic", "False", "x-ms-cosmos-batch-continue-on-error", "True"))
	if last := got.body.At(5).Get("statusCode").String(); got.body.At(4).Get("statusCode").String() != "413" || last != "201" {
		t.Errorf("operation after the oversized response: %s", last)
	}
}

// TestBatchDuringDefinitionChangeIsRetryable expects a status for the whole batch, so that
// clients retry it.
func TestBatchDuringDefinitionChangeIsRetryable(t *testing.T) {
	a := newBlog(t, Options{})
	c, _ := a.container("blog", "posts")
	unlock, _ := a.locks.lock(context.Background(), itemKey(c.number, newPartition(value.String("p1")).prefix))
	done := make(chan answer)
	go func() {
		done <- a.send("POST", docs, `[{"operationType":"Create","resourceBody":{"id":"x","postId":"p1"}}]`, "pk", "p1", "x-ms-cosmos-is-batch-request", "True")
	}()
	eventually(t, func() bool { return a.locks.waiting() == 2 })
	a.must(200, a.redefine(indexOfN))
	unlock()
	a.must(statusRetryWith, <-done)
}

func TestQueryOfAPartitionAndARange(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	a.create("p2", `{"id":"b","postId":"p2"}`)
	if got := a.must(200, a.query("p1", `{"query":"SELECT * FROM c"}`, "x-ms-documentdb-partitionkeyrangeid", "0")); len(got.items()) != 1 {
		t.Errorf("the query of p1 returned %v", got.ids())
	}
}

// TestListOfAPartitionAndARange expects the intersection of the two.
func TestListOfAPartitionAndARange(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	a.split("0")
	var ids []string
	for _, r := range []string{"1", "2"} {
		ids = append(ids, a.must(200, a.send("GET", docs, "", "pk", "p1", "x-ms-documentdb-partitionkeyrangeid", r)).ids()...)
	}
	equalSets(t, "the lists", ids, []string{"a"})
}

func TestMinusZeroEqualsZero(t *testing.T) {
	a := newPlain(t)
	a.must(201, a.send("POST", plain, `{"id":"x","pk":0}`, "x-ms-documentdb-partitionkey", "[-0]"))
	a.must(200, a.send("GET", plain+"/x", "", "x-ms-documentdb-partitionkey", "[0]"))
}

func TestIndexedObjectsAreEqualInAnyOrder(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"x","postId":"p1","userId":{"a":1,"b":2}}`)
	q := `{"query":"SELECT * FROM c WHERE c.userId = @u","parameters":[{"name":"@u","value":{"b":2,"a":1}}]}`
	if in, across := a.query("p1", q), a.query("", q); len(in.items()) != 1 || len(across.items()) != 1 {
		t.Errorf("%d items in the partition, %d across partitions", len(in.items()), len(across.items()))
	}
}

func TestWriteDuringContainerDeletion(t *testing.T) {
	a := newBlog(t, Options{})
	c, _ := a.container("blog", "posts")
	unlock, _ := a.locks.lock(context.Background(), itemKey(c.number, newPartition(value.String("p1")).prefix))
	done := make(chan answer)
	go func() { done <- a.send("POST", docs, `{"id":"x","postId":"p1"}`, "pk", "p1") }()
	eventually(t, func() bool { return a.locks.waiting() == 2 })
	a.must(204, a.send("DELETE", posts, ""))
	unlock()
	a.must(404, <-done)
	for _, space := range []byte{spaceItem, spaceFeed, spaceIndex, spaceCeiling} {
		a.each(containerKey(space, c.number), func(key, _ []byte) error { t.Errorf("key %q still exists", key); return nil })
	}
}

func TestInvalidDefinitionsAreRejected(t *testing.T) {
	a := newPlain(t)
	const path = "dbs/d/colls"
	partitionKey := `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`
	a.must(400, a.send("POST", path, `{"id":"o",`+partitionKey+`,"defaultTtl":9223372036854775807}`))
	a.must(400, a.send("PUT", path+"/plain", `{"id":"plain","partitionKey":{"paths":["/pk"],"kind":"Hash"},"defaultTtl":-1}`))
	a.must(201, a.send("POST", path, `{"id":"y","ID":"x",`+partitionKey+`}`))
	a.must(204, a.send("DELETE", path+"/y", ""))
	for _, id := range []string{`a\u0001`, `a\u007f`, `a\n`, `a/b`, `a `} {
		a.must(400, a.send("POST", plain, `{"id":"`+id+`","pk":"p"}`, "pk", "p"))
	}
}

func TestCloseDoesNotWaitForRequestBodies(t *testing.T) {
	e, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	body, client := io.Pipe()
	reading := make(chan struct{})
	r := httptest.NewRequest("POST", "http://e/dbs", io.MultiReader(&readSignal{reading}, body))
	sign(r, e.key.Load().bytes, "dbs")
	w := httptest.NewRecorder()
	answered := make(chan struct{})
	go func() { defer close(answered); e.ServeHTTP(w, r) }()
	<-reading
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	client.Close()
	if <-answered; w.Code != 503 {
		t.Errorf("status %d after Close", w.Code)
	}
}

// readSignal is an empty reader that closes a channel when it is read.
type readSignal struct{ read chan struct{} }

func (r *readSignal) Read([]byte) (int, error) { close(r.read); return 0, io.EOF }

func TestPanicReleasesPartitionLock(t *testing.T) {
	a := newBlog(t, Options{Script: script.Options{Accept: func(int) bool { panic("a fault") }}})
	a.addScript("sprocs", "s", `function s() { const c = getContext().getCollection(); c.readDocument(c.getAltLink() + "/docs/x", function () {}) }`)
	func() {
		defer func() { recover() }() // like net/http
		a.send("POST", posts+"/sprocs/s", "[]", "pk", "p1")
	}()
	if n := a.locks.waiting(); n != 0 {
		t.Errorf("%d locks are held", n)
	}
}

func TestCancelledRequestsStop(t *testing.T) {
	a := newBlog(t, Options{})
	for i := range 5 {
		a.create("p1", fmt.Sprintf(`{"id":"x%d","postId":"p1"}`, i))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := httptest.NewRequest("POST", "http://e/"+docs, strings.NewReader(`{"query":"SELECT VALUE COUNT(1) FROM c"}`)).WithContext(ctx)
	r.Header.Set("x-ms-documentdb-partitionkey", `["p1"]`)
	r.Header.Set("x-ms-documentdb-query", "True")
	sign(r, a.key, docs)
	w := httptest.NewRecorder()
	if a.ServeHTTP(w, r); w.Code != 408 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPurgeKeepsRewrittenItems(t *testing.T) {
	a := newBlog(t, Options{})
	c, _ := a.container("blog", "posts")
	p := newPartition(value.String("p1"))
	a.create("p1", `{"id":"x","postId":"p1","ttl":10}`)
	a.clock.advance(time.Minute)
	unlock, _ := a.locks.lock(context.Background(), itemKey(c.number, p.prefix))
	removed := make(chan int)
	go func() { n, _ := a.Purge(context.Background()); removed <- n }()
	eventually(t, func() bool { return a.locks.waiting() == 2 })
	again := a.newTransaction(c, p)
	item, _ := value.Parse([]byte(`{"id":"x","postId":"p1"}`))
	if _, err := again.create(item); err != nil {
		t.Fatal(err)
	}
	written, err := again.commit()
	unlock()
	if err != nil || written.wait() != nil {
		t.Fatal(err)
	}
	if n := <-removed; n != 0 {
		t.Errorf("Purge removed %d items", n)
	}
	a.must(200, a.send("GET", docs+"/x", "", "pk", "p1"))
}

// TestPurgeBatchesDiskSyncs purges items that expire together. Purge must not wait for the disk
// once per item.
func TestPurgeBatchesDiskSyncs(t *testing.T) {
	var syncs atomic.Int64
	slow := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData {
			syncs.Add(1)
			time.Sleep(2 * time.Millisecond)
		}
		return nil
	}))
	a := newBlog(t, Options{Dir: "data", FS: slow})
	for p := range 2 {
		var items []string
		for i := range 100 {
			items = append(items, fmt.Sprintf(`{"operationType":"Create","resourceBody":{"id":"i%d","postId":"p%d","ttl":1}}`, i, p))
		}
		a.must(200, a.send("POST", docs, "["+strings.Join(items, ",")+"]", "pk", fmt.Sprint("p", p), "x-ms-cosmos-is-batch-request", "True"))
	}
	a.clock.advance(time.Second)
	before := syncs.Load()
	if removed, err := a.Purge(t.Context()); removed != 200 || err != nil {
		t.Fatalf("Purge removed %d items: %v", removed, err)
	}
	if n := syncs.Load() - before; n > 100 {
		t.Errorf("purging 200 items took %d syncs", n)
	}
}

func TestWatchSurvivesContainerRecreation(t *testing.T) {
	a := newBlog(t, Options{})
	written, stop, _ := a.Watch("blog", "posts")
	defer stop()
	a.must(204, a.send("DELETE", posts, ""))
	a.must(201, a.send("POST", "dbs/blog/colls", blogContainer))
	a.create("p1", `{"id":"x","postId":"p1"}`)
	select {
	case <-written:
	default:
		t.Error("no signal after a write to the new container")
	}
}

func TestExcludedPathsAreNotCharged(t *testing.T) {
	a := newPlain(t)
	a.must(201, a.send("POST", "dbs/d/colls", `{"id":"x","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/text/?"}]}}`))
	all := charge(t, a.send("POST", plain, `{"id":"x","pk":"p","text":"t"}`, "pk", "p"))
	fewer := charge(t, a.send("POST", "dbs/d/colls/x/docs", `{"id":"x","pk":"p","text":"t"}`, "pk", "p"))
	if got := all - fewer; got < writePerLeaf-0.02 || got > writePerLeaf+0.02 {
		t.Errorf("an excluded leaf saves %.2f RU", got)
	}
}

func TestTriggerRewritesItem(t *testing.T) {
	a := newBlog(t, Options{})
	a.addScript("triggers", "again", `function again() { const c = getContext().getCollection(), b = getContext().getResponse().getBody(); b.n = 2; if (!c.replaceDocument(b._self, b)) throw new Error("x"); }`,
		`,"triggerType":"Post","triggerOperation":"All"`)
	got := a.must(201, a.send("POST", docs, `{"id":"x","postId":"p1"}`, "pk", "p1", "x-ms-documentdb-post-trigger-include", "again"))
	if read := a.must(200, a.send("GET", docs+"/x", "", "pk", "p1")); got.header.Get("Etag") != read.header.Get("Etag") {
		t.Errorf("etag in the response %s, stored %s", got.header.Get("Etag"), read.header.Get("Etag"))
	}
}
