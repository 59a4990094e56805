//go:build ci

package ownwrites

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/exporttest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store"
	"cosmosblog/store/audit"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/export"
	"cosmosblog/store/schema"
)

var losses = flag.Int("losses", 3, "random histories in which the database goes back")

// TestDatabaseGoesBack runs random histories in which the database goes back to an earlier state: a
// failover loses the last writes, or the account is restored, of all containers or of posts alone.
// The clients then learn from posts what is left, and go on, before or after the projectors have
// noticed, and while the views are rebuilt. If no projector runs, an operator ends the history, as
// docs/operations.md says. No answer lacks a write that was made since, unless it says that it is
// stale. In the end, nothing drifts, no answer is stale, every view and every stream has the new
// posts, and the export equals the database.
//
// A failover takes longer than the positions of projectors may be old (learn.microsoft.com/azure/
// cosmos-db/disaster-recovery-guidance), so the clients write nothing for a while.
func TestDatabaseGoesBack(t *testing.T) {
	seed := testseed.Of(t)
	for i := range *losses {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			folder := t.TempDir()
			// Two collections empty the pools of the codec of exports, whose channels belong to the bubble
			// of the history before.
			runtime.GC()
			runtime.GC()
			synctest.Test(t, func(t *testing.T) { runLoss(t, seed+uint64(i), folder) })
		})
	}
}

func runLoss(t *testing.T, seed uint64, folder string) {
	random := rand.New(rand.NewPCG(seed, 100))
	h := newHistory(t, seed, 1+3*random.IntN(2), 50*time.Millisecond, 60*time.Millisecond)
	h.startProjectors()
	h.rebuildAfter = time.Duration(random.IntN(2)*random.IntN(12)) * time.Second
	h.streams = []*postStream{h.servers[0].stream(), h.servers[1].stream()}
	h.runClients(func(c *client) {
		c.rename()
		c.steps(5 + c.random.IntN(10))
	})
	h.account.Follower.Lead()
	h.runClients(func(c *client) { c.steps(3 + c.random.IntN(10)) })
	h.export(folder)
	time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)

	h.goBack(random)
	h.runClients(func(c *client) { c.steps(10) })
	time.Sleep(3 * time.Minute)
	if history, err := changefeed.New(h.servers[0].db).History(t.Context()); err != nil || !history.IsRebuilt {
		t.Errorf("the history is %+v, %v", history, err)
	}
	h.hasLostNames, h.hasRestarted = false, false
	h.checkEnd(h.ranges) // each answer forgets what one feed range has lost
	h.export(folder)
	h.stop()
}

// checkEnd checks that all is current: one of some answers to each client is not stale, the streams
// have all new posts, and nothing drifts.
func (h *history) checkEnd(answers int) {
	h.runClients(func(c *client) {
		c.create()
		time.Sleep(10 * time.Second)
		isStale := true
		for range answers {
			isStale = isStale && c.read()
		}
		if isStale {
			h.Errorf("%s: an answer is stale", c.subject)
		}
	})
	for _, s := range h.streams {
		s.check(h.created())
	}
	h.audit()
}

// lost are containers that lose writes together; nil stands for all.
var lost = [][]string{
	nil, nil, {schema.Posts}, {schema.Posts}, {schema.Posts, schema.Users, schema.Usernames},
	{schema.Leases}, {schema.Feed}, {schema.Lists, schema.Feed},
}

// goBack loses the last writes. Before the clients go on, a random time passes.
func (h *history) goBack(random *rand.Rand) {
	h.isBack = true
	containers := lost[random.IntN(len(lost))]
	pause := 11*time.Second + time.Duration(random.IntN(80))*time.Second
	kinds := []func(){
		func() { h.failover("failover", h.account.LoseWrites, containers, pause, random.IntN(3) == 0) },
		func() { h.failover("restore", h.account.Restore, containers, pause, random.IntN(3) == 0) },
		func() { h.restoreFolder(pause, random.IntN(2) == 0) },
	}
	kinds[[]int{0, 0, 1, 1, 2}[random.IntN(5)]]()
}

