package chores_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/bulk"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/transfer"
)

// interruptedCopy copies a post with 120 comments by bob. Some comments arrive, but not the post.
func interruptedCopy(t *testing.T) (b *world, bob *blog.User, post *blog.Post) {
	t.Helper()
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.AddUser("Ada"), a.AddUser("Bob")
	post = a.AddPost(ada)
	for range 120 {
		a.AddComment(bob, post)
	}
	ctx, cancel := context.WithCancel(t.Context())
	batches := 0
	b.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" {
			if batches++; batches == 2 {
				cancel()
				return nil, storetest.ErrCut
			}
		}
		return next.Do(request)
	})
	if _, err := transfer.Copy(ctx, a.DB, b.DB, transfer.Options{Source: "a"}); err == nil {
		t.Fatal("the copy was not interrupted")
	}
	b.Wire.Inject(nil)
	_, err := b.Post(b.Ctx(), post.ID)
	b.Fails(err, blog.NotFound)
	if b.responses(post) == 0 {
		t.Fatal("the copy left no comment without its post")
	}
	return b, bob, post
}

// deletion deletes a user and returns the pending deletion.
func (w *world) deletion(user *blog.User) chores.Deletion {
	w.T.Helper()
	_, err := w.DeleteUser(w.Ctx(), user.ID, user.Username)
	w.OK(err)
	item, _, err := cosmos.Read[schema.UserItem](w.Ctx(), w.Container(schema.Users), user.ID, user.ID)
	w.OK(err)
	return chores.Deletion{UserID: user.ID, Revision: item.Revision}
}

// A deletion deletes comments whose post is missing.
func TestDeletionWithMissingPosts(t *testing.T) {
	b, bob, post := interruptedCopy(t)
	deletion := b.deletion(bob)
	left := b.responses(post)
	for _, want := range []int{left, 0} {
		if found, err := chores.Run(b.Ctx(), b.DeletionPass(deletion)); err != nil || found != want {
			t.Errorf("a pass found %d items, want %d: %v", found, want, err)
		}
	}
	if n := b.responses(post); n != 0 {
		t.Errorf("%d comments are left", n)
	}
}

// Comments and likes of a deleted post are not orphans: they are deleted with the post.
func TestDeletionLeavesResponsesToDeletedPost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.AddComment(bob, post)
	w.AddLike(bob, post)
	w.RemovePost(post)
	if found, err := chores.Run(w.Ctx(), w.DeletionPass(w.deletion(bob))); err != nil || found != 2 {
		t.Errorf("the pass found %d items: %v", found, err)
	}
	if n := w.responses(post); n != 2 {
		t.Errorf("%d comments and likes are left, want 2", n)
	}
}

// Comments and likes that are left on a post with its ttl are deleted at once.
func TestDeletionOfResponsesToExpiringPost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.RemovePost(post)
	w.OK(w.PurgePost(w.Ctx(), post.ID))
	w.Plant(w.Container(schema.Posts), post.ID, schema.NewLikeItem(post.ID, &blog.Like{User: bob}))
	w.Plant(w.Container(schema.Posts), post.ID, schema.NewCommentItem(post.ID, &blog.Comment{ID: "c_late", Author: bob}))
	if found, err := chores.Run(w.Ctx(), w.DeletionPass(w.deletion(bob))); err != nil || found != 2 {
		t.Errorf("the pass found %d items: %v", found, err)
	}
	if n := w.responses(post); n != 0 {
		t.Errorf("%d comments and likes are left", n)
	}
}

// A deletion stops between two pages if its user exists again: the container users was recreated,
// and the revisions of the account's new user are smaller than that of the deletion.
func TestDeletionStopsForNewUser(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	const n = 150 // more than a page
	for i := range n {
		post := &blog.Post{ID: fmt.Sprintf("p_%d", i), Author: ada, CreationDate: w.Clock.Date()}
		like := &blog.Like{User: bob, CreationDate: w.Clock.Date()}
		_, err := w.WriteThread(w.Ctx(), bulk.Thread{Post: post, Likes: []*blog.Like{like}})
		w.OK(err)
	}
	deletion, deleted := w.deletion(bob), 0
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, schema.DeleteLike.ID) {
			if deleted++; deleted == 100 {
				other := w.another()
				user, etag, err := cosmos.Read[schema.UserItem](w.Ctx(), other.Container(schema.Users), bob.ID, bob.ID)
				w.OK(err)
				user.Deleted, user.Revision = false, 1
				_, err = cosmos.Replace(w.Ctx(), other.Container(schema.Users), bob.ID, bob.ID, user, etag)
				w.OK(err)
			}
		}
		return next.Do(request)
	})
	_, err := chores.Run(w.Ctx(), w.DeletionPass(deletion))
	if w.Fails(err, blog.Conflict); deleted != 100 {
		t.Errorf("%d likes were deleted", deleted)
	}
}

