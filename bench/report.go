package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"cosmosblog/bench/plot"
	"cosmosblog/proof/docsection"
)

// report is the outcome of a command, as JSON and as a section of a document.
type report struct {
	Command     string       `json:"command"` // that repeats it
	Machine     string       `json:"machine"`
	Rows        []row        `json:"rows,omitempty"`
	Projections []projection `json:"projections,omitempty"`
	Waits       []wait       `json:"waits,omitempty"`
	Subscribed  []subscribed `json:"subscribed,omitempty"`
	Attacked    []attacked   `json:"attacked,omitempty"`
	Models      []modelRow   `json:"models,omitempty"`
	Ladder      []string     `json:"ladder,omitempty"`     // names of the models, in order
	Served      string       `json:"served,omitempty"`     // the model that the server has
	Users       int          `json:"users,omitempty"`      // of the data set
	Partitions  int          `json:"partitions,omitempty"` // physical ones of each of users and posts
	// Generator is the processor time of the load generator, relative to the time of the turns, by
	// side.
	Generator map[string]float64 `json:"generator,omitempty"`

	name  string // of the command and of its section
	table table
	notes string // after the table
	plot  *plot.Plot
}

// newReport returns a report of a comparison, which may be nil, with the costs of the generator.
func newReport(o *options, c comparison) *report {
	r := &report{Command: o.command, Machine: machine(), name: o.name, Generator: map[string]float64{}}
	elapsed := map[string]float64{}
	for _, sides := range c {
		for name, result := range sides {
			if result.generator > 0 {
				r.Generator[name] += result.generator.Seconds()
				elapsed[name] += result.elapsed.Seconds()
			}
		}
	}
	for name := range r.Generator {
		r.Generator[name] /= elapsed[name]
	}
	return r
}

// row is an operation on one side. Values that were not measured are absent.
type row struct {
	Operation         string             `json:"operation"`
	Side              string             `json:"side"`
	RequestsPerSecond float64            `json:"requestsPerSecond"`
	Ratios            map[string]float64 `json:"ratios,omitempty"` // requests/s, relative to other sides
	ProcessorMicros   *float64           `json:"processorMicros,omitempty"`
	ProcessorRatio    *float64           `json:"processorRatio,omitempty"` // relative to the side before
	Allocations       *float64           `json:"allocations,omitempty"`
	P50Millis         float64            `json:"p50Millis"`
	P99Millis         float64            `json:"p99Millis"`
}

// newRow returns the row of a side, with its ratios to others.
func newRow(c comparison, operation, name string, others ...string) row {
	r := c[operation][name]
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
		if o := c[operation][other]; o != nil && other != name {
			result.Ratios[other] = medianRatio(r.rates, o.rates)
		}
	}
	if r.isTimed {
		result.ProcessorMicros = new(r.perRequest())
	}
	if before := c[operation][beforeSide]; before != nil && r.processor > 0 && before.processor > 0 && name != beforeSide {
		result.ProcessorRatio = new(r.perRequest() / before.perRequest())
	}
	if r.allocations > 0 {
		result.Allocations = new(r.allocations / float64(r.requests))
	}
	return result
}

// perRequest returns the processor time of a request in µs.
func (r *result) perRequest() float64 {
	return float64(r.processor.Microseconds()) / float64(r.requests)
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

func optional(value *float64) string {
	if value == nil {
		return "not measured"
	}
	return plot.Number(*value)
}

// newThroughputReport returns the report of servers that are compared with others.
func newThroughputReport(o *options, c comparison, servers, others []*side) *report {
	r := newReport(o, c)
	r.plot = &plot.Plot{Title: "Requests per second", IsLog: true}
	r.table.header = []string{"", "Requests/s"}
	if len(servers) > 1 {
		r.table.header = []string{"", "Cache", "Requests/s"}
	}
	for _, s := range servers {
		r.plot.Names = append(r.plot.Names, s.name)
	}
	var names []string
	for _, other := range others {
		names = append(names, other.name)
		r.table.header = append(r.table.header, "Ratio to "+other.name)
	}
	r.plot.Names = append(r.plot.Names, names...)
	r.table.header = append(r.table.header, "Processor time, µs")
	if slices.Contains(names, beforeSide) {
		r.table.header = append(r.table.header, "Ratio to before")
	}
	r.table.header = append(r.table.header, "Allocations", "p50, ms", "p99, ms")
	for _, operation := range o.operations {
		points := plot.Row{Label: operationTitles[operation]}
		for _, s := range slices.Concat(servers, others) {
			if c[operation][s.name] == nil {
				points.Values = append(points.Values, math.NaN())
				continue
			}
			row := newRow(c, operation, s.name, names...)
			r.Rows = append(r.Rows, row)
			points.Values = append(points.Values, row.RequestsPerSecond)
			if slices.Contains(servers, s) {
				r.table.add(throughputCells(row, names, len(servers) > 1)...)
			}
		}
		r.plot.Rows = append(r.plot.Rows, points)
	}
	return r
}

func throughputCells(r row, others []string, hasCache bool) []string {
	cells := []string{operationTitles[r.Operation]}
	if hasCache {
		cells = append(cells, r.Side)
	}
	cells = append(cells, plot.Number(r.RequestsPerSecond))
	for _, other := range others {
		cell := "–"
		if ratio, ok := r.Ratios[other]; ok {
			cell = fmt.Sprintf("%.2f", ratio)
		}
		cells = append(cells, cell)
	}
	cells = append(cells, optional(r.ProcessorMicros))
	if slices.Contains(others, beforeSide) {
		cells = append(cells, optional(r.ProcessorRatio))
	}
	return append(cells, optional(r.Allocations), plot.Number(r.P50Millis), plot.Number(r.P99Millis))
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

// section returns the report as a section of a document in the folder of plots.
func (r *report) section() string {
	var b strings.Builder
	fmt.Fprintf(&b, "```sh\n%s\n```\n\n%s\n", r.Command, r.table.String())
	if r.notes != "" {
		fmt.Fprintln(&b, r.notes)
	}
	fmt.Fprintf(&b, "Measured with %s.", r.Machine)
	if len(r.Generator) > 0 {
		var shares []string
		for _, name := range slices.Sorted(maps.Keys(r.Generator)) {
			shares = append(shares, fmt.Sprintf("%.0f %% with %s", 100*r.Generator[name], name))
		}
		fmt.Fprintf(&b, " Share of one processor that the load generator used: %s.", strings.Join(shares, ", "))
	}
	fmt.Fprintf(&b, "\n\n![%s](%s)\n", r.plot.Title, r.plotPath())
	return b.String()
}

// plotPath returns the path of the plot, relative to the document.
func (r *report) plotPath() string { return "plots/" + r.name + ".svg" }

// encode writes the report as JSON.
func (r *report) encode(output io.Writer) error {
	encoder := json.NewEncoder(output)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// write replaces the command's section of a document, and its plot.
func (r *report) write(document string) error {
	path := filepath.Join(filepath.Dir(document), r.plotPath())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(r.plot.SVG()), 0o644); err != nil {
		return err
	}
	if r.Models != nil {
		var figures bytes.Buffer
		if err := r.encode(&figures); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(document), pageFigures), figures.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return docsection.Write(document, r.name, r.section())
}
