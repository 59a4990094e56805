package store_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// TestRejectionsCoverProcedures checks that each command has an error for every code that its
// procedure answers, and for no other. The codes of the prelude are in every procedure: an argument
// without a deadline is never too late, and createPost reads no post.
func TestRejectionsCoverProcedures(t *testing.T) {
	code := regexp.MustCompile(`"([A-Z][A-Z_]+)"`)
	for _, procedure := range []cosmos.Script{
		schema.CreatePost, schema.CreateComment, schema.UpdateComment, schema.DeleteComment, schema.CreateLike, schema.DeleteLike,
	} {
		answered := map[string]bool{}
		for _, match := range code.FindAllStringSubmatch(procedure.Body, -1) {
			answered[match[1]] = true
		}
		if !answered[schema.CodeOK] {
			t.Errorf("%s never answers OK", procedure.ID)
		}
		delete(answered, schema.CodeOK)
		for _, code := range []string{schema.CodeTooLate, schema.CodePostNotFound} {
			if _, isRejected := store.Rejections[procedure.ID][code]; !isRejected {
				delete(answered, code)
			}
		}
		want := slices.Sorted(maps.Keys(answered))
		if got := slices.Sorted(maps.Keys(store.Rejections[procedure.ID])); !slices.Equal(got, want) {
			t.Errorf("%s answers %v, its command rejects %v", procedure.ID, want, got)
		}
	}
}
