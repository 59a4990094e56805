package architecture

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestPostPropertiesReachEveryPlace fails if a property of posts is missing in one of the places
// that name all of them: the change feed, the commands, the copies, the seed and the audit. No
// compiler error reports it there. A property that does not belong in a place is listed as an
// exception.
func TestPostPropertiesReachEveryPlace(t *testing.T) {
	items := fileOf(t, "store/schema", "items.go")
	properties := jsonNames(t, items, "PostItem")
	const (
		notAtFirst = "commentCount likeCount updatedDate deleted ttl" // zero on a new post
		notInLists = "content inputHash"
	)

	place := "struct changedItem of store/changefeed/change.go"
	missing(t, place, properties, jsonNames(t, fileOf(t, "store/changefeed", "change.go"), "changedItem"), notInLists)

	fieldNames := jsonNamesByField(t, items, "PostItem")
	for _, literal := range []struct{ folder, file, function, exceptions string }{
		{"store", "command_post.go", "CreatePost", notAtFirst},
		{"store/bulk", "thread.go", "NewPostItem", notAtFirst + " inputHash"},
		{"store/views", "copies.go", "CopyOf", notInLists + " deleted ttl"},
	} {
		var found []string
		for _, field := range literalFields(t, fileOf(t, literal.folder, literal.file), literal.function, "PostItem") {
			found = append(found, fieldNames[field])
		}
		place := literal.function + " of " + literal.folder + "/" + literal.file
		missing(t, place, properties, found, literal.exceptions)
	}

	var audited, compared []string
	comparer, drift := fileOf(t, "store/audit", "comparer.go"), fileOf(t, "store/audit", "drift.go")
	for _, name := range properties {
		if strings.Contains(string(comparer.source), "c."+name+",") {
			audited = append(audited, name)
		}
		if strings.Contains(string(drift.source), `differ("`+name+`"`) {
			compared = append(compared, name)
		}
	}
	missing(t, "auditedProperties of store/audit/comparer.go", properties, audited, notInLists)
	missing(t, "copyDrifts of store/audit/drift.go", properties, compared, notInLists+" id type")

	posts := fieldsOf(t, fileOf(t, "internal/blog", "blog.go"), "Post")
	missing(t, "PostItem.Post of store/schema/items.go", posts, literalFields(t, items, "Post", "Post"), "")
	missing(t, "changedItem.post of store/changefeed/change.go", posts,
		literalFields(t, fileOf(t, "store/changefeed", "change.go"), "post", "Post"), "Content")
}

// missing reports the wanted names that a place lacks. Exceptions are separated by spaces.
func missing(t *testing.T, place string, wanted, found []string, exceptions string) {
	t.Helper()
	for _, name := range wanted {
		if !slices.Contains(found, name) && !slices.Contains(strings.Fields(exceptions), name) {
			t.Errorf("%s lacks the property %s of posts", place, name)
		}
	}
}

func fileOf(t *testing.T, folder, name string) *goFile {
	t.Helper()
	for _, f := range packages(t)[folder].files {
		if strings.HasSuffix(f.path, "/"+name) {
			return f
		}
	}
	t.Fatalf("there is no file %s/%s", folder, name)
	return nil
}

// structFields returns the fields of a struct type.
func structFields(t *testing.T, f *goFile, name string) []*ast.Field {
	t.Helper()
	var fields []*ast.Field
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == name {
			fields = spec.Type.(*ast.StructType).Fields.List
		}
		return true
	})
	if len(fields) == 0 {
		t.Fatalf("%s has no struct %s", f.path, name)
	}
	return fields
}

func fieldsOf(t *testing.T, f *goFile, structName string) []string {
	t.Helper()
	var names []string
	for _, field := range structFields(t, f, structName) {
		names = append(names, field.Names[0].Name)
	}
	return names
}

// jsonNamesByField returns the JSON name of each field of a struct type.
func jsonNamesByField(t *testing.T, f *goFile, structName string) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, field := range structFields(t, f, structName) {
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
		names[field.Names[0].Name], _, _ = strings.Cut(tag, ",")
	}
	return names
}

func jsonNames(t *testing.T, f *goFile, structName string) []string {
	t.Helper()
	byField := jsonNamesByField(t, f, structName)
	var names []string
	for _, field := range fieldsOf(t, f, structName) {
		names = append(names, byField[field])
	}
	return names
}

// literalFields returns the fields that a function sets in its literals of a struct type.
func literalFields(t *testing.T, f *goFile, function, structName string) []string {
	t.Helper()
	var names []string
	for _, declaration := range f.syntax.Decls {
		d, ok := declaration.(*ast.FuncDecl)
		if !ok || d.Name.Name != function {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if selector, ok := literal.Type.(*ast.SelectorExpr); ok && selector.Sel.Name == structName {
				for _, element := range literal.Elts {
					names = append(names, element.(*ast.KeyValueExpr).Key.(*ast.Ident).Name)
				}
			}
			return true
		})
	}
	if len(names) == 0 {
		t.Fatalf("%s of %s sets no fields of a %s", function, f.path, structName)
	}
	return names
}
