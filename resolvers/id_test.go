package resolvers_test

import (
	"testing"

	"cosmosblog/blog"
	"cosmosblog/graph/model"
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
	noUser    = blog.Account{Subject: "nobody"}.UserID()
	noPost    = blog.IDSource{}.NewPostID(noUser, "none")
	noComment = blog.IDSource{}.NewCommentID(noUser, noPost, "none") + "." + noPost
	noLike    = blog.Ref{Type: blog.TypeLike, PartitionKey: noPost, ID: noUser}.String()
)
