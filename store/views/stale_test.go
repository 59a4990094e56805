package views_test

import (
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// The like of a post that a refill has just brought back to the feed shows there, although a
// replica has neither the copy nor the lowered horizon.
func TestLikeOfRefilledPostOnStaleReplica(t *testing.T) {
	w, replica := storetest.NewStale(t)
	ada := w.AddUser("Ada")
	post, newer := w.AddPost(ada), w.AddPost(ada)
	w.Plant(w.Container(schema.Feed), schema.FeedPartition,
		views.HorizonAt(views.FeedPosition{ID: newer.ID, CreationDate: newer.CreationDate}))
	replica.Hold()
	w.OK(w.RefillFeed(w.Session()))
	w.AddLike(ada, post)
	other := w.Another() // reads the latest state
	change := other.ReadChange(post.ID, post.ID)

	written, err := w.FeedView().Project(w.Session(), change.Post)
	w.OK(err)
	copied, _, err := cosmos.Read[schema.PostItem](w.Ctx(), other.Container(schema.Feed), schema.FeedPartition, post.ID)
	w.OK(err)
	if !written || copied.LikeCount != 1 || replica.Stale() == 0 {
		t.Errorf("written: %t, likes of the copy: %d, stale reads: %d", written, copied.LikeCount, replica.Stale())
	}
}

// A refill brings back a post with its latest like, although a replica does not have the like. When
// the like was projected, the post had no copy. It is not projected again.
func TestRefillOfLikedPostOnStaleReplica(t *testing.T) {
	w, replica := storetest.NewStale(t)
	ada := w.AddUser("Ada")
	post, newer := w.AddPost(ada), w.AddPost(ada)
	w.Plant(w.Container(schema.Feed), schema.FeedPartition,
		views.HorizonAt(views.FeedPosition{ID: newer.ID, CreationDate: newer.CreationDate}))
	replica.Hold()
	w.AddLike(ada, post)
	other := w.Another() // reads the latest state
	written, err := views.New(other.DB).FeedView().Project(other.Session(), other.ReadChange(post.ID, post.ID).Post)
	if w.OK(err); written {
		t.Fatal("the post is below the horizon, but its like was written to the feed")
	}
	w.OK(w.RefillFeed(w.Session()))
	copied, _, err := cosmos.Read[schema.PostItem](w.Ctx(), other.Container(schema.Feed), schema.FeedPartition, post.ID)
	w.OK(err)
	if copied.LikeCount != 1 || replica.Stale() == 0 {
		t.Errorf("likes of the copy: %d, stale reads: %d", copied.LikeCount, replica.Stale())
	}
}

// A new post that a refill under way admits enters the feed, although a replica has not seen the
// refill's mark.
func TestNewPostDuringRefillOnStaleReplica(t *testing.T) {
	w, replica := storetest.NewStale(t)
	ada := w.AddUser("Ada")
	post, newer := w.AddPost(ada), w.AddPost(ada)
	other := w.Another() // reads the latest state
	w.Plant(w.Container(schema.Feed), schema.FeedPartition,
		views.HorizonAt(views.FeedPosition{ID: newer.ID, CreationDate: newer.CreationDate}))
	replica.Hold()
	horizon, etag, err := views.New(other.DB).ReadHorizon(w.Ctx())
	w.OK(err)
	_, err = w.MarkRefill(w.Ctx(), horizon, etag, views.FeedPosition{})
	w.OK(err)
	written, err := w.FeedView().Project(w.Session(), other.ReadChange(post.ID, post.ID).Post)
	if w.OK(err); !written || replica.Stale() == 0 {
		t.Errorf("written: %t, stale reads: %d", written, replica.Stale())
	}
}
