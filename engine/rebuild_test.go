package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"cosmosblog/engine/value"
	"cosmosblog/proof/testseed"
)

const (
	keyOfPosts = `"id":"posts","partitionKey":{"paths":["/postId"],"kind":"Hash","version":2}`
	indexOfN   = `"indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/n/?"}],"compositeIndexes":[[{"path":"/n"},{"path":"/id","order":"descending"}]]}`
)

// redefine replaces the definition of the container of posts by one with additional properties.
func (a *account) redefine(more ...string) answer {
	return a.send("PUT", posts, "{"+strings.Join(append([]string{keyOfPosts}, more...), ",")+"}")
}

// idsOf returns the concatenated ids of a logical partition.
func (a *account) idsOf(pk string) string {
	a.t.Helper()
	return strings.Join(a.must(200, a.query(pk, `{"query":"SELECT c.id FROM c"}`)).ids(), "")
}

// TestDefaultTTLChanges checks that an item's age counts from its last write, under the
// container's current setting.
func TestDefaultTTLChanges(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(200, a.redefine())
	a.create("p", `{"id":"a","postId":"p"}`)
	a.create("p", `{"id":"b","postId":"p","ttl":-1}`)
	a.create("p", `{"id":"c","postId":"p","ttl":30}`)
	a.clock.advance(60 * time.Second)
	a.create("p", `{"id":"d","postId":"p"}`)
	if got := a.idsOf("p"); got != "abcd" {
		t.Errorf("without defaultTtl: %q", got)
	}
	a.must(200, a.redefine(`"defaultTtl":50`))
	if got := a.idsOf("p"); got != "bd" {
		t.Errorf("with 50 seconds: %q", got)
	}
	a.must(404, a.send("GET", docs+"/a", "", "pk", "p"))
	a.must(200, a.redefine(`"defaultTtl":1000`))
	if got := a.idsOf("p"); got != "bd" {
		t.Errorf("%q: expired items came back or others expired", got)
	}
	a.clock.advance(500 * time.Second)
	if got := a.idsOf("p"); got != "bd" {
		t.Errorf("with 1000 seconds: %q", got)
	}
	a.must(200, a.redefine(`"defaultTtl":-1`))
	a.clock.advance(10000 * time.Second)
	if got := a.idsOf("p"); got != "bd" {
		t.Errorf("with -1: %q", got)
	}
}

func TestIndexesChange(t *testing.T) {
	a := newBlog(t, Options{})
	for i := range 40 {
		a.create("p", fmt.Sprintf(`{"id":"i%02d","postId":"p","n":%d}`, i, i%4))
	}
	sorted := `{"query":"SELECT c.id FROM c WHERE c.n = 2 ORDER BY c.n, c.id DESC"}`
	first := a.must(200, a.send("GET", posts, ""))
	a.must(400, a.query("p", sorted))
	for range 3 {
		a.must(200, a.redefine(indexOfN))
		page := a.must(200, a.query("p", sorted, "x-ms-max-item-count", "3"))
		if got := fmt.Sprint(page.ids()); got != "[i38 i34 i30]" {
			t.Errorf("sorted: %s", got)
		}
		if got := a.must(200, a.query("", `{"query":"SELECT * FROM c WHERE c.n = 3"}`)); len(got.items()) != 10 {
			t.Errorf("across: %d items", len(got.items()))
		}
		if err := a.Check(); err != nil {
			t.Error(err)
		}
		a.must(200, a.redefine())
		a.must(400, a.query("p", sorted))
	}
	if again := a.must(200, a.send("GET", posts, "")); again.body.Get("_rid").String() != first.body.Get("_rid").String() {
		t.Error("the resource id changed")
	}
}

// TestDefinitionChangesDuringRequests changes definitions during reads and writes. Each write
// must succeed or return 449; queries may fail only for lack of an index. At the end, Check must
// find no faults.
func TestDefinitionChangesDuringRequests(t *testing.T) {
	a := newBlog(t, Options{})
	var others sync.WaitGroup
	end := make(chan struct{})
	repeat := func(request func(i int) answer, allowed ...int) {
		others.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-end:
					return
				default:
				}
				if got := request(i); !slices.Contains(allowed, got.status) {
					t.Errorf("status %d: %s", got.status, got.text)
					return
				}
			}
		})
	}
	for w := range 6 {
		pk := fmt.Sprintf("p%d", w%3)
		repeat(func(i int) answer {
			ttl := []string{"", `,"ttl":5`, `,"ttl":-1`}[i%3]
			return a.send("POST", docs, fmt.Sprintf(`{"id":"w%d-%d","postId":%q,"n":%d%s}`, w, i%50, pk, i, ttl), "pk", pk, "x-ms-documentdb-is-upsert", "true")
		}, 200, 201, statusRetryWith)
		repeat(func(int) answer {
			return a.query(pk, `{"query":"SELECT c.id FROM c WHERE c.n > 3 ORDER BY c.n, c.id DESC"}`, "x-ms-max-item-count", "5")
		}, 200, 400)
		repeat(func(int) answer { return a.query("", `{"query":"SELECT c.id FROM c WHERE c.n = 7"}`) }, 200)
	}
	for i := range 30 {
		more := []string{fmt.Sprintf(`"defaultTtl":%d`, 10+i%7)}
		if i%2 == 0 {
			more = append(more, indexOfN)
		}
		a.clock.advance(2 * time.Second)
		a.must(200, a.redefine(more...))
	}
	close(end)
	others.Wait()
}

