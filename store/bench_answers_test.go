package store_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/views"
)

// BenchmarkAnswers measures queries without the database: the transport returns constant answers.
// What remains is azcosmos, the policies of package cosmos, and decoding. cpu-ns is processor time,
// which other load on the machine does not change.
func BenchmarkAnswers(b *testing.B) {
	engine := cosmostest.New(b, cosmostest.Options{})
	transport := &constant{next: inprocess.To(engine)}
	db, err := provision.OpenEmbedded(b.Context(), engine, cosmos.Options{Transport: transport})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s, posts := seedAnswers(b, db)
	clear(transport.answers)
	page := blog.PageRequest{First: 20}
	for _, read := range []struct {
		name string
		do   func() error
	}{
		{"Post", func() error { _, err := s.Post(cosmos.WithSession(b.Context()), posts[0]); return err }},
		{"Posts20", func() error { _, err := s.Posts(cosmos.WithSession(b.Context()), posts[:20]); return err }},
		{"Feed20", func() error { _, err := s.Feed(cosmos.WithSession(b.Context()), page); return err }},
		{"Comments20", func() error { _, err := s.Comments(cosmos.WithSession(b.Context()), posts[0], page); return err }},
	} {
		b.Run(read.name, func(b *testing.B) {
			b.ReportAllocs()
			begun := processorTime(b)
			for b.Loop() {
				if err := read.do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-begun).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// seedAnswers creates 21 posts in the feed, and 21 comments on the first of them.
func seedAnswers(b *testing.B, db *cosmos.DB) (*store.Store, []string) {
	b.Helper()
	s, v := store.New(db), views.New(db)
	ctx := cosmos.WithSession(b.Context())
	ada, err := s.CreateUser(ctx, storetest.Account("ada"), "Ada")
	if err != nil {
		b.Fatal(err)
	}
	var posts []string
	content := strings.Repeat("Each of the article's \"queries\" is one request.\nIt’s cheap. ", 16)
	for i := range 21 {
		post, err := s.CreatePost(ctx, ada, blog.CreatePostInput{Title: fmt.Sprintf("How to model data, part %d", i), Content: content})
		if err != nil {
			b.Fatal(err)
		}
		posts = append(posts, post.ID)
		if _, err := v.FeedView().Project(ctx, post); err != nil {
			b.Fatal(err)
		}
		if _, err := s.CreateComment(ctx, ada, blog.CreateCommentInput{PostID: blog.PostRef(posts[0]), Content: "A comment on “queries”."}); err != nil {
			b.Fatal(err)
		}
	}
	return s, posts
}
