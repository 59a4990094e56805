package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"cosmosblog/bench/plot"
)

// projection is a result of the Go benchmark Projectors.
type projection struct {
	Ranges           int     `json:"ranges"`
	Projectors       int     `json:"projectors"`
	ChangesPerSecond float64 `json:"changesPerSecond"`
	P50Millis        float64 `json:"p50Millis"`
	P99Millis        float64 `json:"p99Millis"`
}

// benchmarkProjector runs the Go benchmark Projectors, in which writers, projectors and the engine
// share one process.
func benchmarkProjector(ctx context.Context, o *options) (*report, error) {
	c := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkProjectors$",
		"-benchtime", fmt.Sprint(o.rounds, "x"), "cosmosblog/projector")
	c.Stderr = o.progress
	output, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go test: %w\n%s", err, output)
	}
	projections, err := parseProjections(string(output))
	if err != nil {
		return nil, err
	}
	return newProjectorReport(o, projections), nil
}

// parseProjections parses the lines of the benchmark.
func parseProjections(output string) (projections []projection, err error) {
	for lines := bufio.NewScanner(strings.NewReader(output)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "BenchmarkProjectors/") {
			continue
		}
		var p projection
		if _, err := fmt.Sscanf(fields[0], "BenchmarkProjectors/ranges=%d/projectors=%d", &p.Ranges, &p.Projectors); err != nil {
			return nil, fmt.Errorf("%s: %w", lines.Text(), err)
		}
		units := map[string]*float64{"changes/s": &p.ChangesPerSecond, "p50-ms": &p.P50Millis, "p99-ms": &p.P99Millis}
		for i := 2; i+1 < len(fields); i += 2 {
			if value := units[fields[i+1]]; value != nil {
				if *value, err = strconv.ParseFloat(fields[i], 64); err != nil {
					return nil, fmt.Errorf("%s: %w", lines.Text(), err)
				}
			}
		}
		if p.ChangesPerSecond == 0 {
			return nil, fmt.Errorf("no changes/s in %s", lines.Text())
		}
		projections = append(projections, p)
	}
	if len(projections) == 0 {
		return nil, errors.New("go test ran no benchmark:\n" + output)
	}
	return projections, nil
}

func newProjectorReport(o *options, projections []projection) *report {
	r := newReport(o, nil)
	r.Projections = projections
	r.table.header = []string{"Feed ranges", "Projectors", "Changes/s", "Lag p50 at half the rate, ms", "p99, ms"}
	r.plot = &plot.Plot{Title: "Changes projected per second", Names: []string{"changes/s"}}
	for _, p := range projections {
		r.table.add(fmt.Sprint(p.Ranges), fmt.Sprint(p.Projectors), plot.Number(p.ChangesPerSecond), plot.Number(p.P50Millis), plot.Number(p.P99Millis))
		r.plot.Rows = append(r.plot.Rows, plot.Row{
			Label:  fmt.Sprintf("%s, %s", counted(p.Ranges, "range"), counted(p.Projectors, "projector")),
			Values: []float64{p.ChangesPerSecond},
		})
	}
	return r
}

// counted returns a number with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
