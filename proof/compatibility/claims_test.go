package compatibility

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Two words stand for a source that a claim does not have.
const (
	assumed = "assumed" // nobody but us says so
	ours    = "ours"    // it is about the engine, not about the service
)

// What the engine does with what a claim is about.
const (
	built   = "built"   // as the service does it
	differs = "differs" // not as the service does it in every respect
	refused = "refused"
)

// claim is a row of a table, or an item of the list of unknowns, which has no support.
type claim struct {
	section, behaviour string
	support, note      string
	sources, tests     []string
}

// source is a public text that says what the service does.
type source struct{ key, title, address string }

// entry is an unindented line of claims.txt with the attributes that follow it.
type entry struct {
	section, name string
	attributes    map[string]string
}

// parse splits the text of claims.txt into its entries.
func parse(text string) (entries []entry, err error) {
	section := ""
	for i, line := range strings.Split(text, "\n") {
		attribute, isAttribute := strings.CutPrefix(line, "\t")
		name, isSection := strings.CutPrefix(line, "## ")
		switch {
		case isSection:
			section = name
		case line == "" || section == "": // the introduction stands before the first section
		case isAttribute:
			key, value, found := strings.Cut(attribute, ": ")
			if !found || len(entries) == 0 {
				return nil, fmt.Errorf("line %d: %q is no attribute of an entry", i+1, line)
			}
			last := entries[len(entries)-1].attributes
			if _, isRepeated := last[key]; isRepeated {
				return nil, fmt.Errorf("line %d: %s stands twice", i+1, key)
			}
			last[key] = value
		default:
			entries = append(entries, entry{section, line, map[string]string{}})
		}
	}
	return entries, nil
}

// take removes an attribute from an entry and returns it.
func (e entry) take(key string) string {
	value := e.attributes[key]
	delete(e.attributes, key)
	return value
}

// readClaims returns the claims and the sources of claims.txt.
func readClaims(t *testing.T) (claims []claim, sources []source) {
	t.Helper()
	text, err := os.ReadFile("claims.txt")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.section == "sources" {
			sources = append(sources, source{e.name, e.take("title"), e.take("address")})
		} else {
			c := claim{section: e.section, behaviour: e.name, support: e.take("support"), note: e.take("note")}
			if keys := e.take("source"); keys != "" {
				c.sources = strings.Split(keys, ", ")
			}
			if names := e.take("test"); names != "" {
				c.tests = strings.Split(names, ", ")
			}
			claims = append(claims, c)
		}
		for key := range e.attributes {
			t.Errorf("%s has the unknown attribute %s", e.name, key)
		}
	}
	return claims, sources
}

// TestClaimsHaveSources checks that each claim has a source, and that each source is cited.
func TestClaimsHaveSources(t *testing.T) {
	claims, sources := readClaims(t)
	isCited := map[string]bool{}
	for _, s := range sources {
		if _, isRepeated := isCited[s.key]; isRepeated || s.key == assumed || s.key == ours {
			t.Errorf("two sources are called %s", s.key)
		}
		if isCited[s.key] = false; s.title == "" || !strings.HasPrefix(s.address, "https://") {
			t.Errorf("the source %s has no title or no address", s.key)
		}
	}
	isThere := map[string]bool{}
	for _, c := range claims {
		if isThere[c.section+c.behaviour] {
			t.Errorf("%s stands twice", c.behaviour)
		}
		isThere[c.section+c.behaviour] = true
		checkClaim(t, c)
		for _, key := range c.sources {
			if _, isKnown := isCited[key]; !isKnown && key != assumed && key != ours {
				t.Errorf("%s cites %s, which is not among the sources", c.behaviour, key)
			}
			isCited[key] = true
		}
	}
	for _, s := range sources {
		if !isCited[s.key] {
			t.Errorf("no claim cites %s", s.key)
		}
	}
}

// checkClaim checks what a single claim must have.
func checkClaim(t *testing.T, c claim) {
	t.Helper()
	supports := []string{built, differs, refused}
	switch c.section {
	case "sdks":
		supports = append(supports, "run", "not run")
	case "unknown":
		supports = []string{""}
	}
	if !slices.Contains(supports, c.support) {
		t.Errorf("%s: the support is %q, not one of %q", c.behaviour, c.support, supports)
	}
	if len(c.sources) == 0 {
		t.Errorf("%s has no source", c.behaviour)
	}
	for _, word := range []string{assumed, ours} {
		if strings.Contains(c.note, "("+word) && !slices.Contains(c.sources, word) {
			t.Errorf("%s has a note with (%s), but not that source", c.behaviour, word)
		}
	}
	if c.section != "unknown" && slices.Contains(c.sources, assumed) && !strings.Contains(c.note, assumed) {
		t.Errorf("%s has no other source for something, but its note does not say what is assumed", c.behaviour)
	}
}

func TestParse(t *testing.T) {
	good := "Introduction\n\n## one\n\nName\n\tkey: value: more\n"
	if entries, err := parse(good); err != nil || len(entries) != 1 || entries[0].section != "one" ||
		entries[0].name != "Name" || entries[0].attributes["key"] != "value: more" {
		t.Errorf("parse returns %v, %v", entries, err)
	}
	for _, bad := range []string{"## one\n\tkey: value\n", "## one\nName\n\tkey\n", "## one\nName\n\tkey: 1\n\tkey: 2\n"} {
		if entries, err := parse(bad); err == nil {
			t.Errorf("parse(%q) returns %v", bad, entries)
		}
	}
}
