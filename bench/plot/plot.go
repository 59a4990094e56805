// Package plot draws the figures of benchmarks.
package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Plot is a dot plot: a row for each label, with a mark for each named series.
type Plot struct {
	Title string
	IsLog bool     // logarithmic axis, otherwise it starts at 0
	Names []string // of the series, at most five
	Rows  []Row
}

// Row is a row of a Plot.
type Row struct {
	Label  string
	Values []float64 // by series; NaN if there is none
}

// marks are the shapes of the series, around the origin. Shapes and lightness differ, so that
// the series can be told apart without colours.
var marks = []string{
	`<circle r="5.5" class="s0"`,
	`<path d="M-5-5H5V5H-5Z" class="s1"`,
	`<path d="M0-7 7 0 0 7-7 0Z" class="s2"`,
	`<path d="M0-6.5 6.5 5H-6.5Z" class="s3"`,
	`<path d="M0 6.5 6.5-5H-6.5Z" class="s4"`,
}

// style has the colours for light and dark pages (Okabe and Ito, "Color universal design",
// 2008). The background is the page's.
const style = `<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.tick { fill: #59636e; font-size: 12px }
.grid { stroke: #d1d9e0 }
.row { stroke: #818b98; stroke-dasharray: 1 4 }
.s0 { fill: #0072b2 } .s1 { fill: #d55e00 } .s2 { fill: #009e73 } .s3 { fill: #cc79a7 } .s4 { fill: #8a6d00 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .tick { fill: #9198a1 } .grid { stroke: #3d444d } .row { stroke: #6e7681 }
.s0 { fill: #56b4e9 } .s1 { fill: #ff9d5c } .s2 { fill: #3fd6a8 } .s3 { fill: #f0a6cc } .s4 { fill: #e6c84a }
}
</style>
`

// The layout of a plot, in pixels.
const (
	width     = 800
	left      = 290 // of the axis; the labels are before it
	right     = 770
	top       = 74 // of the first row
	rowHeight = 30
)

// SVG returns the plot as an SVG document.
func (p *Plot) SVG() string {
	var b strings.Builder
	bottom := top + rowHeight*len(p.Rows)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-label="%s">`+"\n",
		width, bottom+34, html.EscapeString(p.Title))
	b.WriteString(style)
	fmt.Fprintf(&b, `<text x="16" y="24" class="title">%s</text>`+"\n", html.EscapeString(p.Title))
	x := 16.0
	for i, name := range p.Names {
		fmt.Fprintf(&b, `%s transform="translate(%.0f 46)"/><text x="%.0f" y="50">%s</text>`+"\n",
			marks[i], x+6, x+18, html.EscapeString(name))
		x += 46 + 7.5*float64(len([]rune(name)))
	}
	ticks, position := p.axis()
	for _, tick := range ticks {
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" class="grid"/><text x="%.1f" y="%d" class="tick" text-anchor="middle">%s</text>`+"\n",
			position(tick), top-10, bottom, position(tick), bottom+20, tickText(tick))
	}
	for i, row := range p.Rows {
		y := top + rowHeight*i + rowHeight/2
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text><path d="M%d %dH%d" class="row"/>`+"\n",
			left-14, y+4, html.EscapeString(row.Label), left, y, right)
		for series, value := range row.Values {
			if !math.IsNaN(value) {
				fmt.Fprintf(&b, `%s transform="translate(%.1f %d)"><title>%s: %s</title>%s`+"\n", marks[series],
					position(value), y, html.EscapeString(p.Names[series]), Number(value), closing(marks[series]))
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// closing returns the closing tag of a mark.
func closing(mark string) string {
	name, _, _ := strings.Cut(mark[1:], " ")
	return "</" + name + ">"
}

// axis returns the ticks of the axis and the function from values to positions. The first and last
// tick enclose all values.
func (p *Plot) axis() (ticks []float64, position func(float64) float64) {
	least, most := math.Inf(1), 0.0
	for _, row := range p.Rows {
		for _, value := range row.Values {
			if !math.IsNaN(value) {
				least, most = min(least, value), max(most, value)
			}
		}
	}
	scale := func(value float64) float64 { return value }
	if p.IsLog {
		scale = math.Log
		ticks = logTicks(least, most)
	} else {
		ticks = linearTicks(most)
	}
	from, to := scale(ticks[0]), scale(ticks[len(ticks)-1])
	return ticks, func(value float64) float64 {
		return left + (right-left)*(scale(value)-from)/(to-from)
	}
}

// linearTicks returns 4 to 8 round numbers from 0 to at least most.
func linearTicks(most float64) (ticks []float64) {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	for _, part := range []float64{0.2, 0.25, 0.5, 1} {
		if most/(step*part) <= 7 {
			step *= part
			break
		}
	}
	for n := 0.0; ; n++ {
		ticks = append(ticks, n*step)
		if n*step >= most {
			return ticks
		}
	}
}

// logTicks returns 1, 2 and 5 times powers of ten, from at most least to at least most.
func logTicks(least, most float64) (ticks []float64) {
	for power := math.Pow(10, math.Floor(math.Log10(least))); ; power *= 10 {
		for _, factor := range []float64{1, 2, 5} {
			tick := power * factor
			if tick <= least {
				ticks = ticks[:0]
			}
			ticks = append(ticks, tick)
			if tick >= most && len(ticks) > 1 {
				return ticks
			}
		}
	}
}

func tickText(value float64) string {
	if value >= 1000 {
		return thousands(int(value + 0.5))
	}
	return fmt.Sprintf("%.4g", value)
}

// Number formats a number of at most 3 or 4 significant digits.
func Number(value float64) string {
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
