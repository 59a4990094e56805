// Package docsection reads and writes the generated sections of documents. A section is the text
// between the lines <!-- name --> and <!-- /name -->. Only tests and bench import it.
package docsection

import (
	"fmt"
	"os"
	"strings"
)

// Read returns the text of a section of the document at path. It returns an error if the
// document has no such section.
func Read(path, name string) (string, error) {
	_, content, _, err := split(path, name)
	return content, err
}

// Write replaces the text of a section of the document at path.
func Write(path, name, content string) error {
	before, _, after, err := split(path, name)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+content+after), 0o644)
}

// split returns a document up to and including the opening marker, the section, and the rest.
func split(path, name string) (before, content, after string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", "", err
	}
	opening, closing := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, found := strings.Cut(string(text), opening)
	content, after, closed := strings.Cut(rest, closing)
	if !found || !closed {
		return "", "", "", fmt.Errorf("%s has no section %s", path, name)
	}
	return before + opening, content, closing + after, nil
}
