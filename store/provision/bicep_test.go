package provision_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// The template has the definitions that Run sends. Bicep's compiler is not available to the
// tests, so the test parses the template itself.
func TestBicepHasDefinitions(t *testing.T) {
	throughput, err := provision.ParseThroughputs("database=manual:400,posts=autoscale:4000")
	if err != nil {
		t.Fatal(err)
	}
	template := provision.Bicep("blog's", throughput)
	found := bicepResources(t, template)
	for _, d := range schema.Containers {
		options := reference("throughput." + d.Name)
		checkBicepResource(t, found[d.Name], "sqlDatabases/containers", "database", d.Properties(), options)
	}
	for _, s := range schema.Scripts {
		kind := map[bool]string{false: "storedProcedures", true: "triggers"}[s.Trigger]
		checkBicepResource(t, found[s.ID], "sqlDatabases/containers/"+kind, s.Container, s.Definition(), map[string]any{})
	}
	if want := len(schema.Containers) + len(schema.Scripts); len(found) != want {
		t.Errorf("the template has %d containers and scripts, want %d", len(found), want)
	}
	wantOptions := map[string]any{
		"database": map[string]any{"throughput": 400.0},
		"posts":    map[string]any{"autoscaleSettings": map[string]any{"maxThroughput": 4000.0}},
	}
	for _, d := range schema.Containers {
		if d.Name != schema.Posts {
			wantOptions[d.Name] = map[string]any{}
		}
	}
	if got := bicepAfter(t, template, "param throughput object = "); !cmp.Equal(got, any(wantOptions)) {
		t.Errorf("the throughputs differ (-want +got):\n%s", cmp.Diff(any(wantOptions), got))
	}
	if got := bicepAfter(t, template, "param databaseName string = "); got != "blog's" {
		t.Errorf("the database name is %q", got)
	}
	if got := bicepAfter(t, template, "param serverless bool = "); got != false {
		t.Errorf("serverless is %v", got)
	}
	var actions []string
	for _, action := range bicepAfter(t, template, "dataActions: ").([]any) {
		actions = append(actions, action.(string))
	}
	if !slices.Equal(actions, provision.DataActions) {
		t.Errorf("the role has %q", actions)
	}
}

func TestBicepServerless(t *testing.T) {
	serverless, err := provision.ParseThroughputs("serverless")
	if err != nil {
		t.Fatal(err)
	}
	template := provision.Bicep(cosmos.DefaultDatabase, serverless)
	if bicepAfter(t, template, "param serverless bool = ") != true {
		t.Error("the template is not serverless")
	}
	for name, options := range bicepAfter(t, template, "param throughput object = ").(map[string]any) {
		if !cmp.Equal(options, any(map[string]any{})) {
			t.Errorf("%s has the throughput %v", name, options)
		}
	}
}

// foundResource is a container or script of a template.
type foundResource struct {
	kind string
	body map[string]any
}

// checkBicepResource checks a container or script of a template.
func checkBicepResource(t *testing.T, got foundResource, kind, parent string, resource, options any) {
	t.Helper()
	text, err := json.Marshal(resource)
	if err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	if err := json.Unmarshal(text, &sent); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"parent":     reference(parent),
		"name":       sent["id"],
		"properties": map[string]any{"resource": sent, "options": options},
	}
	if got.kind != kind || !cmp.Equal(got.body, want) {
		t.Errorf("%v (-want +got):\n%s", got.kind, cmp.Diff(want, got.body))
	}
}

// bicepResources returns the containers and scripts of a template by their names.
func bicepResources(t *testing.T, template string) map[string]foundResource {
	t.Helper()
	found := map[string]foundResource{}
	for _, part := range strings.Split(template, "\nresource ")[1:] {
		_, part, _ = strings.Cut(part, " 'Microsoft.DocumentDB/databaseAccounts")
		kind, body, _ := strings.Cut(part, "@")
		kind = strings.TrimPrefix(kind, "/")
		if !strings.HasPrefix(kind, "sqlDatabases/") {
			continue // the account, the database, the role
		}
		resource := bicepAfter(t, body, "' = ").(map[string]any)
		found[resource["name"].(string)] = foundResource{kind, resource}
	}
	return found
}

// bicepAfter parses the literal that follows a prefix.
func bicepAfter(t *testing.T, template, prefix string) any {
	t.Helper()
	_, rest, ok := strings.Cut(template, prefix)
	if !ok {
		t.Fatalf("the template has no %q", prefix)
	}
	r := &bicepReader{rest: rest}
	value, err := r.value()
	if err != nil {
		t.Fatalf("after %q: %v", prefix, err)
	}
	return value
}

// reference is the name of another resource or parameter in a template.
type reference string

