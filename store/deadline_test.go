package store_test

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
)

// TestCommandDeadline checks that a command that copies a username ends within its deadline if
// the service does not answer, and if it rejects every request. The caller has no deadline. Time
// passes only by waiting (synctest).
func TestCommandDeadline(t *testing.T) {
	for name, inject := range map[string]cosmostest.Fault{
		"no answer": func(_ int, request *http.Request, _ storetest.Transporter) (*http.Response, error) {
			<-request.Context().Done()
			return nil, request.Context().Err()
		},
		"unavailable": func(_ int, request *http.Request, _ storetest.Transporter) (*http.Response, error) {
			time.Sleep(time.Second)
			return cosmostest.Refuse(http.StatusServiceUnavailable)(0, request, nil)
		},
		"throttled": func(n int, request *http.Request, _ storetest.Transporter) (*http.Response, error) {
			if n%4 == 0 {
				return nil, storetest.ErrCut
			}
			return cosmostest.Refuse(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1900")(0, request, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				author := w.AddUser("anna")
				post := w.AddPost(author)
				w.Wire.Inject(inject)
				for i, command := range []func() error{
					func() error {
						_, err := w.CreatePost(context.Background(), author, blog.CreatePostInput{Title: "A title", Content: "…"})
						return err
					},
					func() error {
						_, err := w.CreateComment(context.Background(), author, blog.CreateCommentInput{PostID: post.Ref(), Content: "…"})
						return err
					},
					func() error {
						_, err := w.LikePost(context.Background(), author, post.ID)
						return err
					},
				} {
					begun := time.Now()
					err := command()
					if took := time.Since(begun); err == nil || took > store.CommandDeadline {
						t.Errorf("command %d ended after %v: %v", i, took, err)
					}
				}
				w.Wire.Inject(nil)
			})
		})
	}
}
