//go:build ci

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// turns returns a result of rounds with rates.
func turns(processor time.Duration, rates ...float64) *result {
	r := &result{rates: rates, isTimed: processor > 0, processor: processor, elapsed: time.Second, generator: time.Second / 4}
	for n := 1; n <= 100; n++ {
		r.requests++
		r.latencies = append(r.latencies, time.Duration(101-n)*time.Millisecond)
	}
	return r
}

func TestThroughputReport(t *testing.T) {
	o := &options{name: "throughput", settings: settings{operations: []string{"post", "like"}}}
	cold, warm, bare, before := &side{name: "cold"}, &side{name: "warm"}, &side{name: "bare"}, &side{name: beforeSide}
	c := comparison{
		"post": {"cold": turns(time.Second, 90, 100, 110), "warm": turns(time.Second/2, 200, 200, 200),
			"bare": turns(time.Second/10, 1000, 1000, 1000), beforeSide: turns(2*time.Second, 45, 50, 55)},
		"like": {"cold": turns(0, 10), "warm": turns(0, 10), beforeSide: turns(0, 40)},
	}
	c["post"]["cold"].allocations = 61_200
	r := newThroughputReport(o, c, []*side{cold, warm}, []*side{bare, before})
	const want = `|  | Cache | Requests/s | Ratio to bare | Ratio to before | Processor time, µs | Ratio to before | Allocations | p50, ms | p99, ms |
|---|---|---|---|---|---|---|---|---|---|
| a post | cold | 100 | 0.10 | 2.00 | 10,000 | 0.50 | 612 | 50.0 | 99.0 |
| a post | warm | 200 | 0.20 | 4.00 | 5,000 | 0.25 | not measured | 50.0 | 99.0 |
| like a post | cold | 10.0 | – | 0.25 | not measured | not measured | not measured | 50.0 | 99.0 |
| like a post | warm | 10.0 | – | 0.25 | not measured | not measured | not measured | 50.0 | 99.0 |
`
	if got := r.table.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(r.section(), "25 % with bare, 25 % with before") {
		t.Errorf("the section has no share of the generator:\n%s", r.section())
	}
	if !math.IsNaN(r.plot.Rows[1].Values[2]) || r.plot.Rows[0].Values[3] != 50 {
		t.Errorf("the plot has the rows %v", r.plot.Rows)
	}
	c["post"]["warm"].processor, c["post"][beforeSide].processor = 0, 0 // less than its resolution
	r = newThroughputReport(o, c, []*side{cold, warm}, []*side{bare, before})
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestGrowthReport(t *testing.T) {
	o := &options{name: "growth", users: 20}
	c := comparison{"post": {"1x": turns(time.Second, 100, 200), "10x": turns(2*time.Second, 50, 100)}}
	r := newGrowthReport(o, c, []string{"post"}, []*side{{name: "1x"}, {name: "10x"}})
	if want := "| a post | 150 | 2.00 | 2.00 |\n"; !strings.HasSuffix(r.table.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", r.table.String(), want)
	}
	if r.plot.Names[1] != "200 users" || r.plot.Rows[0].Values[1] != 2 {
		t.Errorf("the plot has %v and %v", r.plot.Names, r.plot.Rows)
	}
}

func TestParseProjections(t *testing.T) {
	const output = `goos: linux
BenchmarkProjectors/ranges=1/projectors=2-2     3      510.5 changes/s   17.00 p50-ms   52.00 p99-ms
BenchmarkProjectors/ranges=8/projectors=4       3      466 changes/s   8 p50-ms   31 p99-ms
PASS
`
	got, err := parseProjections(output)
	want := []projection{{1, 2, 510.5, 17, 52}, {8, 4, 466, 8, 31}}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, %v", got, err)
	}
	for _, malformed := range []string{"PASS\n", "BenchmarkProjectors/x-2 3 5 changes/s\n",
		"BenchmarkProjectors/ranges=1/projectors=2-2 3 17 p50-ms\n", "BenchmarkProjectors/ranges=1/projectors=2-2 3 x changes/s\n"} {
		if got, err := parseProjections(malformed); err == nil {
			t.Errorf("%q has %v", malformed, got)
		}
	}
}

// TestWrite requires that a report replaces its own section only, and writes its plot.
func TestWrite(t *testing.T) {
	document := filepath.Join(t.TempDir(), "benchmarks.md")
	if err := os.WriteFile(document, []byte("a\n<!-- projector -->\nold\n<!-- /projector -->\nz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &options{name: "projector"}
	r := newProjectorReport(o, []projection{{1, 2, 510.5, 17, 52}})
	if err := r.write(document); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(document)
	if want := "a\n<!-- projector -->\n" + r.section() + "<!-- /projector -->\nz\n"; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	picture, err := os.ReadFile(filepath.Join(filepath.Dir(document), "plots", "projector.svg"))
	if err != nil || string(picture) != r.plot.SVG() {
		t.Errorf("the plot is %s, %v", picture, err)
	}
}

func TestFlags(t *testing.T) {
	for _, arguments := range []string{
		"throughput", "throughput --only post,like --peer http://127.0.0.1:1/graphql --peer-operations x", "growth --sizes 2",
		"projector --rounds 1",
	} {
		if _, err := parse(strings.Fields(arguments)); err != nil {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	o, err := parse(strings.Fields("throughput --before /one/path --rounds 3 --data /other/path --json"))
	if want := "go run ./bench throughput --before PROGRAM --rounds 3"; err != nil || o.command != want {
		t.Errorf("the command is %s, %v, want %s", o.command, err, want)
	}
	for _, arguments := range []string{
		"throughput --only posts,nothing", "throughput --peer http://127.0.0.1:1/graphql", "throughput --rounds 0",
		"throughput --slice 0s", "throughput --writers 0", "growth --sizes 1", "growth --sizes 4", "growth --peer x",
		"throughput rest", "projector --connections 3",
	} {
		if _, err := parse(strings.Fields(arguments)); err == nil {
			t.Errorf("%s is accepted", arguments)
		}
	}
}

func TestPeer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "requests")
	const lines = `{"operation": "post", "query": "query ($id: ID!) { post(id: $id) { id } }", "variables": {"id": 7}}
{"operation": "post", "query": "{ post(id: 8) { id } }", "authorization": "secret"}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	peer, err := newPeer("http://blog.test/api?x=1", file, "gzip")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{`{"query":"query ($id: ID!) { post(id: $id) { id } }","variables":{"id":7}}`, `{"query":"{ post(id: 8) { id } }"}`} {
		text, err := peer.operations["post"].requests.Append(nil, n+2)
		head, body, _ := strings.Cut(string(text), "\r\n\r\n")
		if err != nil || body != want || !strings.HasPrefix(head, "POST /api?x=1 HTTP/1.1\r\nHost: blog.test:80\r\n") {
			t.Errorf("request %d is %s, %v", n, text, err)
		}
		if strings.Contains(head, "Authorization: Bearer secret\r\n") != (n == 1) || !strings.Contains(head, "Accept-Encoding: gzip\r\n") {
			t.Errorf("request %d has the header %s", n, head)
		}
	}
	for _, malformed := range []string{"{", `{"operation": "nothing", "query": "{ id }"}`} {
		if err := os.WriteFile(file, []byte(malformed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := newPeer("http://blog.test", file, ""); err == nil || !strings.Contains(err.Error(), ":1:") {
			t.Errorf("%s returns the error %v", malformed, err)
		}
	}
	if _, err := newPeer("https://blog.test", file, ""); err == nil {
		t.Error("https is accepted")
	}
}
