package schema_test

import (
	"slices"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/schema"
)

// TestItemsHaveEveryField makes an item of each type from a value of package blog whose fields are
// all set, and the value again from the item. It names the fields that are lost on the way, except
// those that an item cannot have.
func TestItemsHaveEveryField(t *testing.T) {
	post := storetest.Filled[blog.Post]()
	post.Content = "Some content."
	comment, like := storetest.Filled[blog.Comment](), storetest.Filled[blog.Like]()
	item, _ := schema.NewPostItem(&post)
	entry := schema.NewEntryItem("tag:go", &post)
	commentItem, likeItem := schema.NewCommentItem("p_1", &comment), schema.NewLikeItem("p_1", &like)
	user, stored := storetest.Filled[schema.UserItem](), storetest.Filled[schema.PostItem]()
	for _, c := range []struct {
		name string
		got  any
		want []string // that are empty
	}{
		{"the post of its item", *stored.Post(), nil},
		{"a new post", *item.Post(), []string{"ContentVersion", "CommentCount", "LikeCount", "UpdatedDate", "Deleted"}},
		{"the post of its entry", *entry.Post(), []string{"Content", "ContentVersion", "RecentComments", "CommentCount", "LikeCount", "Deleted"}},
		{"a new comment", *commentItem.Comment(&post), []string{"UpdatedDate"}},
		{"a recent comment", *stored.Post().RecentComments[0], []string{"Content"}},
		{"a like", *likeItem.Like(&post), nil},
		{"a user", *user.User(), []string{"ReadAt"}},
	} {
		if empty := storetest.EmptyFields(c.got); !slices.Equal(empty, c.want) {
			t.Errorf("%s lacks the fields %v, and should lack %v", c.name, empty, c.want)
		}
	}
}
