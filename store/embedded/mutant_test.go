package embedded

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
// expects the simulation to fail. Only the compiler sees the changed source.
func TestMutantsAreFound(t *testing.T) {
	if !*mutants {
		t.Skip("compiles the engine several times; run with -mutants")
	}
	for name, m := range map[string]struct{ file, right, wrong string }{
		"no sync": {"commit.go",
			"ApplyNoSyncWait(batch, pebble.Sync)",
			"Apply(batch, pebble.NoSync)"},
		"numbers out of order": {"commit.go",
			"	t.writeItems(batch, r)\n",
			"	r.lsn ^= 1\n	t.writeItems(batch, r)\n	r.lsn ^= 1\n"},
		"a number is assigned out of turn": {"commit.go",
			"	t.writeItems(batch, r)\n",
			"	t.writeItems(batch, r)\n	r.mu.Unlock()\n	for range 100 {\n		runtime.Gosched()\n	}\n	r.mu.Lock()\n"},
		"commit before the script ends": {"item.go",
			"	if err := work(t); err != nil {\n",
			"	if err := work(t); err != nil {\n		t.commit()\n"},
		"numbers are reused after a crash": {"commit.go",
			"	ceiling, err := e.meta(string(ceilingKey(c.number, r.number)))\n",
			"	ceiling, err := e.meta(string(ceilingKey(c.number, r.number)))\n	ceiling = max(ceiling, reservedNumbers) - reservedNumbers\n"},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := mutated(t, m.file, m.right, m.wrong)
			if err == nil {
				t.Fatal("the simulation does not fail")
			}
			if !strings.Contains(output, "simulation-seed") {
				t.Fatalf("unexpected failure: %v\n%s", err, output)
			}
			_, found, _ := strings.Cut(output, "simulation-seed")
			t.Log(strings.SplitN(found, "\n", 2)[0])
		})
	}
}

// mutated runs the simulation with a changed source text and returns its output.
func mutated(t *testing.T, file, right, wrong string) (string, error) {
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
	output, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-run", "^TestSimulation$",
		".", "-simulation-steps", "20000").CombinedOutput()
	return string(output), err
}
