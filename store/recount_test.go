package store

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// Counters that are wrong are set in one transaction with a new revision; where one operation is refused, nothing is; and
// where they are right, nothing is written.
func TestRecountPost(t *testing.T) {
	scriptWorlds(t, func(t *testing.T, w *world, r *refuser) {
		ada, bob := w.user("Ada"), w.user("Bob")
		post := w.post(ada)
		const many = 1100 // more than one page
		var texts [][]byte
		for range many {
			text, err := itemJSON(newCommentItem(post.ID, &blog.Comment{ID: w.ids.NewCommentID("", "", ""), Author: ada, CreationDate: "2026"}))
			w.ok(err)
			texts = append(texts, text)
		}
		w.plantAll(post.ID, texts)
		deleted := w.comment(bob, post)
		_, err := w.DeleteComment(w.ctx(), bob.ID, post.ID, deleted.ID)
		w.ok(err)
		for _, user := range []*blog.User{ada, bob} {
			_, err := w.LikePost(w.ctx(), user, post.ID)
			w.ok(err)
		}
		w.damage(post.ID, map[string]any{"/commentCount": 7, "/likeCount": -3})
		before, _, err := read[postItem](w.ctx(), w.posts, post.ID, post.ID)
		w.ok(err)

		for n := range int64(4) { // the post, two pages, the post again
			r.nth.Store(n + 1)
			_, err := w.recountPost(w.ctx(), post.ID)
			w.fails(err, blog.Throttled)
			r.nth.Store(0)
			after, _, err := read[postItem](w.ctx(), w.posts, post.ID, post.ID)
			w.ok(err)
			if *after != *before {
				t.Fatalf("refused at %d, the post is %+v", n+1, after)
			}
		}
		for round, wantMended := range []bool{true, false} {
			mended, err := w.recountPost(w.ctx(), post.ID)
			w.ok(err)
			after, _, err := read[postItem](w.ctx(), w.posts, post.ID, post.ID)
			w.ok(err)
			want := *before
			want.CommentCount, want.LikeCount, want.Revision = many, 2, before.Revision+1
			if mended != wantMended || *after != want {
				t.Errorf("round %d: mended %t, the post is %+v, want %+v", round, mended, after, want)
			}
		}
		_, err = w.recountPost(w.ctx(), "p_unknown")
		w.fails(err, blog.NotFound)
		w.ok(w.markDeleted(w.ctx(), before))
		_, err = w.recountPost(w.ctx(), post.ID)
		w.fails(err, blog.NotFound)
	})
}

// plantAll writes items into one partition of posts, as they are.
func (w *world) plantAll(postID string, texts [][]byte) {
	w.t.Helper()
	for len(texts) > 0 {
		batch := w.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(postID))
		n := min(maxBatch, len(texts))
		for _, text := range texts[:n] {
			batch.CreateItem(text, nil)
		}
		w.ok(executeBatch(w.ctx(), w.posts, batch))
		texts = texts[n:]
	}
}

// damage sets properties of a post, and nothing else of it.
func (w *world) damage(postID string, properties map[string]any) {
	w.t.Helper()
	var changes azcosmos.PatchOperations
	for path, value := range properties {
		changes.AppendSet(path, value)
	}
	_, err := w.posts.PatchItem(w.ctx(), azcosmos.NewPartitionKeyString(postID), postID, changes, nil)
	w.ok(err)
}

// A post with more comments and likes than one script can count in its time is counted all the same.
func TestAPostThatNoScriptCanCount(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	post := w.post(ada)
	w.comment(ada, post)
	w.ok(w.RepairPost(w.ctx(), post.ID))
	w.damage(post.ID, map[string]any{"/commentCount": 7, "/likeCount": 7, "/revision": 7})
	w.ok(w.RepairPost(w.ctx(), post.ID))
	refused := 0
	w.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if !strings.HasSuffix(request.URL.Path, recountPostScript.id) {
			return next.Do(request)
		}
		if refused++; refused > 100 {
			t.Fatal("the script is tried for ever")
		}
		return refusal(request, http.StatusBadRequest, "X-Ms-Substatus: 429"), nil
	})
	audited, err := (&Auditing{Store: w.Store, Repair: true, Sleep: w.again.sleep}).Run(w.ctx())
	w.ok(err)
	w.faults.set(nil)
	if audited.Drifts != 2 || audited.Mended != 2 {
		t.Errorf("%+v", audited)
	}
	w.counts(post.ID, 1, 0)
}
