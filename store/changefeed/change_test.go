package changefeed_test

import (
	"reflect"
	"slices"
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// TestChangesHaveWhatCopiesNeed checks that a post that passed through the change feed is copied
// with all of its properties. A property that is not decoded, or not copied, would be empty.
func TestChangesHaveWhatCopiesNeed(t *testing.T) {
	w := newWorld(t)
	item := storetest.Filled[schema.PostItem]()
	item.ID, item.PostID, item.Type, item.Deleted, item.TTL = "p_1", "p_1", schema.TypePost, false, 0
	item.AuthorID = "" // instead of UserID in a deleted post
	item.SortKey = schema.SortKey(item.CreationDate, item.ID)
	w.Plant(w.Container(schema.Posts), item.PostID, item)
	changes, _ := w.changes(schema.Posts, "", 100)
	if len(changes) != 1 || changes[0].Err != nil || changes[0].Post == nil {
		t.Fatalf("the changes are %+v", changes)
	}
	want := item
	want.Content, want.ContentVersion, want.InputHash, want.Edits, want.LastCommentDate = "", 0, "", nil, "" // not copied
	if copied := views.FeedCopyOf(changes[0].Post); !reflect.DeepEqual(copied, any(want)) {
		t.Errorf("the copy is  %+v\nand should be %+v", copied, want)
	}
	if empty := storetest.EmptyFields(*changes[0].Post); !slices.Equal(empty, []string{"Content", "ContentVersion", "Deleted"}) {
		t.Errorf("empty fields of the post: %v", empty)
	}
}

// TestChangesHaveTheWholeUserAndComment checks the other two types.
func TestChangesHaveTheWholeUserAndComment(t *testing.T) {
	w := newWorld(t)
	user, comment := storetest.Filled[schema.UserItem](), storetest.Filled[schema.CommentItem]()
	user.ID, user.UserID, user.Type, user.TTL = "u_1", "u_1", schema.TypeUser, 0
	comment.PostID, comment.Type, comment.TTL = "p_1", schema.TypeComment, 0
	w.Plant(w.Container(schema.Users), user.UserID, user)
	w.Plant(w.Container(schema.Posts), comment.PostID, comment)

	change := only(t, w, schema.Users)
	if change.User == nil || !change.Renaming || !change.Deleted {
		t.Fatalf("the change of the user is %+v", change)
	}
	if empty := storetest.EmptyFields(*change.User); !slices.Equal(empty, []string{"ReadAt"}) {
		t.Errorf("empty fields of the user: %v", empty)
	}
	change = only(t, w, schema.Posts)
	if change.Comment == nil || !change.Deleted || change.PartitionKey != comment.PostID {
		t.Fatalf("the change of the comment is %+v", change)
	}
	if empty := storetest.EmptyFields(*change.Comment); !slices.Equal(empty, []string{"Content"}) {
		t.Errorf("empty fields of the comment: %v", empty)
	}
}

// only returns the only change of a container.
func only(t *testing.T, w *world, container string) changefeed.Change {
	t.Helper()
	changes, _ := w.changes(container, "", 100)
	if len(changes) != 1 || changes[0].Err != nil {
		t.Fatalf("the changes of %s are %+v", container, changes)
	}
	return changes[0]
}

// TestMalformedItemsAreReported checks that a property of the wrong type is an error of the change,
// in every type of item. The skipped content may have any type.
func TestMalformedItemsAreReported(t *testing.T) {
	for _, c := range []struct{ container, itemType, property string }{
		{schema.Users, schema.TypeUser, "revision"},
		{schema.Users, schema.TypePost, "revision"},
		{schema.Posts, schema.TypePost, "revision"},
		{schema.Posts, schema.TypePost, "deleted"},
		{schema.Posts, schema.TypeComment, "authorRevision"},
		{schema.Posts, schema.TypeLike, "authorRevision"},
		{schema.Posts, schema.TypeTombstone, "authorRevision"},
		{schema.Users, schema.TypeTombstone, "revision"},
		{schema.Posts, schema.TypePost, "content"},
		{schema.Posts, schema.TypeComment, "content"},
	} {
		w := newWorld(t)
		item := map[string]any{"id": "a", "userId": "a", "postId": "a", "type": c.itemType, c.property: []string{}}
		w.Plant(w.Container(c.container), "a", item)
		changes, _ := w.changes(c.container, "", 100)
		if len(changes) != 1 || changes[0].ID != "a" || changes[0].PartitionKey != "a" {
			t.Fatalf("%+v: the changes are %+v", c, changes)
		}
		if malformed := changes[0].Err != nil; malformed != (c.property != "content") {
			t.Errorf("%+v: the error is %v", c, changes[0].Err)
		}
	}
}
