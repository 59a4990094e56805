package embedded

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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

// BenchmarkPointRead is one read without a client: the engine's share of azcosmos' 16 µs.
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

// BenchmarkPage is a page of 20 comments out of partitions of different sizes.
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

// BenchmarkCreate is on the disk, fsynced, alone and with 64 writers.
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