// failover loses the last writes of containers. If no projector runs, an operator ends the history.
func (h *history) failover(kind string, goBack func(...string), containers []string, pause time.Duration, isDown bool) {
	h.Logf("%d ranges: a %s of %v, %v; no projector runs: %t; a rebuild begins after %v", h.ranges, kind, containers, pause, isDown, h.rebuildAfter)
	if isDown {
		h.stopProjector()
	}
	goBack(containers...)
	h.hasLostNames = slices.Contains(containers, schema.Users)
	time.Sleep(pause)
	h.runClients(func(c *client) { c.learn() })
	if isDown {
		h.runClients(func(c *client) { c.steps(c.random.IntN(8)) })
		feeds := changefeed.New(h.servers[0].db)
		history, err := feeds.History(h.Context())
		if err == nil {
			_, err = feeds.EndHistory(h.Context(), history.Name, "an operator said so")
		}
		if err != nil {
			h.Error(err)
		}
		h.startProjectors()
	}
}

// restoreFolder stops all processes, lets all containers go back to one moment, as a data folder
// does, and starts the processes again. The history ends as when a folder is opened that was
// restored from a backup, or as by the command restored after a plain copy.
func (h *history) restoreFolder(pause time.Duration, isBackup bool) {
	h.Logf("%d ranges: a restored folder, %v; by a backup: %t", h.ranges, pause, isBackup)
	h.stop()
	h.account.LoseWrites()
	time.Sleep(pause)
	life := ""
	if isBackup {
		life = "another life"
	}
	h.restartServers()
	h.hasRestarted = true
	if _, err := changefeed.New(h.servers[0].db).EndHistoryKeepingLeases(h.Context(), life, "the data folder was restored"); err != nil {
		h.Error(err)
	}
	h.startProjectors()
	h.runClients(func(c *client) { c.learn() })
}

// restartServers starts other servers instead of those that have stopped.
func (h *history) restartServers() {
	former := h.servers
	h.servers, h.stops = nil, nil
	for range former {
		_, stop := h.startServer()
		h.stops = append(h.stops, stop)
	}
	for _, c := range h.clients {
		if i := slices.Index(former, c.own); i >= 0 {
			c.own = h.servers[i]
		}
	}
	for i, s := range h.streams {
		s.move(h.servers[i])
	}
}

// startProjectors starts two projectors, instead of the one that runs.
func (h *history) startProjectors() {
	h.stopProjector()
	first, second := h.startProjector("projector", 50*time.Millisecond), h.startProjector("another projector", time.Second)
	h.stopProjector = sync.OnceFunc(func() { first(); second() })
}

// audit fails if a view differs from its source.
func (h *history) audit() {
	result, err := audit.Run(h.Context(), h.servers[0].db, audit.Options{Found: func(d audit.Drift, _ bool) {
		h.Errorf("drift: %s %s %s %s %s: %v instead of %v", d.Kind, d.Container, d.Partition, d.ID, d.Field, d.Is, d.Should)
	}})
	if err != nil || result.Drifts != 0 || result.Unstable != 0 || result.Stalled || result.Posts == 0 {
		h.Errorf("the audit's result is %+v, %v", result, err)
	}
}

// export runs an export into a folder, and fails if that differs from the database.
func (h *history) export(folder string) {
	if _, err := export.Run(h.Context(), h.servers[0].db, export.Options{Folder: folder, Source: "a test"}); err != nil {
		h.Error(err)
	}
	exported, err := exporttest.Read(folder)
	if err != nil {
		h.Error(err)
	}
	source, err := exporttest.Source(h.Context(), h.servers[0].db)
	if err != nil {
		h.Error(err)
	}
	if difference := exporttest.Difference(source, exported); difference != "" {
		h.Error(difference)
	}
}

// runClients runs a part of a history for all clients at once.
func (h *history) runClients(part func(*client)) {
	var all sync.WaitGroup
	for _, c := range h.clients {
		all.Go(func() { part(c) })
	}
	all.Wait()
}

// created returns the posts that clients have created last.
func (h *history) created() (ids []string) {
	for _, c := range h.clients {
		if c.created != "" {
			ids = append(ids, c.created)
		}
	}
	return ids
}

