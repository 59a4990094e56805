package views_test

import (
	"testing"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
	"cosmosblog/store/views"
)

// The like of a post that a refill has just brought back to the feed shows there, although a
// replica has neither the copy nor the lowered horizon.
func TestLikeOfRefilledPostOnStaleReplica(t *testing.T) {
	w, replica := storetest.NewStale(t)
	ada := w.AddUser("Ada")
	post, newer := w.AddPost(ada), w.AddPost(ada)
	w.Plant(w.Container(schema.Feed), schema.FeedPartition,
		views.HorizonAt(views.Position{ID: newer.ID, CreationDate: newer.CreationDate}))
	replica.Hold()
	w.OK(w.RefillFeed(w.Session()))
	w.AddLike(ada, post)
	other := w.Another() // reads the latest state
	change := other.ReadChange(post.ID, post.ID)

	written, err := w.ProjectFeedPost(w.Session(), change.Post)
	w.OK(err)
	copied, _, err := cosmos.Read[schema.PostItem](w.Ctx(), other.Container(schema.Feed), schema.FeedPartition, post.ID)
	w.OK(err)
	if !written || copied.LikeCount != 1 || replica.Stale() == 0 {
		t.Errorf("written: %t, likes of the copy: %d, stale reads: %d", written, copied.LikeCount, replica.Stale())
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
		views.HorizonAt(views.Position{ID: newer.ID, CreationDate: newer.CreationDate}))
	replica.Hold()
	horizon, etag, err := views.New(other.DB).ReadHorizon(w.Ctx())
	w.OK(err)
	_, err = w.MarkRefill(w.Ctx(), horizon, etag, views.Position{})
	w.OK(err)
	written, err := w.ProjectFeedPost(w.Session(), other.ReadChange(post.ID, post.ID).Post)
	if w.OK(err); !written || replica.Stale() == 0 {
		t.Errorf("written: %t, stale reads: %d", written, replica.Stale())
	}
}

// A deletion is finished although a replica still has the user as not deleted.
func TestFinishDeletionOnStaleReplica(t *testing.T) {
	w, replica := storetest.NewStale(t)
	bob := w.AddUser("Bob")
	replica.Hold()
	_, err := w.DeleteUser(w.Session(), bob.ID, bob.Username)
	w.OK(err)
	latest := &world{w.Another()}
	change, err := latest.Change(w.Ctx(), schema.Users, bob.ID, bob.ID)
	w.OK(err)
	w.OK(w.RecordDeletion(w.Session(), views.Deletion{UserID: bob.ID, Revision: change.User.Revision}))
	w.OK(w.FinishDeletion(w.Session(), latest.pendingDeletion()))
	user, _, err := cosmos.Read[schema.UserItem](w.Ctx(), latest.Container(schema.Users), bob.ID, bob.ID)
	if w.OK(err); !user.Gone() {
		t.Errorf("the user item is %+v", user)
	}
}

// pendingDeletion returns the only pending deletion.
func (w *world) pendingDeletion() views.Deletion {
	w.T.Helper()
	pending, err := w.Deletions(w.Ctx())
	if w.OK(err); len(pending) != 1 {
		w.T.Fatalf("pending deletions: %v", pending)
	}
	return pending[0]
}

// A deletion whose worker died after the tombstone does not end the next life of the account, which
// is being deleted in turn.
func TestOldDeletionLeavesNextLife(t *testing.T) {
	w := newWorld(t)
	bob := w.AddUser("Bob")
	w.OK(w.RecordDeletion(w.Ctx(), w.deletion(bob)))
	old := w.pendingDeletion()
	w.Faults.Set(storetest.OnlyWrites(storetest.DeadFrom(6))) // the session, a query, the username, the sweep, the tombstone
	if err := w.FinishDeletion(w.Ctx(), old); err == nil {
		t.Fatal("the worker did not die")
	}
	w.Faults.Set(nil)

	again := w.AddUser("Bob")
	post := w.AddPost(again)
	next := w.deletion(again)
	w.OK(w.FinishDeletion(w.Ctx(), old))
	user, _, err := cosmos.Read[schema.UserItem](w.Ctx(), w.Container(schema.Users), again.ID, again.ID)
	if w.OK(err); again.ID != bob.ID || !user.Deleted || user.Gone() {
		t.Fatalf("the old deletion ended the next life: %+v", user)
	}
	w.OK(w.RecordDeletion(w.Ctx(), next))
	if found, err := views.Run(w.Ctx(), w.DeletionPass(w.pendingDeletion())); err != nil || found != 1 {
		t.Errorf("the next deletion found %d items, %v", found, err)
	}
	if change := w.ReadChange(post.ID, post.ID); !change.Deleted {
		t.Error("the post of the next life is not deleted")
	}
}
