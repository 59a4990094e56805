package bulk_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/storetest"
)

// talk is a thread of anna's on which bob says something and carl, too, who likes it.
func talk(anna, bob, carl *blog.User) bulk.Thread {
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

// A thread that the account holds up for long bears the names of when it is written, and nothing of who was deleted: what a
// rename or a deletion leaves to do may be done by then.
func TestWriteThreadBearsTheNamesOfItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := storetest.New(t)
		anna, bob, carl := w.AddUser("anna"), w.AddUser("bob"), w.AddUser("carl")
		begun, renamed := time.Now(), false
		w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
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
				return storetest.Refusal(request, http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 700"), nil
			}
			if deadline, ok := request.Context().Deadline(); !ok || time.Until(deadline) > store.CommandDeadline {
				t.Errorf("a batch may take until %v", deadline)
			}
			return next.Do(request)
		})
		post, err := w.WriteThread(context.Background(), talk(anna, bob, carl))
		w.OK(err)
		w.HoldsCounts(post.ID, 1, 0)
		comments := storetest.ListAll(w, post.ID, w.Comments)
		if post.Author.Username != "anna2" || post.Author.Revision != anna.Revision+2 || comments[0].Author.Username != "bob2" {
			t.Errorf("a post of %+v, a comment of %+v", post.Author, comments[0].Author)
		}
		w.Faults.Set(nil)
	})
}

// Of who was deleted no post is written, and none is to be shown.
func TestWriteThreadOfADeletedUser(t *testing.T) {
	w := storetest.New(t)
	anna, bob := w.AddUser("anna"), w.AddUser("bob")
	_, err := w.DeleteUser(w.Ctx(), anna.ID, "anna")
	w.OK(err)
	post, err := w.WriteThread(w.Ctx(), talk(anna, bob, bob))
	w.OK(err)
	if _, err := w.Post(w.Ctx(), post.ID); !post.Deleted || blog.CodeOf(err) != blog.NotFound {
		t.Errorf("%+v, %v", post, err)
	}
}
