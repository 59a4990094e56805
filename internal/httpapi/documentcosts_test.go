package httpapi_test

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

	"cosmosblog/internal/httpapi"
	"cosmosblog/internal/limits"
)

// cost is what one request used.
type cost struct {
	name  string
	took  time.Duration
	bytes uint64 // total allocations, including freed ones
	reply reply
}

// costOf sends a body to a server once, and returns what the request used.
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
	return newServer(t, func(o *httpapi.Options, _ *stubQuery) { o.Development = development })
}

// maxDocumentAlloc is the most that a request may allocate, in bytes. BenchmarkRefusals measures
// times.
const maxDocumentAlloc = 20 << 20

// allDocuments also sends the longest documents to a server in production mode. Most of them are
// rejected before the two modes differ, and reading them takes most of the time.
var allDocuments = flag.Bool("documents", false, "send documents above 512 KiB in production mode too")

// TestRefusals checks the responses to all documents, and their allocations, which do not depend
// on the machine's load.
func TestRefusals(t *testing.T) {
	production, development := newServerIn(t, false), newServerIn(t, true)
	for _, d := range documents {
		body := d.body()
		checkCost(t, costOf(development, d.name, body))
		if len(body) <= limits.Default().QueryBytes || *allDocuments {
			checkCost(t, costOf(production, d.name, body))
		}
	}
}

func checkCost(t *testing.T, c cost) {
	t.Helper()
	r, codes := c.reply, strings.ReplaceAll(c.reply.codes(), "COST_LIMIT_EXCEEDED", "BAD_USER_INPUT")
	if c.bytes > maxDocumentAlloc {
		t.Errorf("%s: %d bytes allocated", c.name, c.bytes)
	}
	if r.Code != 200 && r.Code != 400 || strings.Trim(codes, "BAD_USER_INPUT ") != "" || (r.Code == 400) != (r.Data == nil) {
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
