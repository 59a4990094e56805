package changefeed_test

import (
	"errors"
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// changes reads the change feed of a container from a continuation to its end.
func (w *world) changes(container, continuation string, limit int) ([]changefeed.Change, string) {
	w.T.Helper()
	ranges, err := w.FeedRanges(w.Ctx(), container)
	w.OK(err)
	if len(ranges) != 1 {
		w.T.Fatalf("%d feed ranges, want 1", len(ranges))
	}
	var changes []changefeed.Change
	for {
		page, err := w.Changes(w.Ctx(), container, ranges[0], continuation, limit)
		w.OK(err)
		if len(page.Changes) == 0 {
			return changes, page.Continuation
		}
		changes, continuation = append(changes, page.Changes...), page.Continuation
	}
}

func TestChanges(t *testing.T) {
	w := newWorld(t)
	anna := w.AddUser("anna")
	post := w.AddPost(anna)
	comment := w.AddComment(anna, post)
	_, err := w.LikePost(t.Context(), anna, post.ID)
	w.OK(err)
	copied := storetest.PostAtRevision(post.ID, post.CreationDate, 1, false)
	_, err = w.UserPostView(copied.Author.ID).Project(t.Context(), copied)
	w.OK(err)

	users, _ := w.changes(schema.Users, "", 100)
	if u := users[0]; u.User == nil || *u.User != *anna || u.PartitionKey != anna.ID || u.Renaming {
		t.Errorf("the user: %+v", u)
	}
	if c := users[1]; c.User != nil || c.Post != nil || c.ID != post.ID {
		t.Errorf("the copy of a post counts as a post: %+v", c)
	}
	posts, continuation := w.changes(schema.Posts, "", 1)
	kinds := map[string]changefeed.Change{}
	for _, change := range posts {
		kinds[change.ID] = change
	}
	p := kinds[post.ID]
	if p.Post == nil || p.Post.LikeCount != 1 || p.Post.CommentCount != 1 || p.Post.Author.Revision != anna.Revision ||
		p.Post.Excerpt != post.Excerpt || p.Post.Content != "" || p.Deleted || p.Expires {
		t.Errorf("the post: %+v", p)
	}
	if c := kinds[comment.ID]; c.Comment == nil || c.PartitionKey != post.ID || c.Comment.Author.Username != "anna" {
		t.Errorf("the comment: %+v", c)
	}
	if l := kinds[anna.ID]; l.User != nil || l.Post != nil || l.Comment != nil || l.PartitionKey != post.ID {
		t.Errorf("the like: %+v", l)
	}

	if later, _ := w.changes(schema.Posts, continuation, 100); len(later) != 0 {
		t.Errorf("%d changes after the end of the feed", len(later))
	}
	w.RemovePost(post)
	if later, _ := w.changes(schema.Posts, continuation, 100); len(later) != 1 || !later[0].Deleted || !later[0].Post.Deleted {
		t.Errorf("the changes after the deletion are %+v", later)
	}
}

func TestChangeOfAMalformedItem(t *testing.T) {
	w := newWorld(t)
	w.Plant(w.Container(schema.Posts), "p_1", map[string]any{"id": "p_1", "postId": "p_1", "type": "post", "likeCount": "many"})
	changes, _ := w.changes(schema.Posts, "", 100)
	if len(changes) != 1 || changes[0].Post != nil || changes[0].ID != "p_1" || !cosmos.IsPermanent(changes[0].Err) {
		t.Errorf("the changes are %+v", changes)
	}
}

// TestChangesOfAReplacedContainer checks that a replaced container is detected, before and after
// azcosmos refreshes its metadata, and that its change feed is read from the beginning.
func TestChangesOfAReplacedContainer(t *testing.T) {
	w := newWorld(t)
	anna := w.AddUser("anna")
	for range 5 {
		w.AddPost(anna)
	}
	_, continuation := w.changes(schema.Posts, "", 100)
	ranges, err := w.FeedRanges(t.Context(), schema.Posts)
	w.OK(err)
	before, err := w.ResourceID(t.Context(), schema.Posts)
	w.OK(err)

	_, err = w.Container(schema.Posts).Delete(t.Context(), nil)
	w.OK(err)
	other := w.another() // creates the container again
	for range 9 {
		other.AddPost(anna)
	}
	_, err = w.Changes(t.Context(), schema.Posts, ranges[0], continuation, 100)
	if !errors.Is(err, follow.ErrContainerReplaced) {
		t.Errorf("reading the new container with an old continuation: %v", err)
	}
	now, err := w.ResourceID(t.Context(), schema.Posts)
	w.OK(err)
	if now == before {
		t.Error("the new container has the resource id of the old one")
	}
	_, err = w.Changes(t.Context(), schema.Posts, ranges[0], continuation, 100)
	if !errors.Is(err, follow.ErrContainerReplaced) {
		t.Errorf("after azcosmos refreshed its metadata: %v", err)
	}
	if changes, _ := w.changes(schema.Posts, "", 100); len(changes) != 9 {
		t.Errorf("%d changes of the new container, want 9", len(changes))
	}
}

func TestChangesRejectMalformedContinuations(t *testing.T) {
	w := newWorld(t)
	for _, continuation := range []string{`"11"`, "11", "{}", `{"resourceId":"r","continuation":[]}`} {
		_, err := w.Changes(t.Context(), schema.Posts, follow.FeedRange{Max: "FF"}, continuation, 100)
		if err == nil {
			t.Errorf("the continuation %s was accepted", continuation)
		}
	}
}

// TestPositionBeforeTheEnd checks that a page has no position if the feed has more pages. A change
// of an item that changes again is then only in a later page, so the pages so far may lack it.
func TestPositionBeforeTheEnd(t *testing.T) {
	w := newWorld(t)
	anna := w.AddUser("anna")
	first := w.AddPost(anna)
	w.AddPost(anna)
	w.AddComment(anna, first) // the first post is now after the second
	ranges, err := w.FeedRanges(w.Ctx(), schema.Posts)
	w.OK(err)
	var continuation, position string
	shown := map[string]bool{}
	for !shown[first.ID] {
		if position != "" {
			t.Fatalf("the position is %q before a page has the first post", position)
		}
		page, err := w.Changes(w.Ctx(), schema.Posts, ranges[0], continuation, 1)
		w.OK(err)
		for _, change := range page.Changes {
			shown[change.ID] = true
		}
		continuation, position = page.Continuation, page.Position
	}
	page, err := w.Changes(w.Ctx(), schema.Posts, ranges[0], continuation, 100)
	w.OK(err)
	if page.Position == "" {
		t.Error("the page at the end has no position")
	}
}

// A process whose azcosmos does not know of a split reads each part from its beginning: as the
// projector that takes the lease of a part from the one that made it. azcosmos 1.5.0 enlarges a
// feed range without a continuation to the partition key ranges that it knows
// (resolveFeedRangeToChildren), and cuts one with a continuation (clampChildrenToParent).
func TestPartOfASplitThatIsUnknown(t *testing.T) {
	w := newWorld(t)
	anna := w.AddUser("anna")
	w.changes(schema.Posts, "", 1) // azcosmos now has one range
	w.OK(w.Account.Split(cosmos.DefaultDatabase, schema.Posts, "0"))
	parts, err := w.another().FeedRanges(w.Ctx(), schema.Posts)
	w.OK(err)
	posts := map[string]int{}
	for range 20 {
		posts[w.AddPost(anna).ID] = 0
	}
	for _, part := range parts {
		page := changefeed.ChangePage{Changes: make([]changefeed.Change, 1)}
		for len(page.Changes) > 0 {
			page, err = w.World.Changes(w.Ctx(), schema.Posts, part, page.Continuation, 3)
			w.OK(err)
			if ranges := follow.ContinuationRanges(page.Continuation); len(ranges) != 1 || ranges[0] != part {
				t.Fatalf("the continuation of %v is of %v", part, ranges)
			}
			for _, change := range page.Changes {
				posts[change.ID]++
			}
		}
		if page.Position == "" {
			t.Errorf("at the end of %v, there is no position", part)
		}
	}
	for id, n := range posts {
		if n != 1 {
			t.Errorf("%s was read %d times", id, n)
		}
	}
}
