package store_test

import (
	"fmt"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/views"
)

// BenchmarkStore measures queries and two commands on the engine in memory, with one client.
func BenchmarkStore(b *testing.B) {
	engine := cosmostest.New(b, cosmostest.Options{})
	db, err := provision.OpenEmbedded(b.Context(), engine, cosmos.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s, v := store.New(db), views.New(db)
	ctx := cosmos.WithSession(b.Context())
	ada, err := s.CreateUser(ctx, storetest.Account("ada"), "Ada")
	if err != nil {
		b.Fatal(err)
	}
	var posts []string
	for range 20 {
		post, err := s.CreatePost(ctx, ada, blog.CreatePostInput{Title: "A title", Content: fmt.Sprintf("%01000d", 1)})
		if err != nil {
			b.Fatal(err)
		}
		posts = append(posts, post.ID)
		if _, err := v.FeedView().Project(ctx, post); err != nil {
			b.Fatal(err)
		}
		if _, err := s.CreateComment(ctx, ada, blog.CreateCommentInput{PostID: blog.PostRef(posts[0]), Content: "A comment."}); err != nil {
			b.Fatal(err)
		}
	}
	page := blog.PageRequest{First: 20}
	for name, do := range map[string]func() error{
		"Post":       func() error { _, err := s.Post(ctx, posts[0]); return err },
		"Posts20":    func() error { _, err := s.Posts(ctx, posts); return err },
		"Feed20":     func() error { _, err := s.Feed(ctx, page); return err },
		"Comments20": func() error { _, err := s.Comments(ctx, posts[0], page); return err },
		"CreateComment": func() error {
			_, err := s.CreateComment(ctx, ada, blog.CreateCommentInput{PostID: blog.PostRef(posts[1]), Content: "A comment."})
			return err
		},
		"LikePost": func() error { _, err := s.LikePost(ctx, ada, posts[2]); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
