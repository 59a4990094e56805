//go:build ci

package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 100}, 3.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.values, got, c.want)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

func TestQuantile(t *testing.T) {
	var hundred []int
	for n := range 100 {
		hundred = append(hundred, n+1)
	}
	for q, want := range map[float64]int{0: 1, 0.5: 50, 0.99: 99, 0.991: 100, 1: 100} {
		if got := quantile(hundred, q); got != want {
			t.Errorf("the quantile %v is %d, want %d", q, got, want)
		}
	}
	if got := quantile([]int(nil), 0.5); got != 0 {
		t.Errorf("a quantile of nothing is %d", got)
	}
}

// TestMedianRatio requires that the ratio is of the same rounds, so that load on some rounds does
// not change it.
func TestMedianRatio(t *testing.T) {
	values, others := []float64{100, 10, 50, 101}, []float64{200, 20, 100, 10}
	if got := medianRatio(values, others); got != 0.5 {
		t.Errorf("the ratio is %v, want 0.5", got)
	}
}

func TestParseProcessorTime(t *testing.T) {
	const stat = "77 (a ) name) S 1 77 77 0 -1 4194560 100 0 0 0 1234 66 5 6 20 0 9 0 100 1000 50"
	if got, ok := parseProcessorTime(stat); !ok || got != 13*time.Second {
		t.Errorf("got %v, %t", got, ok)
	}
	for _, malformed := range []string{"", "77 (name) S 1 2", "77 (name) S 1 77 77 0 -1 4194560 100 0 0 0 x 66 5"} {
		if got, ok := parseProcessorTime(malformed); ok {
			t.Errorf("%q has the time %v", malformed, got)
		}
	}
}

func TestParseMetrics(t *testing.T) {
	const text = "# HELP x y 3\nlag{range=\"a b\"} 3\nlag{range=\"c\"} 4.5\ngo_memstats_mallocs_total 1.5e+06\n"
	m, err := parseMetrics(strings.NewReader(text))
	if err != nil || len(m) != 2 || m["lag"] != 7.5 || m["go_memstats_mallocs_total"] != 1.5e6 {
		t.Errorf("got %v, %v", m, err)
	}
	if m, err := parseMetrics(strings.NewReader("lag x\n")); err == nil {
		t.Errorf("got %v", m)
	}
}
