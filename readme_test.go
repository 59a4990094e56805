package main

import (
	"os"
	"strings"
	"testing"

	"cosmosblog/internal/config"
)

// section gives what the README has between the markers of a name; with -update it puts want there first.
func section(t *testing.T, name, want string) string {
	t.Helper()
	const path = "README.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opening, closing := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, found := strings.Cut(string(text), opening)
	content, after, closed := strings.Cut(rest, closing)
	if !found || !closed {
		t.Fatalf("%s has no section %s", path, name)
	}
	if *update && content != want {
		content = want
		if err := os.WriteFile(path, []byte(before+opening+content+closing+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return content
}

func TestReadmeTellsTheSettings(t *testing.T) {
	want := config.Markdown()
	if got := section(t, "settings", want); got != want {
		t.Errorf("the README's settings are not those of the program; go test -run %s -update writes them:\n%s", t.Name(), want)
	}
}

func TestReadmeTellsHowToTest(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	checks, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	const command = "\ngo test ./...\n"
	if !strings.Contains(string(readme), command) || !strings.Contains(string(checks), command) {
		t.Errorf("README.md and .ci/run do not both have the line %q", command)
	}
}
