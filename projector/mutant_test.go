package projector_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var mutantsFlag = flag.Bool("mutants", false, "run TestMutantsAreFound, which compiles the projector with deliberate mistakes")

// mutant is a mistake: one piece of a source file is replaced by another.
type mutant struct{ file, right, wrong string }

var mutants = map[string]mutant{
	"no guard": {"../store/views/copies.go",
		"return current, current.Revision < post.Revision, nil",
		"return current, true, nil"},
	"checkpoint before views": {"reader.go",
		"	for _, changes := range r.portions(",
		"	if err := r.held.advance(ctx, page.ResourceID, page.Continuation, len(page.Changes)); err != nil {\n		return false, err\n	}\n" +
			"	for _, changes := range r.portions("},
	"no second sweep": {"chore.go",
		"finish: func(ctx context.Context, _ int) error { return v.FinishSweepPass(ctx, sweep) },",
		"finish: func(ctx context.Context, _ int) error { sweep.Last = true; return v.FinishSweepPass(ctx, sweep) },"},
	"trim by count instead of by position": {"../store/schema/js/truncateFeed.js",
		"writeHorizon(oldest[oldest.length - 1], () => remove(oldest));",
		"remove(oldest);"},
}

// TestMutantsApply checks that every mutant still fits its source file.
func TestMutantsApply(t *testing.T) {
	for name, m := range mutants {
		if _, err := m.plant(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMutantsAreFound plants one mistake at a time in a copy of the sources that only the
// compiler sees, and checks that TestStorm fails.
func TestMutantsAreFound(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("compiles the projector several times; set -mutants to run it")
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			output, err := m.run(t)
			if err == nil {
				t.Fatal("the storm did not find the mistake")
			}
			_, found, ok := strings.Cut(output, "repeat with -run")
			if !ok || strings.Contains(output, "panic:") {
				t.Fatalf("the storm failed for another reason: %v\n%s", err, output)
			}
			t.Log(strings.SplitN(found, "\n", 2)[0])
		})
	}
}

// run runs TestStorm with the mistake and returns its output.
func (m mutant) run(t *testing.T) (string, error) {
	t.Helper()
	path, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	planted, err := m.plant()
	if err != nil {
		t.Fatal(err)
	}
	wrong, overlay := filepath.Join(t.TempDir(), "mutant"+filepath.Ext(path)), filepath.Join(t.TempDir(), "overlay.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{path: wrong}})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{wrong: planted, overlay: string(replaced)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-run", "^TestStorm$", ".",
		"-steps", "50400").CombinedOutput()
	return string(output), err
}

// plant returns the source file with the mistake.
func (m mutant) plant() (string, error) {
	source, err := os.ReadFile(m.file)
	if err == nil && strings.Count(string(source), m.right) != 1 {
		err = fmt.Errorf("%s has changed: update the mutant", m.file)
	}
	return strings.Replace(string(source), m.right, m.wrong, 1), err
}
