package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
)

// mutation is a command, and a check of its effect.
type mutation struct {
	name string
	do   func(w *world, s *store.Store) error
	done func(w *world) // checks that it was done exactly once
}

// mutations returns each command that writes, after it has created a post by Ada with a comment and
// a like by Bob. All usernames end with the suffix.
func mutations(w *world, suffix string) []mutation {
	ada, bob, carla := w.AddUser("Ada"+suffix), w.AddUser("Bob"+suffix), w.AddUser("Carla"+suffix)
	dora, robert := "Dora"+suffix, "Robert"+suffix
	post, deleted := w.AddPost(ada), w.AddPost(ada)
	comment := w.AddComment(bob, post)
	_, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	title, one := "Another title", 1
	return []mutation{
		{"createPost", func(w *world, s *store.Store) error {
			_, err := s.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: "Some content."})
			return err
		}, func(w *world) {}},
		{"updatePost", func(w *world, s *store.Store) error {
			_, err := s.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title, Version: &one}})
			return err
		}, func(w *world) {
			edited, err := w.Post(w.Ctx(), post.ID)
			w.OK(err)
			if edited.Title != title || edited.Version != 2 {
				w.T.Errorf("the post is %+v", edited)
			}
		}},
		{"deletePost", func(w *world, s *store.Store) error {
			_, err := s.DeletePost(w.Ctx(), ada.ID, deleted.ID)
			return err
		}, func(w *world) {
			_, err := w.Post(w.Ctx(), deleted.ID)
			w.Fails(err, blog.NotFound)
		}},
		{"createComment", func(w *world, s *store.Store) error {
			_, err := s.CreateComment(w.Ctx(), carla, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
			return err
		}, func(w *world) { w.HoldsCounts(post.ID, 2, 1) }},
		{"updateComment", func(w *world, s *store.Store) error {
			edited, err := s.UpdateComment(w.Ctx(), bob.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: "Edited."})
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
			_, err := s.UnlikePost(w.Ctx(), bob, post.ID)
			return err
		}, func(w *world) { w.HoldsCounts(post.ID, 1, 0) }},
		{"createUser", func(w *world, s *store.Store) error {
			_, err := s.CreateUser(w.Ctx(), storetest.Account(dora), dora)
			return err
		}, func(w *world) { w.holdsUsername(dora, storetest.Account(dora).UserID()) }},
		{"updateUser", func(w *world, s *store.Store) error {
			_, err := s.UpdateUser(w.Ctx(), bob.ID, robert)
			return err
		}, func(w *world) {
			w.holdsUsername(robert, bob.ID)
			_, err := w.UserByUsername(w.Ctx(), bob.Username)
			w.Fails(err, blog.NotFound)
		}},
		{"deleteUser", func(w *world, s *store.Store) error {
			_, err := s.DeleteUser(w.Ctx(), bob.ID, "b"+bob.Username[1:])
			return err
		}, func(w *world) {
			_, err := w.User(w.Ctx(), bob.ID)
			if !errors.Is(err, store.ErrBeingDeleted) {
				w.T.Errorf("the user: %v", err)
			}
		}},
	}
}

// underFaults runs every command with the same fault, each with its own users and posts.
func underFaults(t *testing.T, inject func() cosmostest.Fault, check func(w *world, m mutation, err error)) {
	shared := newWorld(t)
	faulty := shared.another()
	for i, named := range mutations(shared, "") {
		t.Run(named.name, func(t *testing.T) {
			w := shared.on(t)
			m := mutations(w, fmt.Sprint(i))[i]
			faulty.Wire.Inject(inject())
			check(w, m, m.do(w, faulty.Store))
		})
	}
}

// TestLostAnswers loses the answer of each write of a command in turn. The command must succeed
// and take effect once.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inject := func() cosmostest.Fault { return cosmostest.Writes(cosmostest.Nth(n, storetest.CutAfter)) }
			underFaults(t, inject, func(w *world, m mutation, err error) {
				w.OK(err)
				m.done(w)
			})
		})
	}
}

// TestTransientRejections rejects the first write with 408 (outcome unknown), or the first two with
// 449 (conflict of transactions) or 429 (throttled). The command must succeed.
func TestTransientRejections(t *testing.T) {
	t.Parallel()
	for status, times := range map[int]int{http.StatusRequestTimeout: 1, cosmos.StatusRetryWith: 2, http.StatusTooManyRequests: 2} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			inject := func() cosmostest.Fault {
				return cosmostest.Writes(cosmostest.First(times, cosmostest.Refuse(status, "x-ms-retry-after-ms: 1")))
			}
			underFaults(t, inject, func(w *world, m mutation, err error) {
				w.OK(err)
				m.done(w)
			})
		})
	}
}