// TestCrashDuringDefinitionChange simulates a crash before the last step of a change, with
// varying amounts of unsynced data. Afterwards, either the old or the new definition applies
// completely.
func TestCrashDuringDefinitionChange(t *testing.T) {
	seed := testseed.Of(t)
	random := rand.New(rand.NewPCG(seed, 0))
	fs := vfs.NewCrashableMem()
	a := newBlog(t, Options{Dir: "data", FS: fs})
	a.must(200, a.redefine())
	const items = 800
	for i := range items {
		pk := fmt.Sprintf("p%d", i%10)
		a.create(pk, fmt.Sprintf(`{"id":"i%d","postId":%q,"n":%d,"text":%q}`, i, pk, i%5, strings.Repeat("x", 500)))
	}
	before := fs.CrashClone(vfs.CrashCloneCfg{})
	a.redefineHalf(`"defaultTtl":100`, indexOfN)
	for _, percent := range []int{0, 20, 50, 80, 100} {
		a.afterCrash(fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: random}), 0)
	}
	a.afterCrash(before, items)
	a.must(200, a.redefine(`"defaultTtl":100`, indexOfN))
	a.afterCrash(fs.CrashClone(vfs.CrashCloneCfg{}), 0)
}

// redefineHalf executes a change except its last step.
func (a *account) redefineHalf(more ...string) {
	a.t.Helper()
	a.catalogMu.Lock()
	defer a.catalogMu.Unlock()
	d, old := a.catalog.Load().databases["blog"], a.catalog.Load().databases["blog"].containers["posts"]
	s := old.stored()
	s.Layout = 0
	s.Resource = []byte("{" + strings.Join(append([]string{keyOfPosts}, more...), ",") + "}")
	changed, err := a.newContainer(d, s)
	if err == nil {
		err = errors.Join(a.storeDefinition(changed, s), a.rebuildEntries(changed))
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// TestRequestsWithStaleDefinition checks that a request which resolved its container before a
// change uses the changed definition.
func TestRequestsWithStaleDefinition(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(200, a.redefine(indexOfN))
	a.create("p", `{"id":"a","postId":"p","n":1}`)
	old, err := a.container("blog", "posts")
	if err != nil {
		t.Fatal(err)
	}
	bound, _, err := a.parseQuery([]byte(`{"query":"SELECT c.id FROM c WHERE c.n = 1 ORDER BY c.n, c.id DESC"}`))
	if err != nil {
		t.Fatal(err)
	}
	ask := func() ([][]byte, error) {
		p := newPartition(value.String("p"))
		page, err := a.queryPage(t.Context(), old, bound, scope{partition: &p}, continuation{}, 10)
		return page.rows, err
	}
	a.must(200, a.redefine(`"defaultTtl":1000`, indexOfN))
	if rows, err := ask(); len(rows) != 1 || err != nil {
		t.Errorf("with the same indexes: %d rows, %v", len(rows), err)
	}
	a.must(200, a.redefine())
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "composite index") {
		t.Errorf("without the index: %v", err)
	}
	inside := a.newTransaction(old, newPartition(value.String("p")))
	if _, err := inside.query(t.Context(), bound, continuation{}, 10); !errors.Is(err, errRedefined) {
		t.Errorf("in a transaction: %v", err)
	}
	if got, _ := a.container("blog", "posts"); got == old {
		t.Error("the definition did not change")
	}
	a.must(204, a.send("DELETE", posts, ""))
	if _, err := ask(); !errors.Is(err, errOwnerNotFound) {
		t.Errorf("after the deletion: %v", err)
	}
}

// afterCrash opens the file system left by a crash and checks the number of items an hour later.
func (a *account) afterCrash(fs vfs.FS, items int) {
	a.t.Helper()
	b := reopen(a.t.(*testing.T), fs, a.Key())
	b.clock.advance(time.Hour)
	left := b.must(200, b.query("", `{"query":"SELECT c.id FROM c"}`, "x-ms-max-item-count", "-1"))
	if got := len(left.items()); got != items {
		a.t.Errorf("%d items are left, want %d", got, items)
	}
}

// TestFoldersOfOtherFormatsAreRejected changes the stored format and opens the folder.
func TestFoldersOfOtherFormatsAreRejected(t *testing.T) {
	for format, want := range map[uint64]error{
		formatVersion - 1: ErrOlderFormat,
		formatVersion + 1: ErrNewerFormat,
	} {
		fs := vfs.NewMem()
		a := newBlog(t, Options{Dir: "data", FS: fs})
		a.create("p", `{"id":"a","postId":"p"}`)
		batch := a.db.NewBatch()
		setMeta(batch, metaFormat, format)
		if err := errors.Join(batch.Commit(pebble.Sync), a.Engine.Close()); err != nil {
			t.Fatal(err)
		}
		_, err := Open(Options{Dir: "data", FS: fs, Key: a.Key()})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "folder") {
			t.Errorf("format %d: Open returned %v, want %v with a remedy", format, err, want)
		}
	}
}

// TestRepeatedDefinitionKeepsContainerWritable replaces a changed definition with an equal one.
func TestRepeatedDefinitionKeepsContainerWritable(t *testing.T) {
	a := newBlog(t, Options{})
	changed := strings.Replace(blogContainer, `"/userId/?"`, `"/n/?"`, 1)
	for range 3 {
		a.must(200, a.send("PUT", posts, changed))
	}
	a.create("p1", `{"id":"a","postId":"p1"}`)
}
