package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPrelude checks that no procedure has a function of its own that the prelude of all has.
func TestPrelude(t *testing.T) {
	prelude, err := os.ReadFile("../../store/schema/js/prelude.js")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\n  (?:function|const) (\w+)`).FindAllStringSubmatch(string(prelude), -1)
	paths, err := filepath.Glob("../../store/schema/js/*.js")
	if err != nil || len(paths) < 3 || len(names) < 3 {
		t.Fatal(paths, names, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			isOwn := strings.Contains(string(text), "\n  "+strings.TrimSpace(name[0])) && strings.Contains(string(text), "(args) {")
			if isOwn && filepath.Base(path) != "prelude.js" {
				t.Errorf("%s has a %s of its own", path, name[1])
			}
		}
	}
}
