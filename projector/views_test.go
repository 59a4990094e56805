package projector_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store"
)

// Views equal their source after changes of every kind.
func TestViewsEqualSource(t *testing.T) {
	w := newWorld(t)
	anna, ben := w.user(), w.user()
	posts := w.posts(anna, 3)
	w.comment(ben, posts[0])
	w.like(ben, posts[1])
	w.settle()
	w.wantViewsEqualSource()

	w.delete(posts[0])
	w.rename(ben)
	w.rename(anna)
	w.settle()
	w.wantViewsEqualSource()
}

// The projector's own writes come back as changes. They cause no further writes.
func TestOwnWritesCauseNoWrites(t *testing.T) {
	w := newWorld(t)
	anna, ben := w.user(), w.user()
	posts := w.posts(anna, 5)
	comment := w.comment(ben, posts[0])
	w.comment(ben, posts[1])
	w.delete(posts[1])
	if _, err := w.store.DeleteComment(t.Context(), ben.ID, posts[0].ID, comment.ID); err != nil {
		t.Fatal(err)
	}
	w.rename(ben)
	w.settle()

	wire, s := w.wired()
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, container := range []string{"users", "posts", "feed", "deadletters"} {
		if n := wire.writesTo(container); n != 0 {
			t.Errorf("%d writes to %s", n, container)
		}
	}
}

// Many likes in one page cause one write of each copy.
func TestManyLikesInAPageAreOneWrite(t *testing.T) {
	w := newWorld(t)
	post := w.post(w.user())
	w.settle()
	for i := range 250 {
		w.like(&blog.User{ID: fmt.Sprintf("u_%d", i), Username: "someone", Revision: 2}, post)
	}
	wire, s := w.wired()
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	if users, feed := wire.writesTo("users"), wire.writesTo("feed"); users != 1 || feed != 1 {
		t.Errorf("%d writes to users and %d to feed", users, feed)
	}
	if lists := wire.toLists.Load(); lists != 0 {
		t.Errorf("%d requests to lists", lists)
	}
}

// The deletion of a post is one write in each container, and in users a second one, after the list.
func TestDeletionIsOneWriteEach(t *testing.T) {
	w := newWorld(t)
	post := w.post(w.user())
	w.settle()
	w.delete(post)
	wire, s := w.wired()
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	users, feed, posts, lists := wire.writesTo("users"), wire.writesTo("feed"), wire.writesTo("posts"), wire.writesTo("lists")
	if users != 2 || feed != 1 || posts != 1 || lists != 4 { // an entry and the weight for the month and the tag
		t.Errorf("%d writes to users, %d to feed, %d to posts and %d to lists", users, feed, posts, lists)
	}
}

// A command may read the former name before a rename and write a comment after the first pass.
// The last pass updates it, and not before the command deadline.
func TestLastPassUpdatesLateItems(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	post := w.post(anna)
	renamed := w.rename(anna)
	p := w.projector(w.store)
	settle := func() {
		t.Helper()
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	w.comment(anna, post) // with the former username
	for _, step := range []struct {
		advance time.Duration
		want    string
	}{{0, anna.Username}, {store.SettleTime - 1, anna.Username}, {1, renamed.Username}} {
		w.clock.Advance(step.advance)
		settle()
		comments, err := w.store.Comments(t.Context(), post.ID, blog.PageRequest{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := comments.Items[0].Author.Username; got != step.want {
			t.Errorf("after %v more: %q, want %q", step.advance, got, step.want)
		}
	}
	w.wantViewsEqualSource()
	if sweeps, err := w.store.Sweeps(t.Context()); err != nil || len(sweeps) != 0 {
		t.Errorf("pending sweeps: %v, %v", sweeps, err)
	}
}

// Every view of a post is projected, compared by an audit, and repaired.
func TestEveryViewIsProjectedAndAudited(t *testing.T) {
	w := newWorld(t)
	post := w.post(w.user())
	w.settle()
	for _, view := range w.store.PostViews(post) {
		container, key := w.store.DB.Container(view.Container), azcosmos.NewPartitionKeyString(view.Partition)
		if _, err := container.DeleteItem(t.Context(), key, post.ID, nil); err != nil {
			t.Fatalf("%s has no copy: %v", view.Container, err)
		}
		missing := fmt.Sprintf("missing %s %s", view.Container, post.ID)
		if drifts, _ := w.audit(); !slices.Contains(drifts, missing) {
			t.Errorf("without the copy in %s, an audit finds %q", view.Container, drifts)
		}
		w.audit(func(a *auditing) { a.Repair = true })
		if _, err := container.ReadItem(t.Context(), key, post.ID, nil); err != nil {
			t.Errorf("the copy in %s was not repaired: %v", view.Container, err)
		}
	}
	w.wantNoDrift()
}