// bicepReader parses Bicep literals with one property or element a line.
type bicepReader struct{ rest string }

func (r *bicepReader) value() (any, error) {
	switch {
	case strings.HasPrefix(r.rest, "{"):
		return r.object()
	case strings.HasPrefix(r.rest, "["):
		return r.array()
	case strings.HasPrefix(r.rest, "'"):
		return r.text()
	}
	word := r.take(func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("-._", c)
	})
	var value any
	if json.Unmarshal([]byte(word), &value) == nil {
		return value, nil
	}
	if word == "" {
		return nil, fmt.Errorf("no literal at %.40q", r.rest)
	}
	return reference(word), nil
}

// take reads the longest prefix of characters that satisfy while.
func (r *bicepReader) take(while func(rune) bool) string {
	end := strings.IndexFunc(r.rest, func(c rune) bool { return !while(c) })
	if end < 0 {
		end = len(r.rest)
	}
	taken := r.rest[:end]
	r.rest = r.rest[end:]
	return taken
}

// skip skips a text if it is next, and reports whether it was.
func (r *bicepReader) skip(text string) (ok bool) {
	r.rest, ok = strings.CutPrefix(r.rest, text)
	return ok
}

// lines reads the lines between two delimiters.
func (r *bicepReader) lines(opening, closing string, line func() error) error {
	r.skip(opening)
	if r.skip(closing) {
		return nil
	}
	for {
		if !r.skip("\n") {
			return fmt.Errorf("no new line at %.40q", r.rest)
		}
		r.take(func(c rune) bool { return c == ' ' })
		if r.skip(closing) {
			return nil
		}
		if err := line(); err != nil {
			return err
		}
	}
}

func (r *bicepReader) object() (any, error) {
	object := map[string]any{}
	err := r.lines("{", "}", func() error {
		key, err := r.value()
		if err != nil {
			return err
		}
		if !r.skip(": ") {
			return fmt.Errorf("no value at %.40q", r.rest)
		}
		object[fmt.Sprint(key)], err = r.value()
		return err
	})
	return object, err
}

func (r *bicepReader) array() (any, error) {
	array := []any{}
	err := r.lines("[", "]", func() error {
		element, err := r.value()
		array = append(array, element)
		return err
	})
	return array, err
}

func (r *bicepReader) text() (any, error) {
	if r.skip("'''") {
		r.skip("\n")
		text, rest, ok := strings.Cut(r.rest, "'''")
		if !ok || strings.HasPrefix(rest, "'") {
			return nil, fmt.Errorf("unterminated verbatim string")
		}
		r.rest = rest
		return text, nil
	}
	r.skip("'")
	var b strings.Builder
	for {
		c, size := utf8.DecodeRuneInString(r.rest)
		r.rest = r.rest[size:]
		switch c {
		case '\'':
			return b.String(), nil
		case '\\':
			if err := r.escape(&b); err != nil {
				return nil, err
			}
		case '\n', utf8.RuneError:
			return nil, fmt.Errorf("unterminated string at %.40q", r.rest)
		case '$':
			return nil, fmt.Errorf("interpolated expression at %.40q", r.rest)
		default:
			b.WriteRune(c)
		}
	}
}

func (r *bicepReader) escape(b *strings.Builder) error {
	for escape, meaning := range map[string]string{`\`: `\`, `'`: `'`, `$`: `$`, `n`: "\n", `r`: "\r", `t`: "\t"} {
		if r.skip(escape) {
			b.WriteString(meaning)
			return nil
		}
	}
	var c rune
	if _, err := fmt.Sscanf(r.rest, "u{%x}", &c); err != nil {
		return fmt.Errorf("unknown escape: %.10q", r.rest)
	}
	_, r.rest, _ = strings.Cut(r.rest, "}")
	b.WriteRune(c)
	return nil
}

// bicepPieces are the parts of the strings of TestBicepStringRoundTrip.
var bicepPieces = []string{
	"'", "''", "'''", "$", "{", "${a}", `\`, "\n", "\r\n", "\t", "\x01", "é", "😀", "a", " ",
}

// Any string in a definition survives the conversion to a Bicep literal.
func TestBicepStringRoundTrip(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom(bicepPieces)
		want := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		literal, err := provision.BicepLiteral(map[string]any{"a b": []any{want}}, 3)
		if err != nil {
			t.Fatal(err)
		}
		r := &bicepReader{rest: literal}
		got, err := r.value()
		if err != nil || r.rest != "" || !cmp.Equal(got, any(map[string]any{"a b": []any{want}})) {
			t.Fatalf("%q is written as %s and parsed as %q, %v", want, literal, got, err)
		}
	})
}