// steps executes random mutations and reads.
func (c *client) steps(n int) {
	for range n {
		c.write()
		if c.random.IntN(3) > 0 {
			c.read()
		}
		if c.random.IntN(3) == 0 {
			time.Sleep(time.Duration(c.random.IntN(800)) * time.Millisecond)
		}
	}
}

// learn makes what the client knows that of posts and users, as they are now. Before that, it asks
// its servers once: the first answer of each may still have a lost name of its user.
func (c *client) learn() {
	servers := c.servers
	if c.own != nil {
		servers = []*server{c.own}
	}
	for _, s := range servers {
		if a := s.must(c.subject, c.session, "{viewer{id}}", nil, nil); c.own == nil && a.session != "" {
			c.session = a.session
		}
	}
	s, ctx := store.New(c.servers[0].db), cosmos.WithSession(c.Context())
	user, err := s.User(ctx, c.userID)
	if err != nil {
		c.Fatal(err)
	}
	c.name, c.hasLearned = user.Username, true
	for id, p := range c.posts {
		post, err := s.Post(ctx, id)
		if blog.CodeOf(err) == blog.NotFound {
			delete(c.posts, id)
			continue
		}
		if err != nil {
			c.Fatal(err)
		}
		p.title, p.comments, p.deleted = post.Title, post.CommentCount, post.Deleted
	}
}

// waitWhileThrottled waits while a server knows states that the database has lost: reads fail for a
// moment.
func (c *client) waitWhileThrottled(s *server, variables map[string]any) {
	for range 10 {
		if !c.isBack {
			return
		}
		if _, err := s.ask(c.subject, c.session, everything, variables); err == nil || !strings.HasPrefix(err.Error(), "THROTTLED") {
			return
		}
		time.Sleep(time.Second)
	}
}

// postStream is a subscriber who connects again whenever the stream ends.
type postStream struct {
	*testing.T
	stop func()

	mu       sync.Mutex // guards the fields below
	server   *server
	end      func() // of the connection
	received bytes.Buffer
}

func (s *server) stream() *postStream {
	return s.streamOf("subscription{postPublished{node{id}}}")
}

// streamOf is stream for another subscription.
func (s *server) streamOf(subscription string) *postStream {
	ctx, cancel := context.WithCancel(s.Context())
	p, ended := &postStream{T: s.T, server: s, end: func() {}}, make(chan struct{})
	p.stop = func() { cancel(); <-ended }
	address := "http://localhost/graphql?query=" + url.QueryEscape(subscription)
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			p.connect(ctx, address)
			_ = cosmos.Sleep(ctx, time.Second)
		}
	}()
	return p
}

// connect receives until the connection ends.
func (p *postStream) connect(ctx context.Context, address string) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	p.mu.Lock()
	to := p.server
	p.end = end
	p.mu.Unlock()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	r.Header.Set("Accept", "text/event-stream")
	to.handler.ServeHTTP(&streamWriter{stream: p, header: http.Header{}}, r)
}

// move ends the connection. The next ones are to another server.
func (p *postStream) move(to *server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = to
	p.end()
}

// check ends the stream, and fails if it lacks texts, such as the ids of posts.
func (p *postStream) check(texts []string) {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range texts {
		if !strings.Contains(p.received.String(), text) {
			p.Errorf("a stream lacks %s: %.300s", text, p.received.String())
		}
	}
}

// streamWriter is the answer to a request for a stream.
type streamWriter struct {
	stream *postStream
	header http.Header
}

func (w *streamWriter) Header() http.Header              { return w.header }
func (w *streamWriter) WriteHeader(int)                  {}
func (w *streamWriter) Flush()                           {}
func (w *streamWriter) SetWriteDeadline(time.Time) error { return nil }
func (w *streamWriter) SetReadDeadline(time.Time) error  { return nil }
func (w *streamWriter) Write(text []byte) (n int, err error) {
	w.stream.mu.Lock()
	defer w.stream.mu.Unlock()
	return w.stream.received.Write(text)
}
