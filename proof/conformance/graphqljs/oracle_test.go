//go:build ci

package graphqljs_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cosmosblog/graph"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/seed"
)

var (
	graphqljsFlag  = flag.Bool("graphqljs", false, "compare with graphql-js, which needs Node.js and its packages (npm ci in this folder)")
	documentCount  = flag.Int("documents", 500, "number of random documents")
	givenDocument  = flag.String("document", "", "a document to compare, in TestDocument")
	givenVariables = flag.String("variables", "", "the variables of -document, as JSON")
	shownCount     = flag.Int("shown", 1, "number of documents to print for each kind of difference")
	shrinkTries    = flag.Int("shrink", 200, "number of smaller documents to try for each kind of difference")
)

// verdict is what one version of graphql-js makes of a document.
type verdict struct {
	Phase   string   `json:"phase"`
	Rules   []string `json:"rules"`
	Message string   `json:"message"`
	Data    string   `json:"data"`
}

// verdicts are those of both versions.
type verdicts struct {
	V16 verdict `json:"v16"`
	V17 verdict `json:"v17"`
}

// oracle is a process of graphql-js.
type oracle struct {
	*testing.T
	in    io.WriteCloser
	out   *bufio.Reader
	rules []string // of version 17
}

func newOracle(t *testing.T, sdl string, builtins json.RawMessage, data *snapshot) *oracle {
	t.Helper()
	command := exec.CommandContext(t.Context(), "node", "oracle.js")
	command.Stderr = os.Stderr
	command.Env = append(os.Environ(), "NODE_ENV=production") // its checks for developers take long
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = command.Wait() })
	o := &oracle{T: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	o.write(map[string]any{"schema": sdl, "builtins": builtins, "snapshot": data})
	o.read(&o.rules)
	return o
}

// write writes a line. If the process has ended, read says so.
func (o *oracle) write(message any) {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	_, _ = o.in.Write(append(line, '\n'))
}

// ask asks for the verdict on a document. A call of next returns it.
func (o *oracle) ask(d *document) {
	message := map[string]any{"query": d.Query, "isRun": d.Kind != "mutation" || d.Echoes}
	if d.OperationName != nil {
		message["operationName"] = *d.OperationName
	}
	if d.Variables != "" {
		message["variables"] = d.Variables
	}
	o.write(message)
}

func (o *oracle) next() (v verdicts) {
	o.Helper()
	o.read(&v)
	return v
}

// read reads a line.
func (o *oracle) read(into any) {
	o.Helper()
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		o.Fatalf("graphql-js has ended: %v", err)
	}
	if err := json.Unmarshal(line, into); err != nil {
		o.Fatal(err)
	}
}

const builtinsQuery = `{ __schema {
	types { name description fields(includeDeprecated: true) { name description args { name description } } enumValues { name description } }
	directives { name description args { name description } } } }`

// newComparison starts the servers and graphql-js.
func newComparison(t *testing.T) *comparison {
	t.Helper()
	if !*graphqljsFlag {
		t.Skip("NOT CHECKED without -graphqljs: whether the server answers as graphql-js does")
	}
	c := &comparison{T: t, reads: newServer(t), writes: newServer(t), found: map[string][]*document{}, counts: map[string]int{}, broken: map[string]int{}}
	c.reads.stream()
	c.writes.streams = c.writes.url
	c.data = c.reads.takeSnapshot()
	sdl, err := os.ReadFile("../../../schema.graphqls")
	if err != nil {
		t.Fatal(err)
	}
	introspected := c.reads.send(&document{Query: builtinsQuery, Kind: "query"}, "")
	var builtins struct {
		Schema json.RawMessage `json:"__schema"`
	}
	if err := json.Unmarshal(introspected.Data, &builtins); err != nil {
		t.Fatalf("%v %.1000s", err, introspected.Body)
	}
	c.oracle = newOracle(t, string(sdl), builtins.Schema, c.data)
	return c
}

// TestDocument prints what the server and graphql-js make of the document of -document.
func TestDocument(t *testing.T) {
	if *givenDocument == "" {
		t.Skip("without -document")
	}
	c := newComparison(t)
	kind, _, _ := strings.Cut(strings.TrimSpace(*givenDocument), " ")
	if kind != "mutation" && kind != "subscription" {
		kind = "query"
	}
	d := &document{Query: *givenDocument, Variables: *givenVariables, Kind: kind}
	c.oracle.ask(d)
	difference := c.compare(d, c.oracle.next(), true)
	if t.Log(c.detail); difference != "" {
		t.Error(difference)
	}
}

