package compatibility

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cosmosblog/proof/docsection"
)

var update = flag.Bool("update", false, "write the tables of docs/compatibility.md")

const (
	page    = "../../docs/compatibility.md"
	columns = 120 // of a line of the page's lists
)

// tables are the sections of claims.txt that are tables of the page.
var tables = []string{"account", "items", "queries", "answers", "change-feed", "scripts", "durability", "request-headers",
	"answer-headers", "statuses", "sdks"}

// TestPage compares the tables and lists of docs/compatibility.md with claims.txt.
func TestPage(t *testing.T) {
	claims, sources := readClaims(t)
	bySection := map[string][]claim{}
	for _, c := range claims {
		bySection[c.section] = append(bySection[c.section], c)
	}
	sections := map[string]string{
		"unknown": unknowns(bySection["unknown"]), "sources": targets(sources), "functions": functions(t, bySection["functions"]),
	}
	for _, name := range tables {
		sections[name] = table(bySection[name])
	}
	for name := range bySection {
		if _, isPart := sections[name]; !isPart {
			t.Errorf("claims.txt has a section %s, which is no part of the page", name)
		}
	}
	for name, want := range sections {
		if *update {
			if err := docsection.Write(page, name, want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := docsection.Read(page, name); err != nil || got != want {
			t.Errorf("the section %s of docs/compatibility.md is out of date (%v): "+
				"run go test ./proof/compatibility -update", name, err)
		}
	}
}

// reference matches a link of the page to a source.
var reference = regexp.MustCompile(`\[([a-z][a-z0-9-]*)\][^(\[]`)

// code matches code within a line.
var code = regexp.MustCompile("`[^`\n]*`")

// TestProseCitesSources checks that the links between the tables lead to sources, too.
func TestProseCitesSources(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, sources := readClaims(t)
	prose := code.ReplaceAllString(string(text), "`code`")
	for _, link := range reference.FindAllStringSubmatch(prose, -1) {
		if !slices.ContainsFunc(sources, func(s source) bool { return s.key == link[1] }) {
			t.Errorf("docs/compatibility.md cites %s, which is not among the sources", link[1])
		}
	}
}

// table returns the Markdown of a table.
func table(claims []claim) string {
	var b strings.Builder
	b.WriteString("| | | | Source | Test |\n|---|---|---|---|---|\n")
	for _, c := range claims {
		for _, cell := range []string{c.behaviour, c.support, c.note, citation(c), strings.Join(c.tests, ", ")} {
			b.WriteString("| ")
			if cell != "" {
				b.WriteString(strings.ReplaceAll(cell, "|", `\|`) + " ")
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// citation returns the Markdown of a claim's sources: links, and words for what has none.
func citation(c claim) string {
	var links []string
	for _, key := range c.sources {
		switch key {
		case assumed:
			key = "*our belief*"
		case ours:
			key = "*ours*"
		default:
			key = "[" + key + "]"
		}
		links = append(links, key)
	}
	return strings.Join(links, ", ")
}

// unknowns returns the Markdown of the list of beliefs.
func unknowns(claims []claim) string {
	var b strings.Builder
	for _, c := range claims {
		b.WriteString(wrap("- " + c.behaviour + " (" + citation(c) + ")"))
	}
	return b.String()
}

// targets returns the targets of the links to the sources. Markdown does not show them.
func targets(sources []source) string {
	sources = slices.Clone(sources)
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.key, b.key) })
	var b strings.Builder
	for _, s := range sources {
		fmt.Fprintf(&b, "[%s]: %s\n", s.key, s.address)
	}
	return b.String()
}

// wrap breaks an item of a list into lines of the page's width.
func wrap(item string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Fields(item) {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width+1+length > columns:
			b.WriteString("\n  ")
			width = 2
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += length
	}
	return b.String() + "\n"
}

func TestTable(t *testing.T) {
	got := table([]claim{{behaviour: "`||`", support: built, sources: []string{"a", assumed, ours}, tests: []string{"TestA", "TestB"}}})
	if want := "| | | | Source | Test |\n|---|---|---|---|---|\n| `\\|\\|` | built | | [a], *our belief*, *ours* | TestA, TestB |\n"; got != want {
		t.Errorf("table returns %q, want %q", got, want)
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("é", columns/2)
	if got, want := wrap("- "+long+" a "+long), "- "+long+" a\n  "+long+"\n"; got != want {
		t.Errorf("wrap returns %q, want %q", got, want)
	}
}
