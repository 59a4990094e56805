package main

import (
	"os"
	"strings"
	"testing"

	"cosmosblog/internal/config"
)

const readmePath = "README.md"

// readSection gives what the README has between the markers of a name.
func readSection(t *testing.T, name string) string {
	t.Helper()
	_, content, _ := splitDocument(t, readmePath, name)
	return content
}

// section does so too, but with -update it puts want there first.
func section(t *testing.T, name, want string) string {
	t.Helper()
	return sectionOf(t, readmePath, name, want)
}

// sectionOf does for any document what section does for the README.
func sectionOf(t *testing.T, path, name, want string) string {
	t.Helper()
	before, content, after := splitDocument(t, path, name)
	if !*update || content == want {
		return content
	}
	if err := os.WriteFile(path, []byte(before+want+after), 0o644); err != nil {
		t.Fatal(err)
	}
	return want
}

// splitDocument gives a document up to and with the opening marker, between the two, and from the closing one on.
func splitDocument(t *testing.T, path, name string) (before, content, after string) {
	t.Helper()
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
	return before + opening, content, closing + after
}

func TestReadmeTellsTheSettings(t *testing.T) {
	want := config.Markdown()
	if got := section(t, "settings", want); got != want {
		t.Errorf("the README's settings are not those of the program; go test -run %s -update writes them:\n%s", t.Name(), want)
	}
}

func TestReadmeTellsHowToTest(t *testing.T) {
	readme, err := os.ReadFile(readmePath)
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
