package monitor

import (
	"log/slog"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

var discard = slog.New(slog.DiscardHandler)

// testBlog is a database on an embedded engine in memory.
type testBlog struct {
	*testing.T
	store  *storetest.Database
	engine *cosmostest.Account
}

func openBlog(t *testing.T) *testBlog {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{})
	db, err := provision.OpenEmbedded(t.Context(), engine, cosmos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &testBlog{t, storetest.Open(db), engine}
}

func (b *testBlog) createUser(name string) *blog.User {
	b.Helper()
	user, err := b.store.CreateUser(b.Context(), blog.Account{Issuer: "test", Subject: name}, name)
	if err != nil {
		b.Fatal(err)
	}
	return user
}

func (b *testBlog) createPost(author *blog.User) {
	b.Helper()
	input := blog.CreatePostInput{Title: "A title", Content: "Some content."}
	if _, err := b.store.CreatePost(b.Context(), author, input); err != nil {
		b.Fatal(err)
	}
}

// newProjector returns a projector with short periods. Writes to the engine wake it if there is
// one.
func newProjector(t *testing.T, s *storetest.Database, engine *cosmostest.Account) *projector.Projector {
	t.Helper()
	options := projector.Options{
		DB:       s.DB,
		Owner:    "test",
		TakeOver: engine != nil,
		Poll:     10 * time.Millisecond,
		Gather:   time.Millisecond,
		Renew:    500 * time.Millisecond, // also the time limit of a write of a lease
		Balance:  50 * time.Millisecond,
		Expire:   20 * time.Second,
		Logger:   discard,
	}
	if engine != nil {
		options.Wake = func(container string) (<-chan struct{}, func()) {
			written, stop, err := engine.Watch(cosmos.DefaultDatabase, container)
			if err != nil {
				t.Error(err)
			}
			return written, stop
		}
	}
	p, err := projector.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
