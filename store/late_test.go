package store_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// TestProceduresExpire executes each procedure with a deadline that has just passed in the
// database's time, and with one that is about to. Only the second one writes.
func TestProceduresExpire(t *testing.T) {
	w := newWorld(t)
	ada, bob, carla := w.AddUser("Ada"), w.AddUser("Bob"), w.AddUser("Carla")
	th := w.conversation(ada, bob, carla)
	now := w.Clock.Now().UnixMilli()
	for name, c := range map[string]struct {
		procedure cosmos.Script
		argument  func(deadline int64) any
	}{
		"createPost": {schema.CreatePost, func(deadline int64) any {
			return store.CreatePostArgument{Post: &schema.PostItem{ID: "p_new", PostID: th.post.ID, UserID: ada.ID, Content: "New."}, Deadline: deadline}
		}},
		"createComment": {schema.CreateComment, func(deadline int64) any {
			return store.CreateCommentArgument{PostID: th.post.ID, Comment: schema.CommentItem{ID: "c_new", PostID: th.post.ID, UserID: carla.ID, Content: "New."}, Deadline: deadline}
		}},
		"updateComment": {schema.UpdateComment, func(deadline int64) any {
			return store.UpdateCommentArgument{ID: th.comment.ID, PostID: th.post.ID, UserID: bob.ID, Content: "New.", Deadline: deadline}
		}},
		"createLike": {schema.CreateLike, func(deadline int64) any {
			return store.CreateLikeArgument{PostID: th.post.ID, Like: schema.LikeItem{ID: carla.ID, PostID: th.post.ID, UserID: carla.ID}, Deadline: deadline}
		}},
		"deleteLike": {schema.DeleteLike, func(deadline int64) any {
			return store.DeleteLikeArgument{PostID: th.post.ID, UserID: bob.ID, AuthorRevision: bob.Revision, Deadline: deadline}
		}},
	} {
		before := w.partition(th.post.ID)
		var a struct{ Code string }
		_, err := w.DB.Execute(w.Ctx(), c.procedure, th.post.ID, c.argument(now-1), &a)
		w.OK(err)
		if a.Code != schema.CodeTooLate || !w.partition(th.post.ID).equal(before) {
			t.Errorf("%s after its deadline: %s, %v, before %v", name, a.Code, w.partition(th.post.ID), before)
		}
		_, err = w.DB.Execute(w.Ctx(), c.procedure, th.post.ID, c.argument(now), &a)
		w.OK(err)
		if a.Code != schema.CodeOK || w.partition(th.post.ID).equal(before) {
			t.Errorf("%s before its deadline: %s", name, a.Code)
		}
	}
}

// TestDeadlineCountsFromTheRead holds the request of a command back until more than CommandDeadline
// after its user was read, while the clock of the server stands still. A request of which nothing
// was done before is THROTTLED. If an earlier try may have been done, the outcome is unknown.
func TestDeadlineCountsFromTheRead(t *testing.T) {
	for name, c := range map[string]struct {
		lost bool
		code blog.Code
	}{"late": {false, blog.Throttled}, "late again": {true, blog.Internal}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server := &world{w.AnotherAt(storetest.NewStillClock(w.Clock.Now().Add(time.Hour)), nil)}
			post := w.AddPost(w.AddUser("Ada"))
			bob, err := server.User(t.Context(), w.AddUser("Bob").ID)
			w.OK(err)
			server.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if c.lost && n == 1 {
					_, _ = next.Do(request)
					return nil, storetest.ErrCut
				}
				w.Clock.Advance(store.CommandDeadline + 2*time.Second)
				return next.Do(request)
			})
			_, err = server.CreateComment(t.Context(), bob, blog.CreateCommentInput{PostID: post.Ref(), Content: "Late."})
			w.Fails(err, c.code)
			comments := 0
			if c.lost {
				comments = 1
			}
			w.HoldsCounts(post.ID, comments, 0)
		})
	}
}

// TestLateReservation delivers the reservation of a rename after another rename of the user, when
// the last pass of the sweep is over. The process of the first rename has died meanwhile.
func TestLateReservation(t *testing.T) {
	for name, taken := range map[string]bool{"free": false, "stale": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			bob := w.AddUser("Bob")
			if taken {
				w.Plant(w.Container(schema.Usernames), "robert", schema.ReservationItem{ID: "robert", UserID: "u_gone"})
				w.Clock.Advance(store.ReservationAge)
			}
			first := w.Another()
			dead := false
			first.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if dead {
					return nil, storetest.ErrCut
				}
				if request.Method == http.MethodGet || !strings.Contains(request.URL.Path, "/colls/usernames/") {
					return next.Do(request)
				}
				dead = true
				_, err := w.UpdateUser(w.Ctx(), bob.ID, "Carl")
				w.OK(err)
				w.Clock.Advance(store.SettleTime)
				_, _ = next.Do(request)
				return nil, storetest.ErrCut
			})
			if _, err := first.UpdateUser(w.Ctx(), bob.ID, "Robert"); err == nil || !dead {
				t.Fatal("the rename did not die")
			}
			reservation, _, err := cosmos.Read[schema.ReservationItem](w.Ctx(), w.Container(schema.Usernames), "robert", "robert")
			if err == nil && reservation.UserID == bob.ID {
				t.Error("the late request reserved the username")
			}
		})
	}
}

// TestUnlikeAfterRename removes a like that a rename has reached since the user was read.
func TestUnlikeAfterRename(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	_, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	renamed, err := w.UpdateUser(w.Ctx(), bob.ID, "Robert")
	w.OK(err)
	_, err = w.updateUsernames(post.ID, map[string]any{"userId": bob.ID, "username": "Robert", "authorRevision": renamed.Revision})
	w.OK(err)
	w.Fails(w.RemoveLike(w.Ctx(), bob.ID, post.ID, bob.Revision), blog.TryAgain)
	w.HoldsCounts(post.ID, 0, 1)
	_, err = w.UnlikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	w.HoldsCounts(post.ID, 0, 0)

	_, err = w.LikePost(w.Ctx(), renamed, post.ID)
	w.OK(err)
	_, err = w.DeleteUser(w.Ctx(), bob.ID, "Robert")
	w.OK(err)
	_, err = w.UnlikePost(w.Ctx(), bob, post.ID) // the deletion removes the like
	w.Fails(err, blog.NotFound)
	w.HoldsCounts(post.ID, 0, 1)
}
