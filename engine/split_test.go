package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"cosmosblog/engine/value"
)

// fill creates items with the ids i<from> to before i<to>, each in a partition named like its
// id.
func (a *account) fill(from, to int) (ids []string) {
	a.t.Helper()
	for i := from; i < to; i++ {
		id := fmt.Sprintf("i%03d", i)
		a.create(id, fmt.Sprintf(`{"id":%q,"postId":%q,"userId":"u"}`, id, id))
		ids = append(ids, id)
	}
	return ids
}

func (a *account) split(rangeID string) {
	a.t.Helper()
	if err := a.Split("blog", "posts", rangeID); err != nil {
		a.t.Fatal(err)
	}
}

// rangeList reads the physical ranges as a change feed, after an etag, and returns their ids and
// parents.
func (a *account) rangeList(etag string) (list string, next string) {
	a.t.Helper()
	got := a.must(200, a.send("GET", posts+"/pkranges", "", "A-IM", "Incremental Feed", "If-None-Match", etag))
	ranges, _ := got.body.Get("PartitionKeyRanges").AsArray()
	var texts []string
	for _, r := range ranges {
		id, _ := r.Get("id").AsString()
		texts = append(texts, id+string(value.Append(nil, r.Get("parents"))))
	}
	return strings.Join(texts, " "), got.header.Get("Etag")
}

// feedOf reads a range's change feed from an etag to its end.
func (a *account) feedOf(rangeID, etag string, headers ...string) (ids []string) {
	a.t.Helper()
	for {
		page := a.send("GET", docs, "", append(headers, "A-IM", "Incremental Feed", "x-ms-max-item-count", "3",
			"x-ms-documentdb-partitionkeyrangeid", rangeID, "If-None-Match", etag)...)
		if page.status == 304 {
			return ids
		}
		a.must(200, page)
		ids = append(ids, page.ids()...)
		etag = page.header.Get("Etag")
	}
}

