package engine

import (
	"os"
	"slices"
	"strings"
	"testing"

	"cosmosblog/engine/value"
)

const (
	languageContainer = `{"id":"l","partitionKey":{"paths":["/pk"],"version":2},"indexingPolicy":{"compositeIndexes":[
		[{"path":"/n"},{"path":"/s","order":"descending"}]]}}`
	languageDocs = "dbs/d/colls/l/docs"
)

// languageItems are the items that the queries of testdata/language.txt read.
var languageItems = []string{
	`{"id":"a","pk":"p","n":1,"s":"Oslo","b":true,"o":{"x":1,"y":[1,"two",{"k":3}],"a":5}}`,
	`{"id":"b","pk":"p","n":2,"s":"Bern"}`,
	`{"id":"c","pk":"p","n":"2","order":"third"}`,
	`{"id":"d","pk":"p","o":null}`,
}

// languageRow is a claim about queries, of which docs/compatibility.md has a table.
type languageRow struct{ name, answer, source string }

// languageTable returns the claims of the section queries of proof/compatibility/claims.txt.
func languageTable(t *testing.T) (rows []languageRow) {
	text, err := os.ReadFile("../proof/compatibility/claims.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## queries\n\n")
	section, _, _ = strings.Cut(section, "\n\n## ")
	for _, entry := range strings.Split(section, "\n\n") {
		name, attributes, _ := strings.Cut(entry, "\n")
		row := languageRow{name: name}
		for _, line := range strings.Split(attributes, "\n") {
			switch key, given, _ := strings.Cut(strings.TrimSpace(line), ": "); key {
			case "support":
				row.answer = given
			case "source":
				row.source = given
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// example is a query of testdata/language.txt.
type example struct {
	row, text string
	rows      string // as JSON; empty if the query is rejected
	at        int    // offset of the error
}

func languageExamples(t *testing.T) (examples []example) {
	text, err := os.ReadFile("testdata/language.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, all, _ := strings.Cut(string(text), "\n\n")
	row := ""
	for _, line := range strings.Split(strings.TrimSpace(all), "\n") {
		name, isName := strings.CutPrefix(line, "## ")
		given, isResult := strings.CutPrefix(line, "\t")
		switch {
		case line == "":
		case isName:
			row = name
		case isResult:
			examples[len(examples)-1].rows = given
		default:
			at := strings.Index(line, "‸")
			examples = append(examples, example{row: row, text: strings.Replace(line, "‸", "", 1), at: at})
		}
	}
	return examples
}

// TestLanguage sends the queries of testdata/language.txt over HTTP and compares the claims about
// queries with the results. Supported features must return the expected rows, unsupported ones 400
// with the offset of the error. Every claim needs a query.
func TestLanguage(t *testing.T) {
	a := newAccount(t, Options{})
	a.must(201, a.send("POST", "dbs", `{"id":"d"}`))
	a.must(201, a.send("POST", "dbs/d/colls", languageContainer))
	for _, item := range languageItems {
		a.must(201, a.send("POST", languageDocs, item, "pk", "p"))
	}
	answered, rejected := map[string]int{}, map[string]int{}
	for _, e := range languageExamples(t) {
		got := a.send("POST", languageDocs, queryBody(e.text, "@one", "1", "@text", `"it's"`, "@list", "[7]"), "pk", "p",
			"Content-Type", "application/query+json", "x-ms-documentdb-query", "True")
		if e.at >= 0 {
			rejected[e.row]++
			checkRejected(t, e, got)
			continue
		}
		answered[e.row]++
		checkAnswered(t, e, got)
	}
	for _, row := range languageTable(t) {
		answers := row.answer == "built" || row.answer == "differs"
		if answers != (answered[row.name] > 0) || !answers && rejected[row.name] == 0 {
			t.Errorf("%s: %s, but %d queries succeed and %d are rejected", row.name, row.answer, answered[row.name], rejected[row.name])
		}
		delete(answered, row.name)
		delete(rejected, row.name)
	}
	for name := range rejected {
		answered[name]++
	}
	for name := range answered {
		t.Errorf("%s is no claim", name)
	}
}

// checkAnswered compares the rows, without the system properties of whole items.
func checkAnswered(t *testing.T, e example, got answer) {
	t.Helper()
	want, err := value.Parse([]byte(e.rows))
	if err != nil || got.status != 200 {
		t.Errorf("%s: %d %s, want %s (%v)", e.text, got.status, got.text, e.rows, err)
		return
	}
	rows := slices.Clone(got.items())
	for i, row := range rows {
		if !row.Get("c").Get("_rid").IsUndefined() {
			rows[i] = row.With("c", withoutSystem(row.Get("c")))
		} else if !row.Get("_rid").IsUndefined() {
			rows[i] = withoutSystem(row)
		}
	}
	if !value.Equal(value.Array(rows), want) {
		t.Errorf("%s returns %v, want %s", e.text, value.Array(rows), e.rows)
	}
}

func checkRejected(t *testing.T, e example, got answer) {
	t.Helper()
	message, _ := got.body.Get("message").AsString()
	text, _, _ := strings.Cut(message, "\r\n") // the service's message ends with an activity id
	parsed, err := value.Parse([]byte(text))
	at, _ := parsed.Get("errors").At(0).Get("location").Get("start").AsNumber()
	if got.status != 400 || err != nil || int(at) != e.at {
		t.Errorf("%s: %d %s, want 400 at offset %d", e.text, got.status, got.text, e.at)
	}
}
