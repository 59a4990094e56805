package httpapi_test

import (
	"cmp"
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
)

// cost is what one request took.
type cost struct {
	name  string
	took  time.Duration
	bytes uint64 // allocated in all, those included that were given back at once
	reply reply
}

// costOf sends a body some times, each to a server that does not know it, and gives the least of
// what it took.
func costOf(t testing.TB, development bool, name, body string, times int) cost {
	t.Helper()
	least := cost{name: name, took: math.MaxInt64, bytes: math.MaxUint64}
	for range times {
		s := newServer(t, func(o *httpapi.Options, _ *stubQuery) { o.Development = development })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		least.reply = s.post(body, "Accept", newerType)
		least.took = min(least.took, time.Since(start))
		runtime.ReadMemStats(&after)
		least.bytes = min(least.bytes, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// maxRefusalBytes is what no refusal may allocate. Times are not looked at here: see
// BenchmarkRefusals.
const maxRefusalBytes = 20 << 20

// TestRefusals holds the answers to all documents to what any answer is held to, and their cost
// to what does not depend on what else the machine does.
func TestRefusals(t *testing.T) {
	for _, d := range documents {
		body := d.body()
		for _, development := range []bool{false, true} {
			c := costOf(t, development, d.name, body, 1)
			r, codes := c.reply, strings.ReplaceAll(c.reply.codes(), "COST_LIMIT_EXCEEDED", "BAD_USER_INPUT")
			if c.bytes > maxRefusalBytes {
				t.Errorf("%s: %d bytes allocated", d.name, c.bytes)
			}
			if r.Code != 200 && r.Code != 400 || strings.Trim(codes, "BAD_USER_INPUT ") != "" || (r.Code == 400) != (r.Data == nil) {
				t.Errorf("%s: status %d: %.500s", d.name, r.Code, r.Body)
			}
			if len(r.Errors) > 10 || len(r.Errors) > 0 && r.Body.Len() > 4000 || strings.Contains(r.Body.String(), marker) {
				t.Errorf("%s: %d errors, %d bytes: %.500s", d.name, len(r.Errors), r.Body.Len(), r.Body)
			}
		}
	}
}

// BenchmarkRefusals prints what each of the documents costs, the dearest first.
func BenchmarkRefusals(b *testing.B) {
	for _, development := range []bool{false, true} {
		b.Run(fmt.Sprint("development=", development), func(b *testing.B) {
			var costs []cost
			for _, d := range documents {
				costs = append(costs, costOf(b, development, d.name, d.body(), 3))
			}
			slices.SortFunc(costs, func(x, y cost) int { return cmp.Compare(y.took, x.took) })
			table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintln(table, "\nms\tMB\tstatus\terrors\tbytes of the answer\t")
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
