package engine

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cosmosblog/engine/value"
)

// sampledFunction is a section of testdata/functions.txt.
type sampledFunction struct {
	name    string
	types   []string // of the arguments
	least   int      // number of arguments
	repeats bool     // the last argument may be repeated
	samples [][2]string
}

// anything are the types of arguments. Each stands for itself as a constant, and as the property of
// the item "all".
var anything = []string{"undefined", "null", "boolean", "number", "string", "array", "object"}

var constantOf = map[string]string{"undefined": "undefined", "null": "null", "boolean": "true", "number": "2", "string": "'ab'", "array": "['a']", "object": "{a: 1}"}

// accepted returns the types that an argument of a declared type may have.
func accepted(declared string) []string {
	switch declared {
	case "anything":
		return anything
	case "any":
		return anything[1:]
	}
	return strings.Split(declared, " or ")
}

var sources = []string{"document", "evaluator", "report", "definition", "belief"}

// functionSamples reads testdata/functions.txt.
func functionSamples(t *testing.T) (items []string, functions []sampledFunction) {
	t.Helper()
	text, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	intro, sections, _ := strings.Cut(string(text), "\n## ")
	for _, line := range strings.Split(intro, "\n") {
		if strings.HasPrefix(line, "{") {
			items = append(items, line)
		}
	}
	for _, section := range strings.Split(sections, "\n## ") {
		lines := strings.Split(strings.TrimSpace(section), "\n")
		name, arguments, _ := strings.Cut(strings.TrimSuffix(lines[0], ")"), "(")
		f := sampledFunction{name: name, repeats: strings.HasSuffix(arguments, "…")}
		for _, declared := range strings.Split(strings.TrimSuffix(arguments, "…"), ", ") {
			f.types = append(f.types, strings.Trim(declared, "[]"))
			if !strings.HasPrefix(declared, "[") {
				f.least++
			}
		}
		if f.repeats {
			f.least-- // the repeated argument may be absent
		}
		source := ""
		for _, line := range lines[1:] {
			sample, result, ok := strings.Cut(line, " → ")
			switch {
			case slices.Contains(sources, line):
				source = line
			case !ok || source == "":
				t.Fatalf("%s: %q is neither a sample with a source nor a source", name, line)
			default:
				f.samples = append(f.samples, [2]string{sample, result})
			}
		}
		functions = append(functions, f)
	}
	return items, functions
}

// claimedFunctions returns the functions and aggregates of the claims about queries.
func claimedFunctions(t *testing.T) (names []string) {
	t.Helper()
	for _, row := range languageTable(t) {
		if row.answer == "built" && (slices.Contains(strings.Split(row.source, ", "), "functions") || strings.HasPrefix(row.name, "`COUNT`")) {
			for _, quoted := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(row.name, -1) {
				names = append(names, quoted[1])
			}
		}
	}
	return names
}

// TestFunctions sends the samples of testdata/functions.txt over HTTP. Every function that
// docs/compatibility.md claims needs some. It also calls each function with arguments of all types,
// constant and not, and with too few and too many.
func TestFunctions(t *testing.T) {
	a := newBlog(t, Options{})
	a.must(201, a.send("POST", "dbs/blog/colls", `{"id":"f","partitionKey":{"paths":["/pk"],"version":2}}`))
	items, functions := functionSamples(t)
	for _, item := range items {
		a.must(201, a.send("POST", "dbs/blog/colls/f/docs", item, "pk", "p"))
	}
	query := func(text string) answer {
		return a.send("POST", "dbs/blog/colls/f/docs", queryBody(text), "pk", "p", "Content-Type", "application/query+json", "x-ms-documentdb-query", "True")
	}
	// result evaluates an expression: for the item "all", and without FROM if it is constant.
	result := func(expression string) string {
		got := query("SELECT VALUE {r: " + expression + "} FROM c WHERE c.id = 'all'")
		if !strings.Contains(expression, "c.") && !strings.Contains(expression, "c[") && !strings.Contains(expression, "(c)") {
			if constant := query("SELECT VALUE {r: " + expression + "}"); constant.status != got.status || !value.Equal(constant.body.Get("Documents"), got.body.Get("Documents")) {
				t.Errorf("%s is %s for an item, and %s without", expression, got.text, constant.text)
			}
		}
		return resultOf(got, func(rows value.Value) value.Value { return rows.At(0).Get("r") })
	}
	sampled := map[string]bool{}
	for _, f := range functions {
		sampled[f.name] = len(f.samples) > 0
		isAggregate := strings.HasPrefix(f.samples[0][0], "SELECT")
		for _, s := range f.samples {
			got := ""
			if isAggregate {
				got = resultOf(query(s[0]), func(rows value.Value) value.Value { return rows })
			} else {
				got = result(s[0])
			}
			if got != s[1] && !sameJSON(got, s[1]) {
				t.Errorf("%s is %s, want %s", s[0], got, s[1])
			}
		}
		if !isAggregate {
			f.tryTypes(t, result)
		}
	}
	for _, name := range claimedFunctions(t) {
		if !sampled[name] {
			t.Errorf("%s is claimed and has no samples", name)
		}
		delete(sampled, name)
	}
	for name := range sampled {
		t.Errorf("%s has samples and is not claimed", name)
	}
}

// resultOf returns a part of a query's rows as JSON, "error" for numbers that are not finite, or
// another status.
func resultOf(got answer, part func(rows value.Value) value.Value) string {
	rows := part(got.body.Get("Documents"))
	switch {
	case got.status == 400 && got.header.Get("X-Ms-Substatus") == "4001":
		return "error"
	case got.status != 200:
		return fmt.Sprint("status ", got.status)
	case rows.IsUndefined():
		return "undefined"
	}
	return rows.String()
}

func sameJSON(a, b string) bool {
	x, err := value.Parse([]byte(a))
	y, err2 := value.Parse([]byte(b))
	return err == nil && err2 == nil && value.Equal(x, y)
}

// tryTypes calls the function with arguments of every type and in every number.
func (f sampledFunction) tryTypes(t *testing.T, result func(expression string) string) {
	t.Helper()
	const rejected = "status 400"
	call := func(arguments []string) string { return f.name + "(" + strings.Join(arguments, ", ") + ")" }
	forms := []func(kind string) string{
		func(kind string) string { return constantOf[kind] },
		func(kind string) string { return `c["` + kind + `"]` },
	}
	valid := make([]string, len(f.types)) // types that every argument accepts
	for i, declared := range f.types {
		if valid[i] = accepted(declared)[0]; declared == "any" || declared == "anything" {
			valid[i] = "string"
		}
	}
	for _, form := range forms {
		for count := range len(f.types) + 2 {
			arguments := make([]string, count)
			for i := range arguments {
				arguments[i] = form(valid[min(i, len(valid)-1)])
			}
			allowed := count >= f.least && (count <= len(f.types) || f.repeats)
			if got := result(call(arguments)); allowed == (got == rejected) {
				t.Errorf("%s is %s", call(arguments), got)
			}
		}
		for i, declared := range f.types {
			for _, kind := range anything {
				arguments := make([]string, len(f.types))
				for j := range arguments {
					arguments[j] = form(valid[j])
				}
				arguments[i] = form(kind)
				got := result(call(arguments))
				if got == rejected || !slices.Contains(accepted(declared), kind) && got != "undefined" {
					t.Errorf("%s is %s", call(arguments), got)
				}
			}
		}
	}
}
