package api_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"cosmosblog/api"
	"cosmosblog/guard/limits"
)

// cost holds the resources that one request used.
type cost struct {
	name  string
	took  time.Duration
	bytes uint64 // total allocations, including freed ones
	reply reply
}

// costOf sends a body to a server once, and returns the cost of the request.
func costOf(s *server, name, body string) cost {
	c := cost{name: name}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	c.reply = s.post(body, "Accept", newerType)
	c.took = time.Since(start)
	runtime.ReadMemStats(&after)
	c.bytes = after.TotalAlloc - before.TotalAlloc
	return c
}

// leastCostOf sends a body to three new servers, and returns the minimum of each measure.
func leastCostOf(b *testing.B, development bool, name, body string) cost {
	least := cost{name: name, took: math.MaxInt64, bytes: math.MaxUint64}
	for range 3 {
		c := costOf(newServerIn(b, development), name, body)
		least.took, least.bytes, least.reply = min(least.took, c.took), min(least.bytes, c.bytes), c.reply
	}
	return least
}

func newServerIn(t testing.TB, development bool) *server {
	return newServer(t, func(o *api.Options, _ *stubQuery) { o.Development = development })
}

// maxDocumentAlloc is the maximum size of a request's allocations in bytes. BenchmarkRefusals
// measures times.
const maxDocumentAlloc = 20 << 20

// allDocuments enables the slow part of TestRefusals. By default, it skips queries above
// Limits.QueryBytes, which one check of their length rejects (see TestLimits), and it sends other
// large bodies in development mode only. Reading them takes most of the test's time.
var allDocuments = flag.Bool("documents", false, "send all documents of TestRefusals, in both modes")

// TestRefusals checks the responses to the documents, and their allocations, which do not depend on
// the machine's load.
func TestRefusals(t *testing.T) {
	production, development := newServerIn(t, false), newServerIn(t, true)
	for _, d := range slices.Concat(aboveLimits, withinLimits) {
		if d.long && !*allDocuments {
			continue
		}
		body := d.body()
		var request struct{ Query string }
		if unmarshal(t, []byte(body), &request); d.long != (len(request.Query) > limits.Default().QueryBytes) {
			t.Errorf("%s: long is %v, with a query of %d bytes", d.name, d.long, len(request.Query))
		}
		checkCost(t, costOf(production, d.name, body))
		checkCost(t, costOf(development, d.name, body))
	}
	for _, d := range largeBodies {
		body := d.body()
		checkCost(t, costOf(development, d.name, body))
		if *allDocuments {
			checkCost(t, costOf(production, d.name, body))
		}
	}
}

func checkCost(t *testing.T, c cost) {
	t.Helper()
	r := c.reply
	if c.bytes > maxDocumentAlloc {
		t.Errorf("%s: %d bytes allocated", c.name, c.bytes)
	}
	if r.Code != 200 && r.Code != 400 || !r.isInvalid() || (r.Code == 400) != (r.Data == nil) {
		t.Errorf("%s: status %d: %.500s", c.name, r.Code, r.Body)
	}
	if len(r.Errors) > 10 || len(r.Errors) > 0 && r.Body.Len() > 4000 || strings.Contains(r.Body.String(), marker) {
		t.Errorf("%s: %d errors, %d bytes: %.500s", c.name, len(r.Errors), r.Body.Len(), r.Body)
	}
}

// BenchmarkRefusals prints the cost of each document, the most expensive first.
func BenchmarkRefusals(b *testing.B) {
	for _, development := range []bool{false, true} {
		b.Run(fmt.Sprint("development=", development), func(b *testing.B) {
			var costs []cost
			for _, d := range documents {
				costs = append(costs, leastCostOf(b, development, d.name, d.body()))
			}
			slices.SortFunc(costs, func(x, y cost) int { return cmp.Compare(y.took, x.took) })
			table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintln(table, "\nms\tMB\tstatus\terrors\tbytes of the response\t")
			most := uint64(0)
			for _, c := range costs {
				fmt.Fprintf(table, "%.2f\t%.2f\t%d\t%d\t%d\t  %s\n", float64(c.took)/1e6, float64(c.bytes)/1e6, c.reply.Code, len(c.reply.Errors), c.reply.Body.Len(), c.name)
				most = max(most, c.bytes)
			}
			table.Flush()
			b.ReportMetric(float64(costs[0].took)/1e6, "worst-ms")
			b.ReportMetric(float64(most)/1e6, "worst-MB")
		})
	}
}
