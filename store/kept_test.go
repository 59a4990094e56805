package store_test

import (
	"context"
	"runtime"
	"testing"
	"unsafe"
	"weak"

	"cosmosblog/blog"
	"cosmosblog/store"
	"cosmosblog/store/readcache"
)

// body is the body of a request. The texts of a request are parts of it.
type body struct {
	text [1 << 10]byte
	used int
}

// part returns a text that keeps the body in memory.
func (b *body) part(text string) string {
	part := unsafe.String(&b.text[b.used], len(text))
	b.used += copy(b.text[b.used:], text)
	return part
}

// TestKeptReadsHoldNoRequest calls each query with texts of a request, and checks that the request
// is released while the result is kept.
func TestKeptReadsHoldNoRequest(t *testing.T) {
	w := newWorld(t)
	ann := w.AddUser("Ann")
	post := w.AddPost(ann)
	comment := w.AddComment(ann, post)
	w.AddLike(ann, post)
	reads := map[string]func(ctx context.Context, s *store.Store, b *body) error{
		"a user": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.User(ctx, b.part(ann.ID)))
		},
		"a user by username": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.UserByUsername(ctx, b.part("ann")))
		},
		"several users": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.Users(ctx, []string{b.part(ann.ID), b.part("u_missing")}))
		},
		"a post": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.Post(ctx, b.part(post.ID)))
		},
		"several posts": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.Posts(ctx, []string{b.part(post.ID), b.part("p_missing")}))
		},
		"a comment": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.Comment(ctx, b.part(post.ID), b.part(comment.ID)))
		},
		"a like": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.Like(ctx, b.part(post.ID), b.part(ann.ID)))
		},
		"likes of a user": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.LikedBy(ctx, b.part(ann.ID), []string{b.part(post.ID), b.part("p_missing")}))
		},
		"comments": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.Comments(ctx, b.part(post.ID), blog.PageRequest{First: 5}))
		},
		"likes": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.Likes(ctx, b.part(post.ID), blog.PageRequest{First: 5}))
		},
		"a user's posts": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.UserPosts(ctx, b.part(ann.ID), b.after()))
		},
		"the feed": func(ctx context.Context, s *store.Store, b *body) error {
			return failure(s.Feed(ctx, b.after()))
		},
	}
	for name, read := range reads {
		cache := readcache.New(1<<20, func(string, string) uint64 { return 0 })
		s := store.NewCached(w.DB, cache, nil)
		b := new(body)
		request := weak.Make(b)
		if err := read(t.Context(), s, b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b = nil
		w.Wire.Inject(nil) // which has recorded requests to the database
		runtime.GC()
		if request.Value() != nil || cache.Stats().Bytes == 0 {
			t.Errorf("%s: the cache holds the request: %t; it has %d bytes", name, request.Value() != nil, cache.Stats().Bytes)
		}
		runtime.KeepAlive(s)
	}
}

// after requests a page after a position in the request.
func (b *body) after() blog.PageRequest {
	return blog.PageRequest{First: 5, After: &blog.Position{
		CreationDate: blog.DateTime(b.part("2026-01-01T00:00:00.000000Z")), ID: b.part("p_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
	}}
}

// failure returns the error of a query.
func failure[T any](_ T, err error) error { return err }