// equalSets compares ids in any order.
func equalSets(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestSplitReplacesRangeWithChildren(t *testing.T) {
	fs := vfs.NewMem()
	a := newBlog(t, Options{Dir: "data", FS: fs})
	all := a.fill(0, 30)
	half := a.must(200, a.changes("", "x-ms-max-item-count", "12"))
	token := half.header.Get("X-Ms-Session-Token")
	_, etag := a.rangeList("")

	a.split("0")

	if list, next := a.rangeList(etag); list != `1["0"] 2["0"]` || next == etag {
		t.Errorf("after the split: %s (etag %s)", list, next)
	}
	for _, gone := range []answer{
		a.changes(half.header.Get("Etag")),
		a.changes("", "pk", "i001"),
		a.send("GET", docs, "", "x-ms-documentdb-partitionkeyrangeid", "0"),
		a.query("", `{"query":"SELECT * FROM c"}`, "x-ms-documentdb-partitionkeyrangeid", "0"),
		a.query("i001", `{"query":"SELECT * FROM c"}`, "x-ms-documentdb-partitionkeyrangeid", "0"),
	} {
		a.must(410, gone)
		if substatus := gone.header.Get("X-Ms-Substatus"); substatus != "1002" {
			t.Errorf("410 with substatus %s", substatus)
		}
	}
	after := func(a *account) {
		t.Helper()
		rest := append(a.feedOf("1", half.header.Get("Etag")), a.feedOf("2", half.header.Get("Etag"))...)
		equalSets(t, "the children's feeds after the parent's page", append(rest, half.ids()...), all)
		lower, upper := a.feedOf("1", ""), a.feedOf("2", "")
		equalSets(t, "the children's feeds", slices.Concat(lower, upper), all)
		if len(lower) == 0 || len(upper) == 0 {
			t.Errorf("the children have %d and %d items", len(lower), len(upper))
		}
		// With a partition key, each range returns only that partition's items.
		equalSets(t, "a partition's feed, range by range", append(a.feedOf("1", "", "pk", "i007"), a.feedOf("2", "", "pk", "i007")...), []string{"i007"})
		for _, id := range all {
			a.must(200, a.send("GET", docs+"/"+id, "", "pk", id, "x-ms-session-token", token))
		}
	}
	after(a)
	all = append(all, a.fill(30, 40)...)
	after(a)
	ahead := a.send("GET", docs+"/i001", "", "pk", "i001", "x-ms-session-token", "0:-1#9999999")
	if a.must(404, ahead); ahead.header.Get("X-Ms-Substatus") != "1002" {
		t.Error("a session token ahead of the children was accepted")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}

	b := reopen(t, fs, a.Key())
	after(b)
	all = append(all, b.fill(40, 50)...)
	after(b)
	b.split("2")
	b.must(200, b.send("PUT", posts, blogContainer))
	if list, _ := b.rangeList(""); list != `1["0"] 3["0","2"] 4["0","2"]` {
		t.Errorf("after another split and a replacement of the container: %s", list)
	}
	equalSets(t, "the feeds after another split", slices.Concat(b.feedOf("1", ""), b.feedOf("3", ""), b.feedOf("4", "")), all)
	b.must(204, b.send("DELETE", posts, ""))
	b.must(201, b.send("POST", "dbs/blog/colls", blogContainer))
	if list, _ := b.rangeList(""); list != `0[]` {
		t.Errorf("the recreated container has the ranges %s", list)
	}
}

func TestInvalidSplitsAreRejected(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(201, a.send("POST", "dbs/blog/colls", `{"id":"first","partitionKey":{"paths":["/postId"],"kind":"Hash","version":1}}`))
	for _, c := range [][3]string{{"blog", "posts", "7"}, {"blog", "none", "0"}, {"none", "posts", "0"}, {"blog", "first", "0"}} {
		if err := a.Split(c[0], c[1], c[2]); err == nil {
			t.Errorf("a split of %v succeeded", c)
		}
	}
	for id := 0; ; id += 2 { // the upper child of the upper child, until there is no middle
		if err := a.Split("blog", "posts", fmt.Sprint(id)); err != nil {
			if id < 100 {
				t.Errorf("after %d splits: %v", id/2, err)
			}
			break
		}
	}
	a.fill(0, 3)
}

// TestContinuationsSurviveSplits continues feeds and queries that were begun before a split.
func TestContinuationsSurviveSplits(t *testing.T) {
	a := newBlog(t, Options{})
	all := a.fill(0, 40)
	// By partition key and id, like azcosmos's ReadMany.
	named := `{"query":"SELECT * FROM c WHERE c.postId IN ('x') OR `
	for i, id := range all {
		if i > 0 {
			named += " OR "
		}
		named += fmt.Sprintf("(c.id = '%s' AND c.postId = '%s')", id, id)
	}
	named = strings.Replace(named, "c.postId IN ('x') OR ", "", 1) + `"}`
	type reading struct {
		what, query string
		ranged      bool // read range by range, otherwise across all ranges
		ids         []string
		next        string
	}
	readings := []*reading{
		{what: "a query across", query: `{"query":"SELECT * FROM c"}`},
		{what: "a filter along an index", query: `{"query":"SELECT * FROM c WHERE c.userId = 'u'"}`},
		{what: "a query of a range", query: `{"query":"SELECT * FROM c"}`, ranged: true},
		{what: "named items of a range", query: named, ranged: true},
		{what: "a list of a range", ranged: true},
	}
	page := func(r *reading, rangeID, next string) string {
		headers := []string{"x-ms-max-item-count", "13", "x-ms-continuation", next}
		if r.ranged {
			headers = append(headers, "x-ms-documentdb-partitionkeyrangeid", rangeID)
		}
		var got answer
		if r.query == "" {
			got = a.send("GET", docs, "", headers...)
		} else {
			got = a.query("", r.query, headers...)
		}
		r.ids = append(r.ids, a.must(200, got).ids()...)
		return got.header.Get("X-Ms-Continuation")
	}
	for _, r := range readings {
		r.next = page(r, "0", "")
	}
	a.split("0")
	for _, r := range readings {
		ranges := []string{""}
		if r.ranged {
			ranges = []string{"1", "2"}
		}
		for _, id := range ranges {
			for next := r.next; next != ""; {
				next = page(r, id, next)
			}
		}
		equalSets(t, r.what, r.ids, all)
	}
}

// TestSplitDuringWrites splits during concurrent writes and expects every change in the feed.
func TestSplitDuringWrites(t *testing.T) {
	a := newBlog(t, Options{})
	var writers sync.WaitGroup
	var all []string
	for w := range 8 {
		for i := range 25 {
			all = append(all, fmt.Sprintf("i%03d", w*25+i))
		}
		writers.Go(func() { a.fill(w*25, w*25+25) })
	}
	for id := range 3 {
		a.split(fmt.Sprint(id))
	}
	writers.Wait()
	var fed []string
	for id := 3; id <= 6; id++ {
		fed = append(fed, a.feedOf(fmt.Sprint(id), "")...)
	}
	equalSets(t, "the feeds", fed, all)
}

// TestCrashDuringSplit simulates a crash before each write of a split. Afterwards, either the
// range or its two children exist, and no item is missing or doubled.
func TestCrashDuringSplit(t *testing.T) {
	fs := vfs.NewCrashableMem()
	var mu sync.Mutex
	var crashes []*vfs.MemFS
	splitting := false
	watched := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if splitting && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			crashes = append(crashes, fs.CrashClone(vfs.CrashCloneCfg{}))
		}
		return nil
	}))
	a := newBlog(t, Options{Dir: "data", FS: watched})
	all := a.fill(0, 20)
	set := func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		splitting = on
	}
	set(true)
	a.split("0")
	set(false)
	crashes = append(crashes, fs.CrashClone(vfs.CrashCloneCfg{}))
	before := 0
	for _, crashed := range crashes {
		b := reopen(t, crashed, a.Key())
		var fed []string
		switch list, _ := b.rangeList(""); list {
		case `0[]`:
			before++
			fed = b.feedOf("0", "")
		case `1["0"] 2["0"]`:
			fed = append(b.feedOf("1", ""), b.feedOf("2", "")...)
		default:
			t.Fatalf("after a crash the ranges are %s", list)
		}
		equalSets(t, "the feed after a crash", fed, all)
	}
	if before == 0 || before == len(crashes) {
		t.Errorf("%d of %d crashes were before the split", before, len(crashes))
	}
}

