package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is the outcome of a command, as JSON and as a section of a document.
type report struct {
	Command  string         `json:"command"` // that repeats it
	Machine  string         `json:"machine"`
	Settings map[string]any `json:"settings"`
	Rows     []row          `json:"rows"`
	// GeneratorMicros is the processor time of the load generator for each request, in µs.
	GeneratorMicros float64 `json:"generatorMicros,omitempty"`

	table table
	notes []string
}

// row is an operation on one side. Values that were not measured are absent.
type row struct {
	Operation         string             `json:"operation"`
	Side              string             `json:"side"`
	RequestsPerSecond float64            `json:"requestsPerSecond"`
	Ratios            map[string]float64 `json:"ratios,omitempty"` // requests/s, relative to other sides
	ProcessorMicros   *float64           `json:"processorMicros,omitempty"`
	Allocations       *float64           `json:"allocations,omitempty"`
	P50Millis         float64            `json:"p50Millis"`
	P99Millis         float64            `json:"p99Millis"`
}

// newRow returns the row of a side, with its ratios to others.
func newRow(c *comparison, operation, name string, others ...string) row {
	r := c.results[operation][name]
	slices.Sort(r.latencies)
	result := row{
		Operation:         operation,
		Side:              name,
		RequestsPerSecond: median(slices.Clone(r.rates)),
		Ratios:            map[string]float64{},
		P50Millis:         millis(quantile(r.latencies, 0.5)),
		P99Millis:         millis(quantile(r.latencies, 0.99)),
	}
	for _, other := range others {
		if o := c.results[operation][other]; o != nil && other != name {
			result.Ratios[other] = medianRatio(r.rates, o.rates)
		}
	}
	if r.isTimed {
		result.ProcessorMicros = new(float64(r.processor.Microseconds()) / float64(r.requests))
	}
	if r.allocations > 0 {
		result.Allocations = new(r.allocations / float64(r.requests))
	}
	return result
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// table is a table in Markdown. The first column is text, the others are numbers.
type table struct {
	header []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String returns the table in Markdown, with aligned columns.
func (t *table) String() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.header)
	b.WriteString("|" + strings.Repeat("---|", len(t.header)) + "\n")
	for _, cells := range t.rows {
		line(cells)
	}
	return b.String()
}

// number formats a number of at most 3 or 4 significant digits.
func number(value float64) string {
	switch {
	case value != value:
		return "–"
	case value >= 1000:
		step := 10.0
		if value >= 10000 {
			step = 100
		}
		return thousands(int(value/step+0.5) * int(step))
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func optional(value *float64) string {
	if value == nil {
		return "not measured"
	}
	return number(*value)
}

// newThroughputReport returns the report of servers that are compared with others.
func newThroughputReport(o *options, c *comparison, servers, others []*side) *report {
	r := &report{Command: o.command(), Machine: machine(), Settings: o.describe()}
	r.Settings["users"] = o.users
	r.GeneratorMicros = float64(c.generator.Microseconds()) / float64(c.requests)
	r.table.header = []string{"", "Requests/s"}
	if len(servers) > 1 {
		r.table.header = []string{"", "Cache", "Requests/s"}
	}
	names := []string{}
	for _, other := range others {
		names = append(names, other.name)
		r.table.header = append(r.table.header, "Ratio to "+other.name)
	}
	r.table.header = append(r.table.header, "Processor time, µs", "Allocations", "p50, ms", "p99, ms")
	for _, operation := range o.operations {
		for _, server := range servers {
			row := newRow(c, operation, server.name, names...)
			r.Rows = append(r.Rows, row)
			r.table.add(throughputCells(row, names, len(servers) > 1)...)
		}
		for _, other := range others {
			if c.results[operation][other.name] != nil {
				r.Rows = append(r.Rows, newRow(c, operation, other.name))
			}
		}
	}
	return r
}

func throughputCells(r row, others []string, hasCache bool) []string {
	cells := []string{operationTitles[r.Operation]}
	if hasCache {
		cells = append(cells, r.Side)
	}
	cells = append(cells, number(r.RequestsPerSecond))
	for _, other := range others {
		cell := "–"
		if ratio, ok := r.Ratios[other]; ok {
			cell = fmt.Sprintf("%.2f", ratio)
		}
		cells = append(cells, cell)
	}
	return append(cells, optional(r.ProcessorMicros), optional(r.Allocations), number(r.P50Millis), number(r.P99Millis))
}

// machine describes the processors.
func machine() string {
	model := runtime.GOARCH
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%d processors (%s), %s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.Version())
}

// section returns the report as a section of a document.
func (r *report) section() string {
	return fmt.Sprintf("%s\n%s\n```sh\n%s\n```\n", r.table.String(), strings.Join(append([]string{r.Machine}, r.notes...), "\n"), r.Command)
}
