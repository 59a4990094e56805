package engine

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

const benchItem = `{"id":%q,"postId":%q,"type":"comment","userId":"u_abcdefghijklmnopqrstuvwxyz","userUsername":"alice","content":"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua.","creationDate":"2026-01-02T03:04:%02d.%06dZ","deleted":false}`

func benchAccount(b *testing.B, partitions, items int, options Options) *account {
	a := newBlog(b, options)
	for p := range partitions {
		pk := fmt.Sprintf("p%d", p)
		for i := range items {
			a.create(pk, fmt.Sprintf(benchItem, fmt.Sprintf("c%d", i), pk, i%60, i))
		}
	}
	return a
}

// BenchmarkPointRead measures a point read without a client: the engine's share of azcosmos's 16
// µs.
func BenchmarkPointRead(b *testing.B) {
	a := benchAccount(b, 10, 100, Options{})
	send := repeated(a, "GET", docs+"/c50", "", "pk", "p5")
	b.ReportAllocs()
	for b.Loop() {
		send()
	}
}

// discard keeps only the status of a response.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// repeated returns a function that sends one request again and again, without a client.
func repeated(a *account, method, path, body string, headers ...string) func() {
	r := a.request(method, path, body, headers...)
	content := strings.NewReader(body)
	r.Body = io.NopCloser(content)
	return func() {
		content.Reset(body)
		w := discard{header: http.Header{}}
		a.ServeHTTP(&w, r)
		if w.status/100 != 2 {
			a.t.Fatal(w.status)
		}
	}
}

func queryRequest(a *account, pk, text string) func() {
	return repeated(a, "POST", docs, queryBody(text), "pk", pk, "Content-Type", "application/query+json", "x-ms-documentdb-query", "True")
}

// BenchmarkPage measures a page of 20 comments from partitions of different sizes.
func BenchmarkPage(b *testing.B) {
	for _, items := range []int{25, 10_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			a := benchAccount(b, 1, items, Options{})
			send := queryRequest(a, "p0", "SELECT * FROM c WHERE c.type = 'comment' AND c.deleted = false ORDER BY c.type, c.creationDate, c.id OFFSET 0 LIMIT 20")
			b.ReportAllocs()
			for b.Loop() {
				send()
			}
		})
	}
}

// BenchmarkReadMany measures a query that names 20 items by their ids.
func BenchmarkReadMany(b *testing.B) {
	a := benchAccount(b, 1, 100, Options{})
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprintf("'c%d'", 4*i))
	}
	send := queryRequest(a, "p0", "SELECT * FROM c WHERE c.id IN ("+strings.Join(ids, ", ")+")")
	b.ReportAllocs()
	for b.Loop() {
		send()
	}
}

// BenchmarkWrite measures writes in memory, without a client.
func BenchmarkWrite(b *testing.B) {
	item := fmt.Sprintf(benchItem, "c1", "p0", 1, 1)
	for _, w := range []struct{ name, method, path, body, batch string }{
		{"replace", "PUT", docs + "/c1", item, ""},
		{"batch of 10", "POST", docs, "[" + strings.Repeat(`{"operationType":"Upsert","resourceBody":`+item+"},", 9) +
			`{"operationType":"Upsert","resourceBody":` + item + "}]", "True"},
		{"procedure", "POST", posts + "/sprocs/comment", "[" + item + "]", ""},
	} {
		b.Run(w.name, func(b *testing.B) {
			a := benchAccount(b, 1, 10, Options{})
			a.addScript("sprocs", "comment", benchProcedure)
			send := repeated(a, w.method, w.path, w.body, "pk", "p0", "x-ms-cosmos-is-batch-request", w.batch)
			b.ReportAllocs()
			for b.Loop() {
				send()
			}
		})
	}
}

