package mutanttest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mutant is a deliberate mistake: one piece of a source file is replaced by another.
type Mutant struct {
	File         string // relative to the package of the test
	Right, Wrong string
	// Tests are the arguments of go test for the tests that must find the mistake: the package, and
	// flags.
	Tests []string
}

// Test plants the mistake in a copy of the sources that only the compiler sees, runs the tests, and
// returns their output. It fails the test if the tests do not find the mistake, or fail for another
// reason.
func (m Mutant) Test(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(m.File)
	if err != nil {
		t.Fatal(err)
	}
	planted := m.Plant(t)
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
	arguments := append([]string{"test", "-tags", "ci", "-overlay", overlay, "-count=1"}, m.Tests...)
	output, err := exec.CommandContext(t.Context(), "go", arguments...).CombinedOutput()
	switch text := string(output); {
	case err == nil:
		t.Fatal("the tests did not find the mistake")
	case !strings.Contains(text, "--- FAIL: ") || strings.Contains(text, "panic:"):
		t.Fatalf("the tests failed for another reason: %v\n%s", err, text)
	}
	return string(output)
}

// Plant returns the source file with the mistake. It fails the test if the source has changed, so
// that the mistake no longer fits.
func (m Mutant) Plant(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(m.File)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), m.Right) != 1 {
		t.Fatalf("%s has changed: update the mutant", m.File)
	}
	return strings.Replace(string(source), m.Right, m.Wrong, 1)
}
