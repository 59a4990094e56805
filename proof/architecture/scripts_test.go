package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cosmosblog/blog"
)

// sharedFunctions are functions that several scripts have. A script is one function in one file, so
// each has its own copy.
var sharedFunctions = []string{"count", "fail", "recentComments", "recentOf", "touch"}

// TestScriptsAgree checks that the copies of a function in the scripts are equal, and that the
// scripts keep as many recent comments as the program.
func TestScriptsAgree(t *testing.T) {
	paths, err := filepath.Glob("../../store/schema/js/*.js")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	copies := map[string]int{}
	first := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sharedFunctions {
			_, after, found := strings.Cut(string(text), "\n  function "+name+"(")
			if !found {
				continue
			}
			body, _, _ := strings.Cut(after, "\n  }\n")
			if copies[name]++; copies[name] == 1 {
				first[name] = body
			} else if body != first[name] {
				t.Errorf("%s has another function %s than the other scripts", path, name)
			}
		}
		if _, after, found := strings.Cut(string(text), "const maxRecent = "); found {
			copies["maxRecent"]++
			if want := fmt.Sprint(blog.MaxRecentComments, ";"); !strings.HasPrefix(after, want) {
				t.Errorf("%s keeps %.2s recent comments, want %s", path, after, want)
			}
		}
	}
	for _, name := range append(sharedFunctions, "maxRecent") {
		if copies[name] < 2 {
			t.Errorf("%d scripts have %s", copies[name], name)
		}
	}
}