// TestDocuments sends random documents to the server and to graphql-js.
func TestDocuments(t *testing.T) {
	c := newComparison(t)
	g := newGenerator(testseed.Rand(t), graph.NewExecutableSchema(graph.Config{}).Schema(), c.data)
	documents := make(chan *document, 64)
	go func() {
		defer close(documents)
		for range *documentCount {
			d := g.next()
			c.oracle.ask(d)
			documents <- d
		}
	}()
	for d := range documents {
		if difference := c.compare(d, c.oracle.next(), true); difference != "" {
			c.found[difference] = append(c.found[difference], d)
		}
	}
	c.report()
}

// seedSubject is the account of the first user of the data.
var seedSubject = seed.Subject(1, 3, 0)

// comparison collects documents on which the server and graphql-js differ.
type comparison struct {
	*testing.T
	oracle        *oracle
	reads, writes *server
	data          *snapshot              // of reads
	found         map[string][]*document // by the kind of the difference
	counts        map[string]int         // of documents, by their outcome
	broken        map[string]int         // of documents that break a rule, by the rule
	detail        string                 // what both sides said of the last document
}

// compare sends a document to the server, and returns the kind of the difference to the verdicts,
// or nothing.
func (c *comparison) compare(d *document, v verdicts, isCounted bool) string {
	c.Helper()
	target, token := c.reads, ""
	if d.Kind == "mutation" {
		target, token = c.writes, seedSubject
	}
	r := target.send(d, token)
	count := func(outcome string) {
		if isCounted {
			c.counts[outcome]++
		}
	}
	want, unknown := decide(d, v)
	if unknown != "" {
		return "differences_test.go does not know this difference: " + unknown
	}
	c.detail = fmt.Sprintf("graphql-js 16: %s\ngraphql-js 17: %s\nserver: %s %v %.300s %.600s", v.V16, v.V17, r.Phase, r.Codes, r.Message, r.Data)
	for _, rule := range want.Rules {
		if isCounted {
			c.broken[rule]++
		}
	}
	if r.IsSilent {
		count("silent stream")
	}
	if slices.Contains(r.Codes, "INTERNAL") {
		return "INTERNAL, for graphql-js: " + want.kind()
	}
	for _, p := range permitted {
		if p.isThis(d, want, r) {
			count("permitted by section " + p.section)
			return ""
		}
	}
	switch {
	case r.Phase == "limit":
		count("above a limit")
		return ""
	case want.Phase != r.Phase:
		difference := want.kind() + ", but for the server: " + r.Phase
		if want.Phase == "run" {
			difference += ": " + general(r.Message)
		}
		return difference
	case want.Phase != "run" && r.Requests > 0 && d.Kind != "subscription":
		return "a refused document sent requests to the database: " + want.kind()
	}
	if count(want.Phase); want.Data == "" || want.Phase != "run" {
		return ""
	}
	if d.Kind == "subscription" && (r.Data == nil || bytes.Contains(r.Data, []byte(`"postChanged":null`))) {
		count("streams without data")
		return ""
	}
	if d.Echoes && bytes.Contains(r.Data, []byte(`"createPost":null`)) {
		count("refused by the blog's own rules")
		return ""
	}
	count("equal data")
	if canonical(c.T, []byte(want.Data), d.introspects()) == canonical(c.T, r.Data, d.introspects()) {
		return ""
	}
	if d.introspects() {
		return "other data of an introspection"
	}
	return "other data of a " + d.Kind
}

// kind describes a verdict in a word.
func (v verdict) kind() string {
	if v.Phase == "validation" {
		return "validation (" + strings.Join(v.Rules, ", ") + ")"
	}
	return v.Phase
}

func (v verdict) String() string { return fmt.Sprintf("%s %.300s %.600s", v.kind(), v.Message, v.Data) }

// notBreakable are the rules that no document can break: the schema has all root types, and neither
// @defer nor @stream.
var notBreakable = []string{
	"KnownOperationTypes",
	"DeferStreamDirectiveOnRootField", "DeferStreamDirectiveOnValidOperations", "DeferStreamDirectiveLabel", "StreamDirectiveOnListField",
}

