package architecture

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestPostPropertiesReachEveryPlace fails if a property of posts is missing in one of the mappings
// of store/schema. Reflection tests find one that is missing in the copies (store/changefeed) and
// in the audit (store/audit).
func TestPostPropertiesReachEveryPlace(t *testing.T) {
	items := fileOf(t, "store/schema", "items.go")
	fieldNames := jsonNamesByField(t, items, "PostItem")
	var created []string
	for _, field := range literalFields(t, items, "NewPostItem", "PostItem") {
		created = append(created, fieldNames[field])
	}
	missing(t, "NewPostItem", jsonNames(t, items, "PostItem"), created,
		"contentVersion commentCount likeCount updatedDate deleted ttl authorId inputHash edits lastCommentDate") // of long contents, later changes, and keys

	posts := fieldsOf(t, fileOf(t, "blog", "blog.go"), "Post")
	missing(t, "PostItem.Post", posts, literalFields(t, items, "Post", "Post"), "RecentComments") // they refer to the post
}

// missing reports the wanted names that a place lacks. Exceptions are separated by spaces.
func missing(t *testing.T, place string, wanted, found []string, exceptions string) {
	t.Helper()
	for _, name := range wanted {
		if !slices.Contains(found, name) && !slices.Contains(strings.Fields(exceptions), name) {
			t.Errorf("%s lacks %s", place, name)
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
			if typeName(literal.Type) == structName {
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

// typeName returns the name of a type, without its package.
func typeName(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
