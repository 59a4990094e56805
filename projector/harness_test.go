package projector_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/internal/blog"
	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// world is a database on an engine in memory, for one test.
type world struct {
	testing.TB
	engine *embedded.Engine
	store  *store.Store // of the commands
	clock  *clock       // of the projectors
	names  atomic.Int64
}

func newWorld(t testing.TB) *world {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{TB: t, engine: engine, clock: &clock{now: time.Now()}}
	w.store = w.open(nil)
	return w
}

// open opens another Store on the world's engine.
func (w *world) open(transport policy.Transporter) *store.Store {
	w.Helper()
	s, err := store.OpenEmbedded(context.Background(), w.engine, store.Options{Transport: transport})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(s.Close)
	return s
}

// projector makes a projector with a name of its own, that takes over what others left.
func (w *world) projector(s *store.Store, change ...func(*projector.Options)) *projector.Projector {
	w.Helper()
	options := projector.Options{
		Store:    s,
		Owner:    fmt.Sprintf("owner-%d", w.names.Add(1)),
		TakeOver: true,
		Now:      w.clock.Now,
		Sleep:    func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Logger:   slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, f := range change {
		f(&options)
	}
	p, err := projector.New(options)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// settle projects all that there is to project, the last passes of sweeps too.
func (w *world) settle() {
	w.Helper()
	p := w.projector(w.store)
	for range 2 {
		if err := p.Settle(w.Context()); err != nil {
			w.Fatalf("settle: %v", err)
		}
		w.clock.advance(time.Minute)
	}
	if err := p.Settle(w.Context()); err != nil {
		w.Fatalf("settle: %v", err)
	}
}

func (w *world) wake(container string) (<-chan struct{}, func()) {
	written, stop, err := w.engine.Watch(store.DefaultDatabase, container)
	if err != nil {
		w.Error(err)
	}
	return written, stop
}

// user makes a user with a username that nobody else has.
func (w *world) user() *blog.User {
	w.Helper()
	n := w.names.Add(1)
	user, err := w.store.CreateUser(w.Context(), blog.Account{Issuer: "test", Subject: fmt.Sprint(n)}, fmt.Sprintf("user%d", n))
	if err != nil {
		w.Fatal(err)
	}
	return user
}

func (w *world) rename(user *blog.User) *blog.User {
	w.Helper()
	renamed, err := w.store.UpdateUser(w.Context(), user.ID, fmt.Sprintf("user%d", w.names.Add(1)))
	if err != nil {
		w.Fatal(err)
	}
	return renamed
}

func (w *world) post(author *blog.User) *blog.Post {
	w.Helper()
	post, err := w.store.CreatePost(w.Context(), author, blog.PostInput{Title: "A title", Content: "A content."})
	if err != nil {
		w.Fatal(err)
	}
	return post
}

func (w *world) posts(author *blog.User, n int) []*blog.Post {
	w.Helper()
	posts := make([]*blog.Post, n)
	for i := range posts {
		posts[i] = w.post(author)
	}
	return posts
}

func (w *world) comment(author *blog.User, post *blog.Post) *blog.Comment {
	w.Helper()
	comment, err := w.store.CreateComment(w.Context(), author, blog.CommentInput{PostID: post.ID, Content: "A comment."})
	if err != nil {
		w.Fatal(err)
	}
	return comment
}

func (w *world) like(user *blog.User, post *blog.Post) {
	w.Helper()
	if _, err := w.store.LikePost(w.Context(), user, post.ID); err != nil {
		w.Fatal(err)
	}
}

func (w *world) delete(post *blog.Post) {
	w.Helper()
	if _, err := w.store.DeletePost(w.Context(), post.Author.ID, post.ID); err != nil {
		w.Fatal(err)
	}
}

// clock is a clock that stands until it is advanced.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// wire is a transport to the engine that counts requests and can be cut.
type wire struct {
	next policy.Transporter
	left atomic.Int64 // requests that still reach the engine
	sent atomic.Int64
	// answerLost makes the first request that is cut reach the engine, and only its answer get lost.
	answerLost bool
}

func newWire(w *world) *wire {
	wire := &wire{next: store.InProcess(w.engine)}
	wire.left.Store(1 << 62)
	return wire
}

var errCut = cutError{errors.New("the connection was cut")}

type cutError struct{ error }

func (cutError) NonRetriable() {}

func (c *wire) Do(request *http.Request) (*http.Response, error) {
	left := c.left.Add(-1)
	switch {
	case left == -1 && c.answerLost:
		if _, err := c.next.Do(request); err != nil {
			return nil, err
		}
		return nil, errCut
	case left < 0:
		return nil, errCut
	}
	c.sent.Add(1)
	return c.next.Do(request)
}