// benchProcedure reads an item, writes another and replaces the first, as the blog's procedures
// do.
const benchProcedure = `function comment(args) {
	const collection = getContext().getCollection(), items = collection.getAltLink() + "/docs/";
	accepted(collection.readDocument(items + "c0", (err, post) => {
		if (err) throw new Error(err.number, err.body);
		accepted(collection.upsertDocument(collection.getSelfLink(), args, { disableAutomaticIdGeneration: true }, (err, comment) => {
			if (err) throw new Error(err.number, err.body);
			post.commentCount = (post.commentCount || 0) + 1;
			accepted(collection.replaceDocument(post._self, post, { etag: post._etag }, (err, replaced) => {
				if (err) throw new Error(err.number, err.body);
				getContext().getResponse().setBody({ code: "OK", comment: comment, post: replaced });
			}));
		}));
	}));
	function accepted(isAccepted) { if (!isAccepted) throw new Error(429, "The time for this script is used up."); }
}`

// BenchmarkCreate measures creates on disk with fsync, by one writer and by 64.
func BenchmarkCreate(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			a := newBlog(b, Options{Dir: b.TempDir()})
			var n atomic.Int64
			b.SetParallelism(max(1, writers/2))
			work := func() {
				i := n.Add(1)
				pk := fmt.Sprintf("p%d", i)
				a.create(pk, fmt.Sprintf(benchItem, "c", pk, i%60, i%1_000_000))
			}
			if writers == 1 {
				for b.Loop() {
					work()
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					work()
				}
			})
		})
	}
}

// BenchmarkMillion fills a folder with a million items, reads random items by point reads and
// pages, reopens the folder and reads again. It reports the peak memory of the process. It uses
// no client: items are written in batches of a hundred, each to its own partition.
func BenchmarkMillion(b *testing.B) {
	const partitions, items = 10_000, 100
	for b.Loop() {
		dir := b.TempDir()
		a := newBlog(b, Options{Dir: dir})
		for p := range partitions {
			a.fillPartition(p, items)
			if p%1000 == 999 {
				b.Logf("%d items: %d MB in memory", (p+1)*items, resident(b, "VmRSS"))
			}
		}
		a.readAtRandom(partitions, items)
		b.Logf("after reading: %d MB in memory", resident(b, "VmRSS"))
		key := a.Key()
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
		again := newAccount(b, Options{Dir: dir, Key: key})
		again.readAtRandom(partitions, items)
		b.Logf("after reopening and reading: %d MB in memory", resident(b, "VmRSS"))
		if err := again.Check(); err != nil {
			b.Fatal(err)
		}
		if err := again.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(resident(b, "VmHWM")), "MB-at-most")
}

func (a *account) fillPartition(p, items int) {
	pk := fmt.Sprintf("p%d", p)
	var body strings.Builder
	for i := range items {
		body.WriteString(map[bool]string{true: "[", false: ","}[i == 0])
		fmt.Fprintf(&body, `{"operationType":"Create","resourceBody":`+benchItem+"}", fmt.Sprintf("c%d", i), pk, i%60, p*items+i)
	}
	body.WriteByte(']')
	a.must(200, a.send("POST", docs, body.String(), "pk", pk, "x-ms-cosmos-is-batch-request", "True", "Prefer", "return=minimal"))
}

func (a *account) readAtRandom(partitions, items int) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		pk := fmt.Sprintf("p%d", random.IntN(partitions))
		a.must(200, a.send("GET", docs+fmt.Sprintf("/c%d", random.IntN(items)), "", "pk", pk))
		a.must(200, a.query(pk, `{"query":"SELECT TOP 20 * FROM c WHERE c.type = 'comment' ORDER BY c.type, c.creationDate DESC, c.id DESC"}`))
	}
}

// resident returns the current (VmRSS) or peak (VmHWM) memory of the process in MB, if the
// system reports it.
func resident(b *testing.B, what string) int {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	_, after, _ := strings.Cut(string(status), what+":")
	var kilobytes int
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		b.Fatal(err)
	}
	return kilobytes >> 10
}
