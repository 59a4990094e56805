package store

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/blog"
)

// talk is a thread of anna's on which bob says something and carl, too, who likes it.
func talk(anna, bob, carl *blog.User) Thread {
	date := blog.NewDateTime(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC))
	return Thread{
		Post: &blog.Post{ID: "p_talk", Author: anna, Title: "A title", Content: "Some content.", CreationDate: date},
		Comments: []*blog.Comment{
			{ID: "c_bob", Author: bob, Content: "A comment.", CreationDate: date},
			{ID: "c_carl", Author: carl, Content: "A comment.", CreationDate: date},
		},
		Likes: []*blog.Like{{User: carl, CreationDate: date}},
	}
}

// A thread that the account holds up for long bears the names of when it is written, and nothing of who was deleted: what a
// rename or a deletion leaves to do may be done by then.
func TestWriteThreadBearsTheNamesOfItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		anna, bob, carl := w.user("anna"), w.user("bob"), w.user("carl")
		begun, renamed := time.Now(), false
		w.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
			if request.Header.Get(isBatchHeader) == "" {
				return next.Do(request)
			}
			if !renamed {
				renamed = true
				other := w.another()
				_, err := other.UpdateUser(context.Background(), anna.ID, "anna2")
				w.ok(err)
				_, err = other.UpdateUser(context.Background(), bob.ID, "bob2")
				w.ok(err)
				_, err = other.DeleteUser(context.Background(), carl.ID, "carl")
				w.ok(err)
			}
			if time.Since(begun) < 3*CommandDeadline {
				time.Sleep(time.Second)
				return refusal(request, http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 700"), nil
			}
			if deadline, ok := request.Context().Deadline(); !ok || time.Until(deadline) > CommandDeadline {
				t.Errorf("a batch may take until %v", deadline)
			}
			return next.Do(request)
		})
		post, err := w.WriteThread(context.Background(), talk(anna, bob, carl))
		w.ok(err)
		w.counts(post.ID, 1, 0)
		comments := listAll(w, post.ID, w.Comments)
		if post.Author.Username != "anna2" || post.Author.Revision != anna.Revision+2 || comments[0].Author.Username != "bob2" {
			t.Errorf("a post of %+v, a comment of %+v", post.Author, comments[0].Author)
		}
		w.faults.set(nil)
	})
}

// Of who was deleted no post is written, and none is to be shown.
func TestWriteThreadOfADeletedUser(t *testing.T) {
	w := newWorld(t)
	anna, bob := w.user("anna"), w.user("bob")
	_, err := w.DeleteUser(w.ctx(), anna.ID, "anna")
	w.ok(err)
	post, err := w.WriteThread(w.ctx(), talk(anna, bob, bob))
	w.ok(err)
	if _, err := w.Post(w.ctx(), post.ID); !post.Deleted || blog.CodeOf(err) != blog.NotFound {
		t.Errorf("%+v, %v", post, err)
	}
}
