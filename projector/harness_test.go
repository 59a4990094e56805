package projector_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

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

func newWorld(t testing.TB) *world { return newWorldOf(t, 1) }

// newWorldOf makes a world whose containers have a number of feed ranges each.
func newWorldOf(t testing.TB, ranges int) *world {
	t.Helper()
	return newWorldOn(t, ranges, embedded.Options{})
}

// newWorldOn makes one on an engine with options.
func newWorldOn(t testing.TB, ranges int, options embedded.Options) *world {
	t.Helper()
	engine, err := embedded.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Check(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{TB: t, engine: engine, clock: &clock{now: time.Now()}}
	w.store = w.open(divided{store.InProcess(engine), ranges})
	return w
}

// divided is a transport that asks for as much throughput for each new container as so many ranges carry.
type divided struct {
	next   policy.Transporter
	ranges int
}

func (d divided) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/colls") {
		request.Header.Set("x-ms-offer-throughput", fmt.Sprint(d.ranges*10_000))
	}
	return d.next.Do(request)
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

// recreate deletes a container and makes it anew, behind the back of all clients that know it.
func (w *world) recreate(container string) {
	w.Helper()
	w.remove(container)
	w.open(nil) // makes what is missing
}

func (w *world) remove(container string) {
	w.Helper()
	client, err := azcosmos.NewClientWithKey(store.LocalEndpoint(), w.credential(), &azcosmos.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: store.InProcess(w.engine)},
	})
	if err != nil {
		w.Fatal(err)
	}
	defer client.Close()
	c, err := client.NewContainer(store.DefaultDatabase, container)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := c.Delete(w.Context(), nil); err != nil {
		w.Fatal(err)
	}
}

func (w *world) credential() azcosmos.KeyCredential {
	w.Helper()
	credential, err := azcosmos.NewKeyCredential(w.engine.Key())
	if err != nil {
		w.Fatal(err)
	}
	return credential
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

// wire is a transport to the engine that notes writes, and can be cut or made to refuse.
type wire struct {
	next policy.Transporter
	left atomic.Int64 // requests that still reach the engine
	// answerLost makes the first request that is cut reach the engine, and only its answer get lost.
	answerLost bool
	// refuse, where there is one, gives the status with which a request is refused; 0 lets it pass.
	refuse func(*http.Request) int

	mu     sync.Mutex // held while the wire is changed or notes something
	writes []string   // method and container of each write, in order
}

// wired opens a Store over a wire of its own, which has noted nothing yet.
func (w *world) wired() (*wire, *store.Store) {
	w.Helper()
	wire := &wire{next: store.InProcess(w.engine)}
	wire.left.Store(1 << 62)
	s := w.open(wire)
	wire.writes = nil
	return wire, s
}

var errCut = errors.New("the connection was cut")

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
	c.mu.Lock()
	refuse, next := c.refuse, c.next
	c.mu.Unlock()
	if refuse != nil {
		if status := refuse(request); status != 0 {
			return refusal(request, status), nil
		}
	}
	c.note(request)
	return next.Do(request)
}

// change changes a wire that is in use.
func (c *wire) change(f func(*wire)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c)
}

// silence gives some requests no answer, from now on, until their sender gives up.
func (c *wire) silence(of func(*http.Request) bool) {
	c.change(func(c *wire) { c.next = silence{c.next, of} })
}

func (c *wire) note(request *http.Request) {
	if !isWrite(request) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = append(c.writes, request.Method+" "+containerOf(request))
}

func isWrite(request *http.Request) bool {
	return request.Method != http.MethodGet && request.Header.Get("x-ms-documentdb-query") == ""
}

// containerOf gives the container of "/dbs/d/colls/c/…".
func containerOf(request *http.Request) string {
	parts := strings.Split(request.URL.Path, "/")
	if len(parts) < 5 {
		return ""
	}
	return parts[4]
}

func (c *wire) writesTo(container string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, write := range c.writes {
		if strings.HasSuffix(write, " "+container) {
			n++
		}
	}
	return n
}

func refusal(request *http.Request, status int) *http.Response {
	return &http.Response{
		StatusCode: status,
		Status:     fmt.Sprint(status, " ", http.StatusText(status)),
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(`{"code":"Injected","message":"injected"}`)),
		Request:    request,
	}
}
