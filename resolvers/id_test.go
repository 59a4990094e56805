package resolvers_test

import (
	"testing"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// rawID returns the stored id within a global id.
func rawID(t *testing.T, globalID string) string {
	t.Helper()
	ref, err := model.UnmarshalID(globalID)
	if err != nil {
		t.Fatal(err)
	}
	return ref.ID
}

// Valid ids of objects that do not exist.
var (
	noUser    = model.EncodeID(blog.Ref{Type: blog.TypeUser, PartitionKey: "u_none", ID: "u_none"})
	noPost    = model.EncodeID(blog.Ref{Type: blog.TypePost, PartitionKey: "p_none", ID: "p_none"})
	noComment = model.EncodeID(blog.Ref{Type: blog.TypeComment, PartitionKey: "p_none", ID: "c_none"})
	noLike    = model.EncodeID(blog.Ref{Type: blog.TypeLike, PartitionKey: "p_none", ID: "u_none"})
)
