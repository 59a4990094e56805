//go:build ci

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var benchFlag = flag.Bool("bench-program", false, "run TestBench, which builds and runs the benchmark")

// TestBench runs the benchmark throughput for a moment, with the program itself and with the same
// program as an earlier build.
func TestBench(t *testing.T) {
	if !*benchFlag {
		t.Skip("builds and runs the benchmark; set -bench-program to run it")
	}
	t.Parallel()
	bench := filepath.Join(t.TempDir(), "bench")
	if output, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bench, "./bench").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	command := exec.Command(bench, "throughput", "--json", "--program", programPath(), "--before", programPath(),
		"--users", "4", "--writers", "3", "--connections", "2", "--rounds", "1", "--slice", "5ms")
	command.Env = append(os.Environ(), fmt.Sprint("GOGC=", collectionPercent))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var report struct {
		Rows []struct {
			Operation, Side                         string
			RequestsPerSecond, P50Millis, P99Millis float64
			Ratios                                  map[string]float64
			Allocations                             *float64
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	sides := map[string]int{}
	for _, row := range report.Rows {
		sides[row.Side]++
		if row.RequestsPerSecond <= 0 || row.P50Millis <= 0 || row.P99Millis < row.P50Millis {
			t.Errorf("%s has no rate or latency: %+v", row.Side, row)
		}
		if row.Operation == "page" && row.Side != "bare" && row.Allocations == nil {
			t.Errorf("%s has no allocations: %+v", row.Side, row)
		}
		if row.Side == "warm" && row.Ratios["before"] <= 0 {
			t.Errorf("%s has no ratio: %+v", row.Side, row)
		}
	}
	const reads, operations = 5, 8
	if sides["cold"] != operations || sides["warm"] != operations || sides["before"] != operations || sides["bare"] != reads {
		t.Errorf("the numbers of operations are %v", sides)
	}
}
