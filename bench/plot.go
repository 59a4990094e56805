package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// plot is a dot plot: a row for each label, with a mark for each named series.
type plot struct {
	title string
	isLog bool     // logarithmic axis, otherwise it starts at 0
	names []string // of the series, at most len(plotMarks)
	rows  []plotRow
}

type plotRow struct {
	label  string
	values []float64 // by series; NaN if there is none
}

// plotMarks are the shapes of the series, around the origin. Shapes and lightness differ, so that
// the series can be told apart without colours.
var plotMarks = []string{
	`<circle r="5.5" class="s0"`,
	`<path d="M-5-5H5V5H-5Z" class="s1"`,
	`<path d="M0-7 7 0 0 7-7 0Z" class="s2"`,
	`<path d="M0-6.5 6.5 5H-6.5Z" class="s3"`,
	`<path d="M0 6.5 6.5-5H-6.5Z" class="s4"`,
}

// plotStyle has the colours for light and dark pages (Okabe and Ito, "Color universal design",
// 2008). The background is the page's.
const plotStyle = `<style>
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
	plotWidth     = 800
	plotLeft      = 290 // of the axis; the labels are before it
	plotRight     = 770
	plotTop       = 74 // of the first row
	plotRowHeight = 30
)

// svg returns the plot as an SVG document.
func (p *plot) svg() string {
	var b strings.Builder
	bottom := plotTop + plotRowHeight*len(p.rows)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-label="%s">`+"\n",
		plotWidth, bottom+34, html.EscapeString(p.title))
	b.WriteString(plotStyle)
	fmt.Fprintf(&b, `<text x="16" y="24" class="title">%s</text>`+"\n", html.EscapeString(p.title))
	x := 16.0
	for i, name := range p.names {
		fmt.Fprintf(&b, `%s transform="translate(%.0f 46)"/><text x="%.0f" y="50">%s</text>`+"\n",
			plotMarks[i], x+6, x+18, html.EscapeString(name))
		x += 46 + 7.5*float64(len([]rune(name)))
	}
	ticks, position := p.axis()
	for _, tick := range ticks {
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" class="grid"/><text x="%.1f" y="%d" class="tick" text-anchor="middle">%s</text>`+"\n",
			position(tick), plotTop-10, bottom, position(tick), bottom+20, tickText(tick))
	}
	for i, row := range p.rows {
		y := plotTop + plotRowHeight*i + plotRowHeight/2
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text><path d="M%d %dH%d" class="row"/>`+"\n",
			plotLeft-14, y+4, html.EscapeString(row.label), plotLeft, y, plotRight)
		for series, value := range row.values {
			if !math.IsNaN(value) {
				fmt.Fprintf(&b, `%s transform="translate(%.1f %d)"><title>%s: %s</title>%s`+"\n", plotMarks[series],
					position(value), y, html.EscapeString(p.names[series]), number(value), closing(plotMarks[series]))
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
func (p *plot) axis() (ticks []float64, position func(float64) float64) {
	least, most := math.Inf(1), 0.0
	for _, row := range p.rows {
		for _, value := range row.values {
			if !math.IsNaN(value) {
				least, most = min(least, value), max(most, value)
			}
		}
	}
	scale := func(value float64) float64 { return value }
	if p.isLog {
		scale = math.Log
		ticks = logTicks(least, most)
	} else {
		ticks = linearTicks(most)
	}
	from, to := scale(ticks[0]), scale(ticks[len(ticks)-1])
	return ticks, func(value float64) float64 {
		return plotLeft + (plotRight-plotLeft)*(scale(value)-from)/(to-from)
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
