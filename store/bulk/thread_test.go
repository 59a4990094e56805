package bulk_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
)

// threadBy returns a thread with a post by Anna, comments by Bob and Carl, and a like by Carl.
func threadBy(anna, bob, carl *blog.User) bulk.Thread {
	date := blog.NewDateTime(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC))
	return bulk.Thread{
		Post: &blog.Post{ID: "p_talk", Author: anna, Title: "A title", Content: "Some content.", CreationDate: date},
		Comments: []*blog.Comment{
			{ID: "c_bob", Author: bob, Content: "A comment.", CreationDate: date},
			{ID: "c_carl", Author: carl, Content: "A comment.", CreationDate: date},
		},
		Likes: []*blog.Like{{User: carl, CreationDate: date}},
	}
}

// TestWriteThreadWritesCurrentUsernames checks a thread whose writes are throttled for long. Its
// items must have the usernames of the time of writing, and users deleted by then must have no
// items. Renames and deletions may already have finished with the post.
func TestWriteThreadWritesCurrentUsernames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := storetest.New(t)
		anna, bob, carl := w.AddUser("anna"), w.AddUser("bob"), w.AddUser("carl")
		begun, renamed := time.Now(), false
		w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if request.Header.Get(cosmos.IsBatchHeader) == "" {
				return next.Do(request)
			}
			if !renamed {
				renamed = true
				other := w.Another()
				_, err := other.UpdateUser(context.Background(), anna.ID, "anna2")
				w.OK(err)
				_, err = other.UpdateUser(context.Background(), bob.ID, "bob2")
				w.OK(err)
				_, err = other.DeleteUser(context.Background(), carl.ID, "carl")
				w.OK(err)
			}
			if time.Since(begun) < 3*store.CommandDeadline {
				time.Sleep(time.Second)
				return cosmostest.Refuse(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 700")(0, request, nil)
			}
			if deadline, ok := request.Context().Deadline(); !ok || time.Until(deadline) > store.CommandDeadline {
				t.Errorf("the deadline of a batch is %v", deadline)
			}
			return next.Do(request)
		})
		post, err := w.WriteThread(context.Background(), threadBy(anna, bob, carl))
		w.OK(err)
		w.HoldsCounts(post.ID, 1, 0)
		comments := storetest.ListAll(w, post.ID, w.Comments)
		if post.Author.Username != "anna2" || post.Author.Revision != anna.Revision+2 || comments[0].Author.Username != "bob2" {
			t.Errorf("the post is by %+v, the comment by %+v", post.Author, comments[0].Author)
		}
		w.Wire.Inject(nil)
	})
}

// TestWriteThreadOfADeletedUser checks that no post of a deleted user is written.
func TestWriteThreadOfADeletedUser(t *testing.T) {
	w := storetest.New(t)
	anna, bob := w.AddUser("anna"), w.AddUser("bob")
	_, err := w.DeleteUser(w.Ctx(), anna.ID, "anna")
	w.OK(err)
	post, err := w.WriteThread(w.Ctx(), threadBy(anna, bob, bob))
	w.OK(err)
	if _, err := w.Post(w.Ctx(), post.ID); !post.Deleted || blog.CodeOf(err) != blog.NotFound {
		t.Errorf("the post is %+v, reading it: %v", post, err)
	}
}
