package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/storetest"
)

// mutation is a command and what holds after it was done once.
type mutation struct {
	name string
	do   func(w *world, s *store.Store) error
	done func(w *world) // on a world where it was done once
}

// mutations gives each command that writes, on a world with a post of Ada's, Bob's comment on it, and Bob's like.
func mutations(w *world) []mutation {
	ada, bob, carla := w.AddUser("Ada"), w.AddUser("Bob"), w.AddUser("Carla")
	post, victim := w.AddPost(ada), w.AddPost(ada)
	comment := w.AddComment(bob, post)
	_, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	title, one := "Another title", 1
	return []mutation{
		{"createPost", func(w *world, s *store.Store) error {
			_, err := s.CreatePost(w.Ctx(), ada, blog.PostInput{Title: "A title", Content: "Some content."})
			return err
		}, func(w *world) {}},
		{"updatePost", func(w *world, s *store.Store) error {
			_, err := s.UpdatePost(w.Ctx(), ada.ID, post.ID, blog.PostChange{Title: &title, Version: &one})
			return err
		}, func(w *world) {
			edited, err := w.Post(w.Ctx(), post.ID)
			w.OK(err)
			if edited.Title != title || edited.Version != 2 {
				w.T.Errorf("the post is %+v", edited)
			}
		}},
		{"deletePost", func(w *world, s *store.Store) error {
			_, err := s.DeletePost(w.Ctx(), ada.ID, victim.ID)
			return err
		}, func(w *world) {
			_, err := w.Post(w.Ctx(), victim.ID)
			w.Fails(err, blog.NotFound)
		}},
		{"createComment", func(w *world, s *store.Store) error {
			_, err := s.CreateComment(w.Ctx(), carla, blog.CommentInput{PostID: post.ID, Content: "A comment."})
			return err
		}, func(w *world) { w.HoldsCounts(post.ID, 2, 1) }},
		{"updateComment", func(w *world, s *store.Store) error {
			edited, err := s.UpdateComment(w.Ctx(), bob.ID, post.ID, comment.ID, "Edited.")
			if err == nil && (edited.Content != "Edited." || edited.UpdatedDate < edited.CreationDate) {
				err = fmt.Errorf("the comment is %+v", edited)
			}
			return err
		}, func(w *world) { w.HoldsCounts(post.ID, 1, 1) }},
		{"deleteComment", func(w *world, s *store.Store) error {
			_, err := s.DeleteComment(w.Ctx(), bob.ID, post.ID, comment.ID)
			return err
		}, func(w *world) { w.HoldsCounts(post.ID, 0, 1) }},
		{"likePost", func(w *world, s *store.Store) error {
			_, err := s.LikePost(w.Ctx(), carla, post.ID)
			return err
		}, func(w *world) { w.HoldsCounts(post.ID, 1, 2) }},
		{"unlikePost", func(w *world, s *store.Store) error {
			_, err := s.UnlikePost(w.Ctx(), bob.ID, post.ID)
			return err
		}, func(w *world) { w.HoldsCounts(post.ID, 1, 0) }},
		{"createUser", func(w *world, s *store.Store) error {
			_, err := s.CreateUser(w.Ctx(), storetest.Account("Dora"), "Dora")
			return err
		}, func(w *world) { w.bears("Dora", storetest.Account("Dora").UserID()) }},
		{"updateUser", func(w *world, s *store.Store) error {
			_, err := s.UpdateUser(w.Ctx(), bob.ID, "Robert")
			return err
		}, func(w *world) {
			w.bears("Robert", bob.ID)
			_, err := w.UserByUsername(w.Ctx(), "Bob")
			w.Fails(err, blog.NotFound)
		}},
		{"deleteUser", func(w *world, s *store.Store) error {
			_, err := s.DeleteUser(w.Ctx(), bob.ID, "bob")
			return err
		}, func(w *world) {
			_, err := w.User(w.Ctx(), bob.ID)
			if !errors.Is(err, store.ErrBeingDeleted) {
				w.T.Errorf("the user: %v", err)
			}
		}},
	}
}

// underFaults runs every command in a world of its own with the same fault.
func underFaults(t *testing.T, inject storetest.Fault, check func(w *world, m mutation, err error)) {
	names := mutations(newWorld(t))
	for i := range names {
		t.Run(names[i].name, func(t *testing.T) {
			w := newWorld(t)
			m := mutations(w)[i]
			faulty := w.another()
			faulty.Faults.Set(inject)
			check(w, m, m.do(w, faulty.Store))
		})
	}
}

