package documents

import (
	"cosmosblog/graph"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/guard/limits"
)

// TestAsksOfViewer checks which documents ask something of the signed-in user.
func TestAsksOfViewer(t *testing.T) {
	d := New(limits.Default(), true)
	for query, want := range map[string]bool{
		"{__typename}":                                         false,
		"{feed{nodes{title author{username}}}}":                false,
		"{node(id:\"x\"){id ...on User{username}}}":            false,
		"{__schema{types{name fields{name}}}}":                 false,
		"query Q{feed{nodes{title}}} query R{viewer{id}}":      false,
		"query Q{feed{nodes{...A}}} fragment A on Post{title}": false,
		"{viewer{id}}":                                                 true,
		"{me:viewer{id}}":                                              true,
		"{feed{nodes{title}} viewer{id}}":                              true,
		"{viewer@skip(if:true){id}}":                                   true,
		"{...on Query{viewer{id}}}":                                    true,
		"{feed{edges{node{liked:viewerHasLiked}}}}":                    true,
		"{post(id:\"x\"){viewerHasLiked}}":                             true,
		"{node(id:\"x\"){...on Post{viewerHasLiked}}}":                 true,
		"{nodes(ids:[\"x\"]){id ...on Comment{post{viewerHasLiked}}}}": true,
		"query Q{...A} fragment A on Query{viewer{id}}":                true,
		"query Q{feed{nodes{...A}}} fragment A on Post{...B} fragment B on Post{...C title} fragment C on Post{viewerHasLiked}":                            true,
		"query Q{feed{nodes{...A ...B}}} fragment A on Post{...B} fragment B on Post{title author{...C}} fragment C on User{posts{nodes{viewerHasLiked}}}": true,
	} {
		name := ""
		if strings.HasPrefix(query, "query Q") {
			name = "Q"
		}
		for range 2 { // the second comes from the cache
			known, errs := d.Read(query, name)
			if errs != nil || known.AsksOfViewer != want {
				t.Errorf("%s: got %+v, %v, want %t", query, known, errs, want)
			}
		}
	}
}

// TestSelectsInAbstractTypes selects fields of interfaces, of which a type or the interface itself
// has the directive.
func TestSelectsInAbstractTypes(t *testing.T) {
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `
		directive @marked on FIELD_DEFINITION
		directive @other on FIELD_DEFINITION
		interface I { a: Int b: Int @marked c: Int @other }
		type A implements I { a: Int b: Int c: Int }
		type B implements I { a: Int @marked b: Int c: Int }
		type Query { i: I a: A }`})
	for query, want := range map[string]bool{
		"{i{a}}": true, "{i{b}}": true, "{i{c}}": false, "{a{a b c}}": false, "{i{...on A{a}}}": false, "{i{...on B{a}}}": true, "{i{__typename}}": false,
	} {
		document, err := gqlparser.LoadQuery(schema, query)
		if err != nil {
			t.Fatal(err)
		}
		if got := selects(schema, document, document.Operations[0], "marked"); got != want {
			t.Errorf("%s: got %t", query, got)
		}
	}
}

// TestViewerFieldsAreMarked fails if the schema lacks @viewer on a field that is named after the
// viewer.
func TestViewerFieldsAreMarked(t *testing.T) {
	marked := 0
	for _, definition := range graph.NewExecutableSchema(graph.Config{}).Schema().Types {
		for _, field := range definition.Fields {
			if field.Directives.ForName(viewerDirective) != nil {
				marked++
			} else if strings.HasPrefix(field.Name, "viewer") {
				t.Errorf("%s.%s has no @viewer", definition.Name, field.Name)
			}
		}
	}
	if marked == 0 {
		t.Error("no field has @viewer")
	}
}
