//go:build ci

package graphqljs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestBuiltins compares the built-in types and directives of the server with those of the edition
// of September 2025 (builtins.txt), and looks which members of each type are null (section 4.2.2).
func TestBuiltins(t *testing.T) {
	s := newServer(t)
	r := s.send(&document{Query: wholeSchema, Kind: "query"}, "")
	var data struct {
		Schema introspected `json:"__schema"`
	}
	if err := json.Unmarshal(r.Data, &data); err != nil || len(r.Codes) > 0 {
		t.Fatalf("%v %.2000s", err, r.Body)
	}
	file, err := os.ReadFile("builtins.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, facts, _ := strings.Cut(string(file), "\n\n")
	want, got := blocks(facts), blocks(data.Schema.builtins())
	names := slices.Collect(maps.Keys(want))
	names = slices.AppendSeq(names, maps.Keys(got))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if strings.Join(want[name], "\n") == strings.Join(got[name], "\n") {
			continue
		}
		t.Errorf("%s: the edition has %q, and the server %q instead", name, without(want[name], got[name]), without(got[name], want[name]))
	}
	wrappers := s.send(&document{Query: `{ __type(name: "Post") { fields { name type { ...t ofType { ...t ofType { ...t ofType { ...t } } } } } } }
		fragment t on __Type { kind name isOneOf specifiedByURL fields { name } interfaces { name } possibleTypes { name } enumValues { name } inputFields { name } ofType { kind } }`}, "")
	var post struct {
		Type struct {
			Fields []struct {
				Name string
				Type definition
			}
		} `json:"__type"`
	}
	if err := json.Unmarshal(wrappers.Data, &post); err != nil || len(wrappers.Codes) > 0 {
		t.Fatalf("%v %.2000s", err, wrappers.Body)
	}
	checked := data.Schema.Types
	for _, f := range post.Type.Fields {
		checked = append(checked, f.Type)
	}
	problems := map[string][]string{} // the types that have each
	for _, of := range checked {
		for _, problem := range of.nulls() {
			problem = of.Kind + ": " + problem
			problems[problem] = append(problems[problem], of.Name)
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(problems)) {
		t.Errorf("%s (section 4.2.2), such as %s", problem, problems[problem][0])
	}
}

// without returns the lines that others lack.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// blocks returns the facts of a text, by the types and directives that they are about. An indented
// line belongs to the one before.
func blocks(text string) map[string][]string {
	found, name := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@"):
			name, _, _ = strings.Cut(strings.ReplaceAll(line, "(", " "), " ")
		case line != "" && !strings.HasPrefix(line, " "):
			name = line
		}
		if line != "" {
			found[name] = append(found[name], strings.TrimSpace(line))
		}
	}
	return found
}

const wholeSchema = `{ __schema {
	types {
		kind name specifiedByURL isOneOf
		fields(includeDeprecated: true) { name isDeprecated args(includeDeprecated: true) { ...value } type { ...type } }
		inputFields(includeDeprecated: true) { ...value }
		enumValues(includeDeprecated: true) { name isDeprecated }
		interfaces { name } possibleTypes { name } ofType { name }
	}
	directives { name isRepeatable locations args(includeDeprecated: true) { ...value } }
} }
fragment value on __InputValue { name isDeprecated defaultValue type { ...type } }
fragment type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`

// introspected is a schema as the introspection describes it.
type introspected struct {
	Types      []definition
	Directives []struct {
		Name         string
		IsRepeatable bool
		Locations    []string
		Args         []inputValue
	}
}

// definition is a named type. Its lists are nil if they are null.
type definition struct {
	introspectedType
	SpecifiedByURL *string
	IsOneOf        *bool
	Fields         []struct {
		Name         string
		IsDeprecated bool
		Args         []inputValue
		Type         introspectedType
	}
	InputFields []inputValue
	EnumValues  []struct {
		Name         string
		IsDeprecated bool
	}
	Interfaces, PossibleTypes []struct{ Name string }
}

// nulls returns which members of a type are null, or not, against section 4.2.2.
func (d *definition) nulls() (problems []string) {
	for _, member := range []struct {
		name   string
		isNull bool
		kinds  []string // whose member is not null
	}{
		{"fields", d.Fields == nil, []string{"OBJECT", "INTERFACE"}},
		{"interfaces", d.Interfaces == nil, []string{"OBJECT", "INTERFACE"}},
		{"possibleTypes", d.PossibleTypes == nil, []string{"INTERFACE", "UNION"}},
		{"enumValues", d.EnumValues == nil, []string{"ENUM"}},
		{"inputFields", d.InputFields == nil, []string{"INPUT_OBJECT"}},
		{"isOneOf", d.IsOneOf == nil, []string{"INPUT_OBJECT"}},
		{"ofType", d.OfType == nil, []string{"LIST", "NON_NULL"}},
	} {
		if has := slices.Contains(member.kinds, d.Kind); has == member.isNull {
			problems = append(problems, fmt.Sprintf("%s must be null: %t, is null: %t", member.name, !has, member.isNull))
		}
	}
	if d.SpecifiedByURL != nil && d.Kind != "SCALAR" {
		problems = append(problems, "it has a specifiedByURL")
	}
	return problems
}

type introspectedType struct {
	Kind, Name string
	OfType     *introspectedType
}

type inputValue struct {
	Name         string
	IsDeprecated bool
	DefaultValue *string
	Type         introspectedType
}

// String is the type in the schema's language.
func (t introspectedType) String() string {
	switch t.Kind {
	case "NON_NULL":
		return t.OfType.String() + "!"
	case "LIST":
		return "[" + t.OfType.String() + "]"
	}
	return t.Name
}

func marked(isDeprecated bool) string {
	if isDeprecated {
		return " (deprecated)"
	}
	return ""
}

func arguments(list []inputValue) string {
	if len(list) == 0 {
		return ""
	}
	var parts []string
	for _, v := range list {
		part := v.Name + ": " + v.Type.String()
		if v.DefaultValue != nil {
			part += " = " + *v.DefaultValue
		}
		parts = append(parts, part+marked(v.IsDeprecated))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// builtins returns the built-in types and directives in the form of builtins.txt.
func (s *introspected) builtins() string {
	var b strings.Builder
	for _, of := range s.Types {
		isScalar := slices.Contains([]string{"Boolean", "Float", "ID", "Int", "String"}, of.Name)
		switch {
		case isScalar:
			fmt.Fprintf(&b, "%s %s\n", strings.ToLower(of.Kind), of.Name)
		case strings.HasPrefix(of.Name, "__"):
			kind := map[string]string{"OBJECT": "type", "ENUM": "enum"}[of.Kind]
			fmt.Fprintf(&b, "%s %s\n", kind, of.Name)
			for _, f := range of.Fields {
				fmt.Fprintf(&b, "  %s%s: %s%s\n", f.Name, arguments(f.Args), f.Type, marked(f.IsDeprecated))
			}
			for _, v := range of.EnumValues {
				fmt.Fprintf(&b, "  %s%s\n", v.Name, marked(v.IsDeprecated))
			}
		}
	}
	for _, d := range s.Directives {
		if slices.Contains([]string{"deprecated", "include", "oneOf", "skip", "specifiedBy"}, d.Name) {
			fmt.Fprintf(&b, "@%s%s on %s", d.Name, arguments(d.Args), strings.Join(d.Locations, " "))
			if d.IsRepeatable {
				b.WriteString(" (repeatable)")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