// A rename's sweep may reach a like between the query of a deletion and its step. The step leaves
// the like to the next pass: it would fail again and again with the revision that it has read.
func TestDeletionOfLikeThatIsRenamedMeanwhile(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.AddLike(bob, post)
	_, err := w.UpdateUser(w.Ctx(), bob.ID, "Rob")
	w.OK(err)
	bob.Username = "Rob"
	deletion := w.deletion(bob)
	renamed := false
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.Contains(request.URL.Path, "/sprocs/") && !renamed {
			renamed = true
			other := w.another()
			like, etag, err := cosmos.Read[map[string]any](w.Ctx(), other.Container(schema.Posts), post.ID, bob.ID)
			w.OK(err)
			(*like)["authorRevision"] = deletion.Revision - 1
			_, err = cosmos.Replace(w.Ctx(), other.Container(schema.Posts), post.ID, bob.ID, like, etag)
			w.OK(err)
		}
		return next.Do(request)
	})
	if found, err := chores.Run(w.Ctx(), w.DeletionPass(deletion)); err != nil || found != 1 || !renamed {
		t.Errorf("the pass found %d items: %v", found, err)
	}
	w.HoldsCounts(post.ID, 0, 1)
	if found, err := chores.Run(w.Ctx(), w.DeletionPass(deletion)); err != nil || found != 1 {
		t.Errorf("the next pass found %d items: %v", found, err)
	}
	w.HoldsCounts(post.ID, 0, 0)
}

// TestDeletionOfRenamedUser runs a pass of a deletion that the database has lost. The user was
// renamed since, so the revision is later than the deletion's. Nothing is deleted.
func TestDeletionOfRenamedUser(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	deletion := chores.Deletion{UserID: ada.ID, Revision: ada.Revision + 1}
	var renamed azcosmos.PatchOperations
	renamed.AppendSet("/revision", deletion.Revision+1)
	_, err := w.Container(schema.Users).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(ada.ID), ada.ID, renamed, nil)
	w.OK(err)
	if _, err := chores.Run(w.Ctx(), w.DeletionPass(deletion)); blog.CodeOf(err) != blog.Conflict {
		t.Errorf("the pass: %v", err)
	}
	if post, err := w.Post(w.Ctx(), post.ID); err != nil || post.Deleted {
		t.Errorf("the post is %+v, %v", post, err)
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
	w.OK(w.RecordDeletion(w.Session(), chores.Deletion{UserID: bob.ID, Revision: change.User.Revision}))
	w.OK(w.FinishDeletion(w.Session(), latest.pendingDeletion()))
	user, _, err := cosmos.Read[schema.UserItem](w.Ctx(), latest.Container(schema.Users), bob.ID, bob.ID)
	if w.OK(err); !user.Gone() {
		t.Errorf("the user item is %+v", user)
	}
}

// pendingDeletion returns the only pending deletion.
func (w *world) pendingDeletion() chores.Deletion {
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
	w.OK(w.RecordSweep(w.Ctx(), chores.Sweep{UserID: bob.ID, Username: "Bob", AuthorRevision: bob.Revision}))
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
		w.OK(other.RecordSweep(w.Ctx(), chores.Sweep{UserID: again.ID, Username: "Bob", AuthorRevision: again.Revision}))
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
	if found, err := chores.Run(w.Ctx(), w.DeletionPass(w.pendingDeletion())); err != nil || found != 1 {
		t.Errorf("the next deletion found %d items, %v", found, err)
	}
	if change := w.ReadChange(post.ID, post.ID); !change.Deleted {
		t.Error("the post of the next life is not deleted")
	}
}
