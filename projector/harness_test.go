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

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// world is a database on an in-memory engine, for one test.
type world struct {
	testing.TB
	engine *cosmostest.Account
	store  *storetest.Database   // of the commands
	clock  *storetest.StillClock // of the projectors
	names  atomic.Int64
}

func newWorld(t testing.TB) *world { return newWorldOf(t, 1) }

// newWorldOf creates a world whose containers have the given number of feed ranges.
func newWorldOf(t testing.TB, ranges int) *world {
	t.Helper()
	return newWorldOn(t, ranges, cosmostest.Options{})
}

// etagsOfShownChanges is the option of the accounts of newWorldOn.
var etagsOfShownChanges bool

// newWorldOn creates a world on an engine with options.
func newWorldOn(t testing.TB, ranges int, options cosmostest.Options) *world {
	t.Helper()
	options.EtagsOfShownChanges = etagsOfShownChanges
	w := &world{TB: t, engine: cosmostest.New(t, options), clock: storetest.NewStillClock(time.Now())}
	storetest.CheckScripts(t, w.engine)
	w.store = w.open(storetest.Divided(inprocess.To(w.engine), ranges))
	return w
}

// open opens another client of the world's engine.
func (w *world) open(transport policy.Transporter) *storetest.Database {
	w.Helper()
	return w.openWith(cosmos.Options{Transport: transport, Sleep: cosmos.Sleep})
}

// sleeper is what a client with a context of withSleep does instead of a wait of one second, as
// those of audits and rebuilds are.
type sleeper func(ctx context.Context, d time.Duration) error

type sleeperKey struct{}

func withSleep(ctx context.Context, sleep sleeper) context.Context {
	return context.WithValue(ctx, sleeperKey{}, sleep)
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// openWith is open with options of the client.
func (w *world) openWith(options cosmos.Options) *storetest.Database {
	w.Helper()
	others := options.Sleep
	options.Sleep = func(ctx context.Context, d time.Duration) error {
		if sleep, _ := ctx.Value(sleeperKey{}).(sleeper); sleep != nil && d == time.Second {
			return sleep(withSleep(ctx, nil), d)
		}
		return others(ctx, d)
	}
	db, err := provision.OpenEmbedded(context.Background(), w.engine, options)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(db.Close)
	return storetest.Open(db)
}

// projector returns a projector with a unique owner name, which takes over leases.
func (w *world) projector(s *storetest.Database, change ...func(*projector.Options)) *projector.Projector {
	w.Helper()
	options := projector.Options{
		DB:       s.DB,
		Owner:    fmt.Sprintf("owner-%d", w.names.Add(1)),
		TakeOver: true,
		Now:      w.clock.Now,
		Sleep:    noSleep,
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

// settle projects all pending changes, including the last passes of sweeps and deletions.
func (w *world) settle() {
	w.Helper()
	p := w.projector(w.store)
	for range 2 {
		if err := p.SettleForTests(w.Context()); err != nil {
			w.Fatalf("settle: %v", err)
		}
		w.clock.Advance(time.Minute)
	}
	if err := p.SettleForTests(w.Context()); err != nil {
		w.Fatalf("settle: %v", err)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) wake(container string) (<-chan struct{}, func()) {
	written, stop, err := w.engine.Watch(cosmos.DefaultDatabase, container)
	if err != nil {
		w.Error(err)
	}
	return written, stop
}

// user creates a user with a unique username.
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
	post, err := w.store.CreatePost(w.Context(), author, blog.CreatePostInput{Title: "A title", Content: "A content.", Tags: []string{"common"}})
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
	comment, err := w.store.CreateComment(w.Context(), author, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
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

// deletions creates posts of a user and deletes them. A projector writes deletions one by one, and
// other changes of a page in groups. So the time that a page takes grows with its deletions.
func (w *world) deletions(n int) {
	w.Helper()
	for _, post := range w.posts(w.user(), n) {
		w.delete(post)
	}
}

// recreate deletes and recreates a container. Clients are not notified. In leases, it creates the
// item with the number of the format again, as an operator does.
func (w *world) recreate(container string) {
	w.Helper()
	w.remove(container)
	db, err := cosmos.New(cosmos.Options{
		Endpoint: inprocess.NewEndpoint(), Key: w.engine.Key(), Transport: inprocess.To(w.engine),
	})
	w.must(err)
	w.Cleanup(db.Close)
	_, err = provision.Run(w.Context(), db, provision.Options{})
	w.must(err)
	if container == schema.Leases {
		item := map[string]any{"id": "format", "type": "format", "number": schema.Format}
		_, err = cosmos.Create(w.Context(), db.Container(container), "format", item)
		w.must(err)
	}
}

func (w *world) remove(container string) {
	w.Helper()
	c, err := w.engine.Client(nil).NewContainer(cosmos.DefaultDatabase, container)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := c.Delete(w.Context(), nil); err != nil {
		w.Fatal(err)
	}
}

// wire is a transport to the engine that records writes, and can be cut or refuse requests.
type wire struct {
	next policy.Transporter
	left atomic.Int64 // requests that still reach the engine
	// answerLost lets the first request after the cut reach the engine, and loses only its answer.
	answerLost bool
	// refuse, if not nil, returns the status with which to refuse a request, or 0 to let it pass.
	refuse func(*http.Request) int

	toLists atomic.Int64 // requests to the container lists, reads too

	mu     sync.Mutex // guards writes, and changes of a wire in use
	writes []string   // method and container of each write, in order
}

// wired opens a client over a new wire. The wire does not record the writes of opening it.
func (w *world) wired() (*wire, *storetest.Database) {
	w.Helper()
	wire := &wire{next: inprocess.To(w.engine)}
	wire.left.Store(1 << 62)
	s := w.open(wire)
	wire.writes = nil
	wire.toLists.Store(0)
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
	if containerOf(request) == schema.Lists {
		c.toLists.Add(1)
	}
	c.record(request)
	return next.Do(request)
}

// change changes a wire that is in use.
func (c *wire) change(f func(*wire)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c)
}

// dropAnswers leaves the selected requests without an answer from now on, until their context
// ends.
func (c *wire) dropAnswers(selects func(*http.Request) bool) {
	c.change(func(c *wire) { c.next = noAnswer{c.next, selects} })
}

func (c *wire) record(request *http.Request) {
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

// containerOf returns the container of the path "/dbs/d/colls/c/…".
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
