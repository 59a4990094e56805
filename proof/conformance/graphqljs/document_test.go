//go:build ci

package graphqljs_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// document is a request.
type document struct {
	Query         string
	Variables     string  // JSON text; none if empty
	OperationName *string // none if nil
	Kind          string  // "query", "mutation" or "subscription"
	Fault         string  // what was done to a valid document; empty if nothing was
	Echoes        bool    // it is a createPost whose whole answer follows from its input
}

// introspection finds the fields of the introspection.
var introspection = regexp.MustCompile(`\b__(schema|type)\b`)

// introspects reports whether the document asks for the schema, so the order of some lists is open.
func (d *document) introspects() bool { return introspection.MatchString(d.Query) }

// body is the body of the HTTP request.
func (d *document) body() string {
	quoted := func(value string) string {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	body := `{"query":` + quoted(d.Query)
	if d.Variables != "" {
		body += `,"variables":` + d.Variables
	}
	if d.OperationName != nil {
		body += `,"operationName":` + quoted(*d.OperationName)
	}
	return body + "}"
}

// String is the document as failures show it.
func (d *document) String() string {
	text := fmt.Sprintf("%s (fault: %q)\n", d.Kind, d.Fault) + d.Query
	if d.Variables != "" {
		text += "\nvariables: " + d.Variables
	}
	if d.OperationName != nil {
		text += fmt.Sprintf("\noperationName: %q", *d.OperationName)
	}
	return text
}

// tree is a document in parts, which faults change.
type tree struct {
	operations []*operation
	fragments  []*fragment
	name       *string // operationName
	echoes     bool
	more       []string // further members of the variables, as JSON
	tail       string   // text after the definitions
	variables  string   // instead of those of the operation, if not empty
}

type operation struct {
	kind, name, description string
	isShort                 bool // { … }
	variables               []*variable
	directives              []string
	selections              []*selection
}

type variable struct {
	name, kind, standard, description string
	directives                        []string
	value                             string // JSON; missing if empty
}

type fragment struct {
	name, on, description string
	directives            []string
	selections            []*selection
}

// selection is a field, or a fragment if of is nil.
type selection struct {
	alias, name string               // of a field, or a spread if it has no selections
	of          *ast.Definition      // the type that the field is of
	field       *ast.FieldDefinition // nil for meta fields
	arguments   []argument
	directives  []string
	on          string // of an inline fragment; may be empty
	isInline    bool
	selections  []*selection
}

type argument struct {
	name, value string
	of          *ast.Type
}

// walk calls visit for each selection of the document.
func (t *tree) walk(visit func(siblings *[]*selection, i int)) {
	var into func(list *[]*selection)
	into = func(list *[]*selection) {
		for i := range *list {
			into(&(*list)[i].selections)
		}
		for i := range *list {
			visit(list, i)
		}
	}
	for _, o := range t.operations {
		into(&o.selections)
	}
	for _, f := range t.fragments {
		into(&f.selections)
	}
}

// printer writes a tree, with random ignored tokens.
type printer struct {
	*rand.Rand
	strings.Builder
	isPlain bool
}

// gap writes ignored tokens between two parts.
func (p *printer) gap() {
	if p.isPlain {
		p.WriteString(" ")
		return
	}
	switch p.IntN(40) {
	case 0:
		p.WriteString(",")
	case 1:
		p.WriteString(" ,, ")
	case 2:
		p.WriteString("\n")
	case 3:
		p.WriteString("\r\n\t")
	case 4:
		p.WriteString(" # a comment: { \" } é \U0001F600\n")
	case 5:
		p.WriteString("\uFEFF ")
	default:
		p.WriteString(" ")
	}
}

func (p *printer) parts(parts ...string) {
	for _, part := range parts {
		if part != "" {
			p.WriteString(part)
			p.gap()
		}
	}
}

func (p *printer) selections(list []*selection) {
	p.parts("{")
	for _, s := range list {
		p.selection(s)
	}
	p.parts("}")
}

func (p *printer) selection(s *selection) {
	switch {
	case s.isInline:
		p.parts("...")
		if s.on != "" {
			p.parts("on", s.on)
		}
		p.parts(s.directives...)
		p.selections(s.selections)
		return
	case s.of == nil:
		p.parts("..."+s.name, strings.Join(s.directives, " "))
		return
	}
	if s.alias != "" {
		p.parts(s.alias, ":")
	}
	p.parts(s.name)
	p.arguments(s.arguments)
	p.parts(s.directives...)
	if s.selections != nil {
		p.selections(s.selections)
	}
}

func (p *printer) arguments(list []argument) {
	if len(list) == 0 {
		return
	}
	p.parts("(")
	for _, a := range list {
		p.parts(a.name+":", a.value)
	}
	p.parts(")")
}

// document writes the tree.
func (t *tree) document(random *rand.Rand, isPlain bool) *document {
	p := printer{Rand: random, isPlain: isPlain}
	d := &document{OperationName: t.name, Echoes: t.echoes, Kind: t.operations[0].kind}
	var values []string
	isGiven := map[string]bool{}
	for _, o := range t.operations {
		if t.name != nil && *t.name == o.name {
			d.Kind = o.kind
		}
		p.parts(o.description)
		if !o.isShort {
			p.parts(o.kind, o.name)
		}
		if len(o.variables) > 0 {
			p.parts("(")
			for _, v := range o.variables {
				p.parts(v.description, "$"+v.name, ":", v.kind)
				if v.standard != "" {
					p.parts("=", v.standard)
				}
				p.parts(v.directives...)
				if v.value != "" && !isGiven[v.name] { // a name of JSON twice is no request
					isGiven[v.name] = true
					values = append(values, fmt.Sprintf("%q:%s", v.name, v.value))
				}
			}
			p.parts(")")
		}
		p.parts(o.directives...)
		p.selections(o.selections)
	}
	for _, f := range t.fragments {
		p.parts(f.description, "fragment", f.name, "on", f.on)
		p.parts(f.directives...)
		p.selections(f.selections)
	}
	p.WriteString(t.tail)
	d.Query = p.String()
	values = append(values, t.more...)
	if d.Variables = t.variables; d.Variables == "" && len(values) > 0 {
		d.Variables = "{" + strings.Join(values, ",") + "}"
	}
	return d
}
