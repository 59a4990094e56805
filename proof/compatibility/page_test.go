package compatibility

import (
	"flag"
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

// TestPage compares the tables and the list of docs/compatibility.md with claims.txt.
func TestPage(t *testing.T) {
	claims, _ := readClaims(t)
	bySection := map[string][]claim{}
	for _, c := range claims {
		bySection[c.section] = append(bySection[c.section], c)
	}
	sections := map[string]string{"unknown": unknowns(bySection["unknown"])}
	for _, name := range tables {
		sections[name] = table(bySection[name])
	}
	for name := range bySection {
		if _, isPart := sections[name]; !isPart && name != "functions" {
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

// table returns the Markdown of a table. Claims without a note that follow each other share a row.
func table(claims []claim) string {
	var b strings.Builder
	b.WriteString("| | | |\n|---|---|---|\n")
	for i, c := range claims {
		cell := strings.ReplaceAll(c.behaviour, "|", `\|`)
		isNext := i > 0 && c.note == "" && claims[i-1].note == "" && c.support == claims[i-1].support
		isLast := i+1 == len(claims) || c.note != "" || claims[i+1].note != "" || c.support != claims[i+1].support
		if isNext {
			b.WriteString("; " + cell)
		} else {
			b.WriteString("| " + cell)
		}
		if isLast {
			b.WriteString(strings.ReplaceAll(" | "+c.support+" | "+strings.ReplaceAll(c.note, "|", `\|`)+" |\n", "|  |", "| |"))
		}
	}
	return b.String()
}

// unknowns returns the Markdown of the list of beliefs.
func unknowns(claims []claim) string {
	var b strings.Builder
	for _, c := range claims {
		b.WriteString(wrap("- " + c.behaviour))
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
	got := table([]claim{{behaviour: "`||`", support: built}, {behaviour: "a", support: built}, {behaviour: "b", support: built, note: "n"},
		{behaviour: "c", support: refused, note: "n"}, {behaviour: "d", support: refused}, {behaviour: "e", support: built}})
	want := "| | | |\n|---|---|---|\n| `\\|\\|`; a | built | |\n| b | built | n |\n| c | refused | n |\n| d | refused | |\n| e | built | |\n"
	if got != want {
		t.Errorf("table returns %q, want %q", got, want)
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("é", columns/2)
	if got, want := wrap("- "+long+" a "+long), "- "+long+" a\n  "+long+"\n"; got != want {
		t.Errorf("wrap returns %q, want %q", got, want)
	}
}