// TestScriptTimeouts answers every execution of a script with 408, after it was executed or not, or
// the first with 408 and the next with another answer of unknown outcome. No layer executes it a
// third time: an account blocks a script that often runs out of time.
func TestScriptTimeouts(t *testing.T) {
	t.Parallel()
	refuse := cosmostest.Refuse(http.StatusRequestTimeout)
	for name, fault := range map[string]cosmostest.Fault{
		"not executed": refuse,
		"executed":     cosmostest.Executed(refuse),
		"then cut": func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n == 1 {
				return refuse(n, request, next)
			}
			return cosmostest.CutBefore(n, request, next)
		},
		"then missing": func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n == 1 {
				return refuse(n, request, next)
			}
			return cosmostest.Refuse(http.StatusNotFound)(n, request, next)
		},
		"then stopped": func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n == 1 {
				return refuse(n, request, next)
			}
			return cosmostest.Refuse(http.StatusBadRequest, "x-ms-substatus: 429")(n, request, next)
		},
		"then a conflict": func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n == 1 {
				return refuse(n, request, next)
			}
			return cosmostest.Refuse(cosmos.StatusRetryWith)(n, request, next)
		},
		"then throttled": func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n == 1 {
				return refuse(n, request, next)
			}
			return cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 10000")(n, request, next)
		},
	} {
		t.Run(name, func(t *testing.T) {
			executions := 0
			inject := func() cosmostest.Fault {
				executions = 0
				return func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
					if target, _ := cosmos.TargetOf(request); target.Operation != "execute" {
						return next.Do(request)
					}
					executions++
					return fault(executions, request, next)
				}
			}
			underFaults(t, inject, func(w *world, m mutation, err error) {
				if executions > 2 {
					w.T.Errorf("%d executions: %v", executions, err)
				}
				if code := blog.CodeOf(err); executions > 0 && err != nil && code != blog.Internal && code != blog.NotFound {
					w.T.Errorf("the error is %v", err)
				}
			})
		})
	}
}

// TestLastingRejections rejects all writes. The command must return the code of the rejection,
// and the wait that the service requested.
func TestLastingRejections(t *testing.T) {
	t.Parallel()
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
			inject := func() cosmostest.Fault {
				return cosmostest.Writes(cosmostest.First(1000, cosmostest.Refuse(test.status, test.headers...)))
			}
			underFaults(t, inject, func(w *world, m mutation, err error) {
				w.Fails(err, test.code)
				e, _ := errors.AsType[*blog.Error](err)
				if e.RetryAfter != test.retryAfter {
					w.T.Errorf("RetryAfter is %v, want %v", e.RetryAfter, test.retryAfter)
				}
			})
		})
	}
}

// TestMissingContainerIsNotAMissingItem checks that a replica behind the session and a missing
// container are not reported as NOT_FOUND.
func TestMissingContainerIsNotAMissingItem(t *testing.T) {
	w := newWorld(t)
	post := w.AddPost(w.AddUser("Ada"))
	for substatus, code := range map[int]blog.Code{cosmos.ReadSessionNotAvailable: blog.Throttled, cosmos.OwnerNotFound: blog.Internal} {
		w.Wire.Inject(cosmostest.First(1000, cosmostest.Refuse(http.StatusNotFound, fmt.Sprintf("x-ms-substatus: %d", substatus))))
		_, err := w.Post(w.Ctx(), post.ID)
		w.Fails(err, code)
	}
	w.Wire.Inject(cosmostest.First(1000, cosmostest.Refuse(http.StatusNotFound)))
	_, err := w.Post(w.Ctx(), post.ID)
	w.Fails(err, blog.NotFound)
}

// TestCancelledCommand checks that a command returns immediately when its context is cancelled,
// and sends no more requests.
func TestCancelledCommand(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	ctx, cancel := context.WithCancel(w.Ctx())
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		cancel()
		return nil, storetest.ErrCut
	})
	_, err := w.LikePost(ctx, ada, post.ID)
	w.Fails(err, blog.Internal)
	if n := len(w.Wire.Requests()); n != 1 {
		t.Errorf("%d requests were sent, want 1", n)
	}
	_, err = w.Post(ctx, post.ID)
	if !errors.Is(err, context.Canceled) || blog.CodeOf(err) != blog.Internal {
		t.Errorf("the error is %v", err)
	}
}

// TestFormerUsernameIsReleasedDespiteFaults checks that a former username is free immediately,
// even if connections broke while its reservation was deleted.
func TestFormerUsernameIsReleasedDespiteFaults(t *testing.T) {
	for name, answersLost := range map[string]bool{"request lost": false, "answer lost": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
			cuts := 0
			w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
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
			w.Wire.Inject(nil)
			_, err = w.UpdateUser(w.Ctx(), bob.ID, "Ada")
			w.OK(err)
			w.holdsUsername("Ada", bob.ID)
		})
	}
}

// TestThrottledAfterUnknownOutcome loses the answer of a command's first write, which was executed,
// and throttles all later ones. THROTTLED would say that nothing was executed, and a client would
// repeat it.
func TestThrottledAfterUnknownOutcome(t *testing.T) {
	t.Parallel()
	inject := func() cosmostest.Fault {
		return cosmostest.Writes(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n == 1 {
				return storetest.CutAfter(n, request, next)
			}
			return cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 5000")(n, request, next)
		})
	}
	underFaults(t, inject, func(w *world, m mutation, err error) {
		switch blog.CodeOf(err) {
		case blog.Unavailable, blog.Internal:
		default:
			if err != nil {
				w.T.Errorf("the error is %v", err)
			}
		}
	})
}
