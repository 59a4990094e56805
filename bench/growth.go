package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"cosmosblog/bench/plot"
)

// growthFactors multiply the number of users of the data sets that growth compares.
var growthFactors = []int{1, 10, 100}

// growth compares servers on data sets of different sizes with one another, without a read cache.
// All of them run at the same time and take their turns with each read operation.
func growth(ctx context.Context, o *options) (*report, error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	hasCache, err := w.program.hasCache(ctx)
	if err != nil {
		return nil, err
	}
	var arguments []string
	if hasCache {
		arguments = []string{"--cache-bytes", "0"}
	}
	var sides []*side
	for _, factor := range growthFactors[:o.sizes] {
		data, err := w.seeded(ctx, "seeded", w.program, factor*o.users)
		if err != nil {
			return nil, err
		}
		s, _, err := w.reader(ctx, fmt.Sprint(factor, "x"), w.program, data, arguments...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(data), err)
		}
		sides = append(sides, s)
	}
	reads := o.settings
	reads.operations = slices.DeleteFunc(slices.Clone(o.operations), func(name string) bool {
		return sides[0].operations[name] == nil
	})
	c, err := measure(ctx, sides, reads)
	if err != nil {
		return nil, err
	}
	return newGrowthReport(o, c, reads.operations, sides), w.end()
}

// newGrowthReport returns the report of growth. Its ratios are those of the times of requests.
func newGrowthReport(o *options, c comparison, operations []string, sides []*side) *report {
	r := newReport(o, c)
	first := sides[0].name
	r.table.header = []string{"", first + ", requests/s"}
	r.plot = &plot.Plot{Title: "Time of a request, relative to the smallest data set"}
	for i, s := range sides {
		if i > 0 {
			r.table.header = append(r.table.header, s.name+", time", s.name+", processor time")
		}
		r.plot.Names = append(r.plot.Names, fmt.Sprintf("%d users", growthFactors[i]*o.users))
	}
	for _, operation := range operations {
		base := newRow(c, operation, first)
		cells := []string{operationTitles[operation], plot.Number(base.RequestsPerSecond)}
		points := plot.Row{Label: operationTitles[operation], Values: []float64{1}}
		r.Rows = append(r.Rows, base)
		for _, s := range sides[1:] {
			row := newRow(c, operation, s.name, first)
			r.Rows = append(r.Rows, row)
			time := medianRatio(c[operation][first].rates, c[operation][s.name].rates)
			processor := "not measured"
			if row.ProcessorMicros != nil && base.ProcessorMicros != nil && *base.ProcessorMicros > 0 {
				processor = fmt.Sprintf("%.2f", *row.ProcessorMicros / *base.ProcessorMicros)
			}
			cells = append(cells, fmt.Sprintf("%.2f", time), processor)
			points.Values = append(points.Values, time)
		}
		r.table.add(cells...)
		r.plot.Rows = append(r.plot.Rows, points)
	}
	return r
}
