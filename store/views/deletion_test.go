package views_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/transfer"
	"cosmosblog/store/views"
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
func (w *world) deletion(user *blog.User) views.Deletion {
	w.T.Helper()
	_, err := w.DeleteUser(w.Ctx(), user.ID, user.Username)
	w.OK(err)
	item, _, err := cosmos.Read[schema.UserItem](w.Ctx(), w.Container(schema.Users), user.ID, user.ID)
	w.OK(err)
	return views.Deletion{UserID: user.ID, Revision: item.Revision}
}

// A deletion deletes comments whose post is missing.
func TestDeletionWithMissingPosts(t *testing.T) {
	b, bob, post := interruptedCopy(t)
	deletion := b.deletion(bob)
	left := b.responses(post)
	for _, want := range []int{left, 0} {
		if found, err := views.Run(b.Ctx(), b.DeletionPass(deletion)); err != nil || found != want {
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
	if found, err := views.Run(w.Ctx(), w.DeletionPass(w.deletion(bob))); err != nil || found != 2 {
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
	if found, err := views.Run(w.Ctx(), w.DeletionPass(w.deletion(bob))); err != nil || found != 2 {
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
	_, err := views.Run(w.Ctx(), w.DeletionPass(deletion))
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
	if found, err := views.Run(w.Ctx(), w.DeletionPass(deletion)); err != nil || found != 1 || !renamed {
		t.Errorf("the pass found %d items: %v", found, err)
	}
	w.HoldsCounts(post.ID, 0, 1)
	if found, err := views.Run(w.Ctx(), w.DeletionPass(deletion)); err != nil || found != 1 {
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
	deletion := views.Deletion{UserID: ada.ID, Revision: ada.Revision + 1}
	var renamed azcosmos.PatchOperations
	renamed.AppendSet("/revision", deletion.Revision+1)
	_, err := w.Container(schema.Users).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(ada.ID), ada.ID, renamed, nil)
	w.OK(err)
	if _, err := views.Run(w.Ctx(), w.DeletionPass(deletion)); blog.CodeOf(err) != blog.Conflict {
		t.Errorf("the pass: %v", err)
	}
	if post, err := w.Post(w.Ctx(), post.ID); err != nil || post.Deleted {
		t.Errorf("the post is %+v, %v", post, err)
	}
}
