package projector_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
)

// network keeps the first write to posts instead of sending it. The client loses its connection.
type network struct {
	next policy.Transporter

	mu     sync.Mutex
	losing bool
	kept   *http.Request
}

func (n *network) Do(request *http.Request) (*http.Response, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.losing || !isWrite(request) || containerOf(request) != "posts" {
		return n.next.Do(request)
	}
	if n.kept == nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		n.kept = request.Clone(context.Background())
		n.kept.Body = io.NopCloser(bytes.NewReader(body))
	}
	return nil, errCut
}

// lose runs a command whose request stays in the network, and returns a function that delivers it.
func (w *world) lose(command func(*storetest.Database) error) (deliver func()) {
	w.Helper()
	n := &network{next: inprocess.To(w.engine)}
	s := w.open(n)
	n.losing = true
	if err := command(s); err == nil {
		w.Fatal("the command succeeded")
	}
	if n.kept == nil {
		w.Fatal("the command wrote nothing")
	}
	return func() { _, _ = n.next.Do(n.kept) }
}

// lateRequests are commands of Anna, whose requests arrive a minute late.
var lateRequests = map[string]func(s *storetest.Database, ctx context.Context, anna *blog.User, post *blog.Post) error{
	"createPost": func(s *storetest.Database, ctx context.Context, anna *blog.User, _ *blog.Post) error {
		_, err := s.CreatePost(ctx, anna, blog.CreatePostInput{Title: "Late", Content: "Late."})
		return err
	},
	"createComment": func(s *storetest.Database, ctx context.Context, anna *blog.User, post *blog.Post) error {
		_, err := s.CreateComment(ctx, anna, blog.CreateCommentInput{PostID: post.Ref(), Content: "Late."})
		return err
	},
	"createLike": func(s *storetest.Database, ctx context.Context, anna *blog.User, post *blog.Post) error {
		_, err := s.LikePost(ctx, anna, post.ID)
		return err
	},
}

// TestLateRequests delivers requests of a client that gave up a minute ago. Meanwhile the user was
// renamed or deleted, and both passes of the sweep or deletion are over. The former name never
// returns.
func TestLateRequests(t *testing.T) {
	for end, change := range map[string]func(w *world, anna *blog.User){
		"rename":   func(w *world, anna *blog.User) { w.rename(anna) },
		"deletion": func(w *world, anna *blog.User) { w.deleteUser(anna) },
	} {
		for name, command := range lateRequests {
			t.Run(name+" after "+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					anna := w.user()
					post := w.post(w.user())
					deliver := w.lose(func(s *storetest.Database) error { return command(s, t.Context(), anna, post) })
					change(w, anna)
					w.settle()
					time.Sleep(time.Minute)
					deliver()
					w.settle()
					w.wantViewsEqualSource()
					if end == "deletion" {
						w.wantUserGone(anna)
					}
				})
			})
		}
	}
}

// TestLateUnlike delivers a request to remove a like, or the request of a deletion's pass, after
// another like has replaced the one it was for.
func TestLateUnlike(t *testing.T) {
	for name, again := range map[string]func(w *world, anna *blog.User) *blog.User{
		"later like": func(w *world, anna *blog.User) *blog.User { return anna },
		"next life": func(w *world, anna *blog.User) *blog.User {
			w.deleteUser(anna)
			w.settle()
			account := blog.Account{Issuer: "test", Subject: "anna"}
			anna, err := w.store.CreateUser(w.Context(), account, fmt.Sprintf("user%d", w.names.Add(1)))
			if err != nil {
				w.Fatal(err)
			}
			return anna
		},
	} {
		for _, wait := range []time.Duration{time.Second, time.Minute} {
			t.Run(fmt.Sprint(name, " after ", wait), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if name == "later like" && wait < time.Minute {
						t.Skip("the client unlikes and likes at once")
					}
					w := newWorld(t)
					anna, err := w.store.CreateUser(t.Context(), blog.Account{Issuer: "test", Subject: "anna"}, "anna")
					if err != nil {
						t.Fatal(err)
					}
					post := w.post(w.user())
					w.like(anna, post)
					deliver := w.lose(func(s *storetest.Database) error {
						_, err := s.UnlikePost(t.Context(), anna, post.ID)
						return err
					})
					if _, err := w.store.UnlikePost(t.Context(), anna, post.ID); err != nil {
						t.Fatal(err)
					}
					anna = again(w, anna)
					w.like(anna, post)
					time.Sleep(wait)
					deliver()
					likes, err := w.store.Likes(t.Context(), post.ID, blog.PageRequest{First: 1})
					if err != nil || len(likes.Items) != 1 {
						t.Errorf("the like is gone: %v, %v", likes.Items, err)
					}
				})
			})
		}
	}
}
