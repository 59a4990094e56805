package views_test

import (
	"net/http"
	"strings"
	"testing"

	"cosmosblog/cosmostest"
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

// The end of a deletion deletes the user's sweep. If that request arrives late, it does not delete
// the sweep of the account's next user.
func TestLateEndOfDeletionLeavesNextSweep(t *testing.T) {
	w := newWorld(t)
	bob := w.AddUser("Bob")
	w.OK(w.RecordSweep(w.Ctx(), views.Sweep{UserID: bob.ID, Username: "Bob", AuthorRevision: bob.Revision}))
	w.OK(w.RecordDeletion(w.Ctx(), w.deletion(bob)))
	ended := false
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if ended || request.Method != http.MethodDelete || !strings.Contains(request.URL.Path, "/sweep.") {
			return next.Do(request)
		}
		ended = true
		other := &world{w.Another()}
		w.OK(other.FinishDeletion(w.Ctx(), other.pendingDeletion()))
		again := other.AddUser("Bob")
		w.OK(other.RecordSweep(w.Ctx(), views.Sweep{UserID: again.ID, Username: "Bob", AuthorRevision: again.Revision}))
		return next.Do(request)
	})
	_ = w.FinishDeletion(w.Ctx(), w.pendingDeletion())
	sweeps, err := w.Sweeps(w.Ctx())
	if w.OK(err); !ended || len(sweeps) != 1 || sweeps[0].AuthorRevision <= bob.Revision {
		t.Errorf("pending: %v", sweeps)
	}
}

// A deletion whose worker died after the tombstone does not end the next life of the account, which
// is being deleted in turn.
func TestOldDeletionLeavesNextLife(t *testing.T) {
	w := newWorld(t)
	bob := w.AddUser("Bob")
	w.OK(w.RecordDeletion(w.Ctx(), w.deletion(bob)))
	old := w.pendingDeletion()
	w.Wire.Inject(cosmostest.Writes(cosmostest.From(5, storetest.CutBefore))) // the session, the username, the session of the sweep, the tombstone
	if err := w.FinishDeletion(w.Ctx(), old); err == nil {
		t.Fatal("the worker did not die")
	}
	w.Wire.Inject(nil)

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
