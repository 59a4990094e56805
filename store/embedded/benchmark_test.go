package embedded

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
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
	r := httptest.NewRequest("GET", "http://engine.invalid/"+docs+"/c50", nil)
	r.Header.Set("x-ms-documentdb-partitionkey", `["p5"]`)
	sign(r, a.key, docs+"/c50")
	for b.Loop() {
		a.ServeHTTP(discard{http.Header{}}, r)
	}
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkPage measures a page of 20 comments from partitions of different sizes.
func BenchmarkPage(b *testing.B) {
	for _, items := range []int{25, 10_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			a := benchAccount(b, 1, items, Options{})
			for b.Loop() {
				a.query("p0", `{"query":"SELECT * FROM c WHERE c.type = 'comment' AND c.deleted = false ORDER BY c.type, c.creationDate, c.id OFFSET 0 LIMIT 21"}`)
			}
		})
	}
}

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