// A connection that is cut after the request was done, at every request in turn: each command is done once and says so.
func TestCutAfterCommit(t *testing.T) {
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			underFaults(t, storetest.OnlyWrites(storetest.CutAfter(n)), func(w *world, m mutation, err error) {
				w.OK(err)
				m.done(w)
			})
		})
	}
}

// 408 says that nobody knows; 449 that another transaction was there first; 429 that there is no throughput. All go
// away by themselves here.
func TestTransientRefusals(t *testing.T) {
	for _, status := range []int{http.StatusRequestTimeout, cosmos.StatusRetryWith, http.StatusTooManyRequests} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			underFaults(t, storetest.OnlyWrites(storetest.Refuse(2, status, "x-ms-retry-after-ms: 1")), func(w *world, m mutation, err error) {
				w.OK(err)
				m.done(w)
			})
		})
	}
}

// What does not go away is told by its code, with the time that the account named.
func TestLastingRefusals(t *testing.T) {
	for _, test := range []struct {
		status     int
		headers    []string
		code       blog.Code
		retryAfter time.Duration
	}{
		{http.StatusTooManyRequests, []string{"x-ms-retry-after-ms: 2"}, blog.Throttled, 2 * time.Millisecond},
		{http.StatusTooManyRequests, []string{"x-ms-retry-after-ms: 5000"}, blog.Throttled, 5 * time.Second},
		{cosmos.StatusRetryWith, nil, blog.Throttled, cosmos.DefaultRetryAfter},
		{http.StatusNotFound, []string{"x-ms-substatus: 1003"}, blog.Internal, 0},
		{http.StatusForbidden, nil, blog.Internal, 0},
		{http.StatusRequestTimeout, nil, blog.Internal, 0},
	} {
		t.Run(fmt.Sprint(test.status, test.headers), func(t *testing.T) {
			underFaults(t, storetest.OnlyWrites(storetest.Refuse(1000, test.status, test.headers...)), func(w *world, m mutation, err error) {
				w.Fails(err, test.code)
				e, _ := errors.AsType[*blog.Error](err)
				if e.RetryAfter != test.retryAfter {
					t.Errorf("the client is told to wait %v, want %v", e.RetryAfter, test.retryAfter)
				}
			})
		})
	}
}

// A read that a replica cannot serve yet, or whose container is gone, is not taken for an item that is not there.
func TestReadsThatAreNotNotFound(t *testing.T) {
	w := newWorld(t)
	post := w.AddPost(w.AddUser("Ada"))
	for substatus, code := range map[int]blog.Code{cosmos.ReadSessionNotAvailable: blog.Throttled, cosmos.OwnerNotFound: blog.Internal} {
		w.Faults.Set(storetest.Refuse(1000, http.StatusNotFound, fmt.Sprintf("x-ms-substatus: %d", substatus)))
		_, err := w.Post(w.Ctx(), post.ID)
		w.Fails(err, code)
	}
	w.Faults.Set(storetest.Refuse(1000, http.StatusNotFound))
	_, err := w.Post(w.Ctx(), post.ID)
	w.Fails(err, blog.NotFound)
}

// A caller that gave up is not kept waiting, and nothing is sent for it any more.
func TestGivenUp(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	ctx, cancel := context.WithCancel(w.Ctx())
	w.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		cancel()
		return nil, storetest.ErrCut
	})
	_, err := w.LikePost(ctx, ada, post.ID)
	w.Fails(err, blog.Internal)
	if n := len(w.Faults.Requests()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	_, err = w.Post(ctx, post.ID)
	if !errors.Is(err, context.Canceled) || blog.CodeOf(err) != blog.Internal {
		t.Errorf("the error is %v", err)
	}
}

// A name that a user gave up is free at once, also where a connection was cut while it was given back.
func TestFormerNameIsFreeAfterACut(t *testing.T) {
	for name, answersLost := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
			cuts := 0
			w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if request.Method != http.MethodDelete || cuts == 2 {
					return next.Do(request)
				}
				cuts++
				if answersLost {
					if _, err := next.Do(request); err != nil {
						return nil, err
					}
				}
				return nil, storetest.ErrCut
			})
			_, err := w.UpdateUser(w.Ctx(), ada.ID, "Adele")
			w.OK(err)
			w.Faults.Set(nil)
			_, err = w.UpdateUser(w.Ctx(), bob.ID, "Ada")
			w.OK(err)
			w.bears("Ada", bob.ID)
		})
	}
}
