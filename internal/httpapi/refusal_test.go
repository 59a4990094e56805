package httpapi_test

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/httpapi"
)

// cost is what one request took.
type cost struct {
	name  string
	took  time.Duration
	bytes uint64 // allocated in all
	reply reply
}

// costOf sends a body some times and gives the least of what it took.
func costOf(t testing.TB, development bool, d document, times int) cost {
	t.Helper()
	c := cost{name: d.name, took: time.Hour, bytes: 1 << 60}
	body := d.body()
	for range times {
		s := newServerOf(t, development) // which knows the document from no time before
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		c.reply = s.post(body)
		c.took = min(c.took, time.Since(start))
		runtime.ReadMemStats(&after)
		c.bytes = min(c.bytes, after.TotalAlloc-before.TotalAlloc)
	}
	return c
}

// BenchmarkRefusals prints what each of the documents costs, the dearest first.
func BenchmarkRefusals(b *testing.B) {
	for _, development := range []bool{false, true} {
		b.Run(fmt.Sprint("development=", development), func(b *testing.B) {
			var costs []cost
			for _, d := range documents {
				costs = append(costs, costOf(b, development, d, 2))
			}
			slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(b.took, a.took) })
			var table strings.Builder
			for _, c := range costs {
				fmt.Fprintf(&table, "%9.2f ms %9.2f MB  %d %2d errors %6d bytes  %s\n", float64(c.took)/1e6, float64(c.bytes)/1e6, c.reply.Code, len(c.reply.Errors), c.reply.Body.Len(), c.name)
			}
			fmt.Print("\n", table.String())
		})
	}
}

func newServerOf(t testing.TB, development bool) *server {
	return newServer(t, func(o *httpapi.Options, _ *stubQuery) { o.Development = development })
}