// report fails the test for each kind of difference, and prints its shortest documents.
func (c *comparison) report() {
	c.Helper()
	c.Logf("%v", c.counts)
	c.Logf("documents that break a rule: %v", c.broken)
	for _, rule := range c.oracle.rules {
		if c.broken[rule] == 0 && !slices.Contains(notBreakable, rule) && *documentCount >= 500 {
			c.Errorf("no document breaks the rule %s", rule)
		}
	}
	if share := c.counts["above a limit"] * 20; share > *documentCount {
		c.Errorf("%d documents are above a limit", c.counts["above a limit"])
	}
	if share := c.counts["equal data"] * 8; share < *documentCount {
		c.Errorf("the data of only %d documents was compared", c.counts["equal data"])
	}
	for _, kind := range slices.Sorted(maps.Keys(c.found)) {
		found := slices.SortedFunc(slices.Values(c.found[kind]), func(a, b *document) int { return len(a.Query) - len(b.Query) })
		c.Errorf("%d times: %s", len(found), kind)
		for _, d := range found[:min(len(found), *shownCount)] {
			c.Log(c.shrink(d, kind))
		}
	}
}

// shrink returns a document without the parts that a difference does not need, and what both sides
// say of it.
func (c *comparison) shrink(d *document, kind string) string {
	differs := func(smaller *document) bool {
		c.oracle.ask(smaller)
		return c.compare(smaller, c.oracle.next(), false) == kind
	}
	tries := 0
	shrinkText := func(text string, parts *regexp.Regexp, set func(*document, string)) {
		tokens := parts.FindAllString(text, -1)
		for size := len(tokens) / 2; size > 0; {
			isSmaller := false
			for from := 0; from+size <= len(tokens) && tries < *shrinkTries; {
				rest := slices.Concat(tokens[:from], tokens[from+size:])
				smaller := *d
				set(&smaller, strings.Join(rest, ""))
				if tries++; differs(&smaller) {
					*d, tokens, isSmaller = smaller, rest, true
				} else {
					from++
				}
			}
			if !isSmaller {
				size /= 2
			}
		}
	}
	copied := *d
	d = &copied
	for _, without := range []func(*document){func(d *document) { d.Variables = "" }, func(d *document) { d.OperationName = nil }} {
		smaller := *d
		if without(&smaller); differs(&smaller) {
			*d = smaller
		}
	}
	shrinkText(d.Query, queryParts, func(d *document, text string) { d.Query = text })
	if d.Variables != "" {
		var values map[string]json.RawMessage
		if json.Unmarshal([]byte(d.Variables), &values) == nil {
			for name := range values {
				rest := maps.Clone(values)
				delete(rest, name)
				text, err := json.Marshal(rest)
				smaller := *d
				if smaller.Variables = string(text); err == nil && differs(&smaller) {
					*d, values = smaller, rest
				}
			}
		}
	}
	if !differs(d) {
		return d.String() + "\n(the difference did not come back)"
	}
	return d.String() + "\n" + c.detail
}

// queryParts are the parts of a document that shrink removes: a token with the space after it.
var queryParts = regexp.MustCompile(`(?s)(?:""".*?"""|"(?:[^"\\\n]|\\.)*"|\.\.\.|[A-Za-z_0-9$@]+|.)[ \n]*`)

// canonical returns JSON without white space and with one spelling of each text, in the order of
// the answer. With sorted, lists are sorted.
func canonical(t *testing.T, text []byte, sorted bool) string {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value func() string
	value = func() string {
		token, err := decoder.Token()
		if err != nil {
			t.Fatalf("%v: %.1000s", err, text)
		}
		switch token {
		case json.Delim('{'):
			var members []string
			for decoder.More() {
				name := value()
				members = append(members, name+":"+value())
			}
			_, _ = decoder.Token()
			return "{" + strings.Join(members, ",") + "}"
		case json.Delim('['):
			var elements []string
			for decoder.More() {
				elements = append(elements, value())
			}
			_, _ = decoder.Token()
			if sorted {
				slices.Sort(elements)
			}
			return "[" + strings.Join(elements, ",") + "]"
		}
		plain, err := json.Marshal(token)
		if err != nil {
			t.Fatal(err)
		}
		return string(plain)
	}
	return value()
}