// TestHousekeepingAfterSplit purges items and watches the container across a split.
func TestHousekeepingAfterSplit(t *testing.T) {
	a := newBlog(t, Options{})
	written, stop, err := a.Watch("blog", "posts")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	brief := func(id string) {
		a.create(id, fmt.Sprintf(`{"id":%q,"postId":%q,"ttl":10}`, id, id))
	}
	for i := range 10 {
		brief(fmt.Sprintf("before%d", i))
	}
	a.split("0")
	for len(written) > 0 {
		<-written
	}
	kept := a.fill(0, 5)
	if len(written) != 1 {
		t.Error("no signal after a write to a child range")
	}
	for i := range 10 {
		brief(fmt.Sprintf("after%d", i))
	}
	a.clock.advance(10 * time.Second)
	equalSets(t, "unexpired items", append(a.feedOf("1", ""), a.feedOf("2", "")...), kept)
	if removed, err := a.Purge(t.Context()); removed != 20 || err != nil {
		t.Errorf("Purge removed %d items: %v", removed, err)
	}
	equalSets(t, "items that were not removed", append(a.feedOf("1", ""), a.feedOf("2", "")...), kept)
}

// TestMerge merges the parts of a range that was split. The positions of both parts go on in the
// new range, whose parents are all former ones, also after the engine was opened again.
func TestMerge(t *testing.T) {
	fs := vfs.NewMem()
	a := newBlog(t, Options{Dir: "data", FS: fs})
	all := a.fill(0, 20)
	if err := a.MergeRanges("blog", "posts", "0"); err == nil {
		t.Error("the only range was merged")
	}
	a.split("0")
	a.split("2")
	ends := map[string]string{}
	for _, id := range []string{"1", "3", "4"} {
		page := a.must(200, a.send("GET", docs, "", "A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", id))
		ends[id] = page.header.Get("Etag")
	}
	_, etag := a.rangeList("")
	merge := func(id string) {
		t.Helper()
		if err := a.MergeRanges("blog", "posts", id); err != nil {
			t.Fatal(err)
		}
	}
	merge("3")
	merge("1")
	if list, _ := a.rangeList(etag); list != `6["0","1","2","3","4","5"]` {
		t.Errorf("the ranges are %s", list)
	}
	for id, end := range ends {
		a.must(410, a.send("GET", docs, "", "A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", id))
		if fed := a.feedOf("6", end); len(fed) > 0 {
			t.Errorf("after the end of %s, the feed has %q", id, fed)
		}
		a.must(200, a.send("GET", docs, "", "x-ms-documentdb-partitionkeyrangeid", "6", "x-ms-session-token", id+":-1#20"))
		a.must(404, a.send("GET", docs, "", "x-ms-documentdb-partitionkeyrangeid", "6", "x-ms-session-token", id+":-1#99"))
	}
	later := a.fill(20, 30)
	equalSets(t, "the feed from the end of a part", a.feedOf("6", ends["3"]), later)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b := reopen(t, fs, a.Key())
	equalSets(t, "the feed of the engine that was opened again", b.feedOf("6", ""), append(all, later...))
	b.split("6")
	if list, _ := b.rangeList(""); !strings.HasPrefix(list, "7[") || !strings.Contains(list, " 8[") {
		t.Errorf("after a split, the ranges are %s", list)
	}
	for _, id := range []string{"8", "6", "x"} {
		if err := b.MergeRanges("blog", "posts", id); err == nil {
			t.Errorf("the range %s was merged", id)
		}
	}
}

// TestOtherRangesAreNotMerged refuses to merge ranges that were never one.
func TestOtherRangesAreNotMerged(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(201, a.send("POST", "dbs/blog/colls", `{"id":"wide",`+idKey+`}`, "x-ms-offer-throughput", "20000"))
	if err := a.MergeRanges("blog", "wide", "0"); err == nil {
		t.Error("two ranges with logs of their own were merged")
	}
}
