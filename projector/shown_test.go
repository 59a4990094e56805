//go:build ci

package projector_test

import (
	"strings"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/views"
)

// Each command, script and chore that deletes an item also writes another one of its partition. The
// change feed then shows that the partition has changed, and servers drop what they kept of it.
func TestDeletionsShowInChangeFeeds(t *testing.T) {
	w := newWorld(t)
	shown := storetest.NewShown(w.engine)
	w.store = w.open(shown)
	user, other, others := w.activeUser()
	post := w.post(user)
	tagged, err := w.store.CreatePost(w.Context(), user, blog.CreatePostInput{
		Title: "Tagged", Content: strings.Repeat("long ", 4000), Tags: []string{"one", "two"}})
	w.must(err)
	w.settle()
	short := "short"
	_, err = w.store.UpdatePost(w.Context(), user.ID, blog.UpdatePostInput{ID: tagged.Ref(), PostChange: blog.PostChange{Content: &short, Tags: []string{"two"}}})
	w.must(err)
	comment := w.comment(other, post)
	w.like(other, post)
	w.settle()
	_, err = w.store.UnlikePost(w.Context(), other, post.ID)
	w.must(err)
	_, err = w.store.DeleteComment(w.Context(), other.ID, post.ID, comment.ID)
	w.must(err)
	w.rename(other)
	w.settle()
	w.posts(other, views.FeedCapacity+2) // truncates the feed
	w.settle()
	w.delete(post)
	w.delete(others)
	w.settle()
	w.deleteUser(user)
	w.settle()
	w.clock.Advance(time.Hour)
	w.settle()
	w.rebuild()
	w.settle()
	w.wantNoDrift()
	for _, write := range shown.Hidden {
		t.Error("no change feed shows", write)
	}
}

// TestEtagsOfShownChanges runs tests under both behaviours of the etag of a page of a change feed:
// see store/changefeed.
func TestEtagsOfShownChanges(t *testing.T) {
	etagsOfShownChanges = true
	t.Cleanup(func() { etagsOfShownChanges = false })
	for name, test := range map[string]func(*testing.T){
		"lag": TestLagGrowsUntilProjected, "lag of a split": TestLagOfSplitRange, "split": TestSplitKeepsCheckpoint,
		"several projectors": TestSplitsWithSeveralProjectors, "posts go back": TestPostsGoBack, "lagging replica": TestLaggingReplicaEndsNoHistory,
		"no position": TestNoPositionBeforeTheRebuild, "writes wake": TestWritesWakeProjector, "recreated": TestRecreatedContainer,
		"views": TestViewsEqualSource, "leases": TestProjectorsShareLeases, "merge": TestMergedRangesAreReadOnce,
	} {
		t.Run(name, test)
	}
}
