package audit_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/store/audit"
	"cosmosblog/store/schema"
)

// TestCopyDriftsCoverItems checks that an audit reads and compares every property of a copy. It
// changes each property alone, which must be exactly one drift.
func TestCopyDriftsCoverItems(t *testing.T) {
	post := schema.PostItem{ID: "p_1", PostID: "p_1", Type: schema.TypePost, SortKey: schema.SortKey("", "p_1")}
	if drifts := audit.CopyDrifts(post, post); len(drifts) > 0 {
		t.Fatalf("equal items have the drifts %+v", drifts)
	}
	read := strings.Split(audit.AuditedProperties, ", ")
	notCompared := []string{"id", "content", "contentVersion", "inputHash", "edits", "authorId", "lastCommentDate"}
	for i := range reflect.TypeFor[schema.PostItem]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[schema.PostItem]().Field(i).Tag.Get("json"), ",")
		if slices.Contains(notCompared, name) {
			continue
		}
		if !slices.Contains(read, "c."+name) {
			t.Errorf("an audit does not read %s", name)
		}
		copied := post
		switch field := reflect.ValueOf(&copied).Elem().Field(i); field.Kind() {
		case reflect.String:
			field.SetString("other")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Array:
			field.Set(reflect.ValueOf(blog.TextSize{0, 7}))
		default:
			field.SetInt(7)
		}
		if drifts := audit.CopyDrifts(copied, post); len(drifts) != 1 || drifts[0].Field != name {
			t.Errorf("a copy with another %s has the drifts %+v", name, drifts)
		}
	}
}
