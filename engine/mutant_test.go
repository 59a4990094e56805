package engine

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var mutants = flag.Bool("mutants", false, "run TestMutantsAreFound, which builds the engine with deliberate mistakes")

// TestMutantsAreFound introduces one mistake at a time that a durable store must not make, and
// expects the simulation, or the tests of Changes, to fail. Only the compiler sees the changed
// source.
func TestMutantsAreFound(t *testing.T) {
	if !*mutants {
		t.Skip("compiles the engine several times; run with -mutants")
	}
	const (
		simulation = "^TestSimulation$"
		changes    = "^Test(Changes|CountedReads)"
		counted    = "	t.engine.counts.add(t.container.databaseName, t.container.name, t.partition.epk())\n"
		applied    = "	if err := t.engine.db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {\n		return 0, err\n	}\n"
	)
	for name, m := range map[string]struct{ file, right, wrong, tests string }{
		"no sync": {"commit.go",
			"ApplyNoSyncWait(batch, pebble.Sync)",
			"Apply(batch, pebble.NoSync)", simulation},
		"numbers out of order": {"commit.go",
			"	t.writeItems(batch, r)\n",
			"	r.lsn ^= 1\n	t.writeItems(batch, r)\n	r.lsn ^= 1\n", simulation},
		"a number is assigned out of turn": {"commit.go",
			"	t.writeItems(batch, r)\n",
			"	t.writeItems(batch, r)\n	r.mu.Unlock()\n	for range 100 {\n		runtime.Gosched()\n	}\n	r.mu.Lock()\n", simulation},
		"commit before the script ends": {"item.go",
			"	if err := work(t); err != nil {\n",
			"	if err := work(t); err != nil {\n		t.commit()\n", simulation},
		"numbers are reused after a crash": {"commit.go",
			"	ceiling, err := e.meta(string(ceilingKey(c.number, r.number)))\n",
			"	ceiling, err := e.meta(string(ceilingKey(c.number, r.number)))\n	ceiling = max(ceiling, reservedNumbers) - reservedNumbers\n", simulation},
		"a write is counted before it is visible": {"commit.go",
			applied + counted,
			counted + "	for range 100 {\n		runtime.Gosched()\n	}\n" + applied, changes},
		"a write is not counted": {"commit.go", counted, "", changes},
		"a write is counted after it is acknowledged": {"commit.go",
			counted,
			"	go func() {\n		for range 100 {\n			runtime.Gosched()\n		}\n	" + counted + "	}()\n", changes},
		"a deleted container is not counted": {"catalog.go",
			"	defer e.counts.catalog.Add(1) // also after a failure, which may have removed expired items\n", "", changes},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := mutated(t, m.file, m.right, m.wrong, m.tests)
			if err == nil {
				t.Fatal("the tests do not fail")
			}
			finding := "seed "
			if m.tests == changes {
				finding = "changecount_test.go:"
			}
			_, found, ok := strings.Cut(output, finding)
			if !ok {
				t.Fatalf("unexpected failure: %v\n%s", err, output)
			}
			t.Log(strings.SplitN(found, "\n", 2)[0])
		})
	}
}

// mutated runs tests with a changed source text and returns their output.
func mutated(t *testing.T, file, right, wrong, tests string) (string, error) {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), right) != 1 {
		t.Fatalf("%s has changed: adapt the mutant to it", file)
	}
	text := strings.Replace(string(source), right, wrong, 1)
	if strings.Contains(wrong, "runtime.") {
		text = strings.Replace(text, "import (\n", "import (\n	\"runtime\"\n", 1)
	}
	mutant, overlay := filepath.Join(t.TempDir(), file), filepath.Join(t.TempDir(), "overlay.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{mutant: text, overlay: string(replaced)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-timeout", "3m", "-run", tests,
		".", "-simulation-steps", "20000").CombinedOutput()
	return string(output), err
}
