package projector_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var mutantsFlag = flag.Bool("mutants", false, "run TestMutantsAreFound, which builds the projector with mistakes in it")

// mutant is a mistake: a text of a file that is another one.
type mutant struct{ file, right, wrong string }

var mutants = map[string]mutant{
	"no guard": {"../store/view.go",
		"case err != nil || current.Revision >= post.Revision:",
		"case err != nil:"},
	"the checkpoint comes before the views": {"reader.go",
		"	for _, changes := range r.portions(",
		"	if err := r.held.advance(ctx, page.ResourceID, page.Continuation, len(page.Changes)); err != nil {\n		return false, err\n	}\n" +
			"	for _, changes := range r.portions("},
	"no second sweep": {"sweeper.go",
		"	if err = s.store.FinishPass(ctx, sweep); err == nil {\n",
		"	sweep.Last = true\n	if err = s.store.FinishPass(ctx, sweep); err == nil {\n"},
	"trimmed by count, and not by position": {"../store/js/truncateFeed.js",
		"writeHorizon(oldest[oldest.length - 1], () => remove(oldest));",
		"remove(oldest);"},
}

// TestMutantsAreFound makes mistakes that a projector must not make, one at a time, in a copy of the sources that only the
// compiler sees, and looks whether the storm finds them.
func TestMutantsAreFound(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("it compiles the projector several times: -mutants asks for it")
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			output, err := m.run(t)
			if err == nil {
				t.Fatal("the storm does not find it")
			}
			_, found, ok := strings.Cut(output, "repeat with -run")
			if !ok || strings.Contains(output, "panic:") {
				t.Fatalf("it fails for another reason: %v\n%s", err, output)
			}
			t.Log(strings.SplitN(found, "\n", 2)[0])
		})
	}
}

// run lets the storm rage over the mutant, and gives what it writes.
func (m mutant) run(t *testing.T) (string, error) {
	t.Helper()
	path, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), m.right) != 1 {
		t.Fatalf("%s has another text by now: the mutant must be made anew", m.file)
	}
	wrong, overlay := filepath.Join(t.TempDir(), "mutant"+filepath.Ext(path)), filepath.Join(t.TempDir(), "overlay.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{path: wrong}})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{wrong: strings.Replace(string(source), m.right, m.wrong, 1), overlay: string(replaced)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-run", "^TestStorm$", ".",
		"-steps", "50400").CombinedOutput()
	return string(output), err
}
