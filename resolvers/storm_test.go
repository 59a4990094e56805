package resolvers_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
)

// storm combines all faults, including those of reads that the server cannot retry at once.
var storm = faultProfile{stale: true, faults: []profileFault{
	before(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 50").onReads(),
	before(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 5000").onReads(),
	before(449),
	before(http.StatusRequestTimeout).onReads(), after(http.StatusRequestTimeout).onReads(),
	before(http.StatusInternalServerError).onReads(), after(http.StatusInternalServerError),
	before(http.StatusServiceUnavailable).onReads(), after(http.StatusServiceUnavailable),
	{fault: storetest.CutBefore, reads: true}, {fault: storetest.CutAfter, executes: true},
	{fault: cosmostest.Silence, reads: true}, {fault: cosmostest.Executed(cosmostest.Silence), executes: true},
}}

const (
	stormWriters     = 6
	stormOperations  = 40 // per writer
	stormFaultChance = 0.25
	// maxRequestTime is the time limit of a request, 10 s, and the time to reply after it.
	maxRequestTime = 11 * time.Second
)

// TestStorm runs several writers that retry failed requests, while the database fails in every
// way. Each reply arrives in time. It is a success, THROTTLED, UNAVAILABLE or TIMEOUT with a delay,
// or INTERNAL with an id. In the end, everything exists exactly once and is counted. The test uses
// synctest's clock, so it does not wait.
func TestStorm(t *testing.T) {
	skipUnderFaults(t)
	seed := testseed.Of(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStormServer(t, seed)
		stop := make(chan struct{})
		var outages, writers sync.WaitGroup
		outages.Go(func() { s.alternateOutages(stop) })
		for i := range s.writers {
			writers.Go(func() {
				for n := range stormOperations {
					s.writers[i].write(n)
				}
			})
		}
		writers.Wait()
		close(stop)
		outages.Wait()
		s.injector.allow(0)
		s.injector.replica.Lag(0)
		t.Logf("%d replies were THROTTLED, %d UNAVAILABLE, %d INTERNAL, %d NOT_FOUND on a stale replica; %d reads were stale",
			s.replies[blog.Throttled], s.replies[blog.Unavailable], s.replies[blog.Internal], s.replies[blog.NotFound], s.injector.replica.Stale())
		s.check()
	})
}

// stormServer is a server under a storm, with the state that its writers expect from their
// replies.
type stormServer struct {
	*server
	writers []*stormWriter

	mu      sync.Mutex
	posts   map[string]*stormPost
	order   []string          // the posts' ids in creation order
	replies map[blog.Code]int // errors by code
}

// stormPost is the expected state of a post.
type stormPost struct {
	author   *stormWriter
	title    string
	deleted  bool
	comments map[string]string // id → content
	likes    map[string]bool   // user ids
}

// stormWriter sends one request after the other.
type stormWriter struct {
	*client
	storm *stormServer
	*rand.Rand
	name     string
	comments map[string]string // the writer's own: comment id → post id
}

func newStormServer(t *testing.T, seed uint64) *stormServer {
	s := &stormServer{server: newFaultyServer(t, storm, stormFaultChance, rand.New(rand.NewPCG(seed, 0))),
		posts: map[string]*stormPost{}, replies: map[blog.Code]int{}}
	s.injector.requests.Store(1) // the test itself starts and stops the faults
	for i := range stormWriters {
		name := fmt.Sprint("writer", i)
		w := &stormWriter{client: s.user(name), storm: s, Rand: rand.New(rand.NewPCG(seed, uint64(i+1))), name: name, comments: map[string]string{}}
		s.writers = append(s.writers, w)
		s.published(w, w.ask(createPost, "t", "Title", "c", "Content").text("createPost.post.id"), "Title")
	}
	s.injector.replica.Lag(20)
	s.injector.allow(math.MaxInt)
	return s
}

// alternateOutages makes every request fail during four of every twelve seconds.
func (s *stormServer) alternateOutages(stop <-chan struct{}) {
	chance := s.injector.chance
	defer s.injector.setChance(chance)
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(4 * time.Second):
		}
		if i%3 == 0 {
			s.injector.setChance(1)
		} else {
			s.injector.setChance(chance)
		}
	}
}

func (s *stormServer) published(w *stormWriter, id, title string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts[id] = &stormPost{author: w, title: title, comments: map[string]string{}, likes: map[string]bool{}}
	s.order = append(s.order, id)
}

func (s *stormServer) update(id string, change func(*stormPost)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.posts[id])
}

// pick returns a random post for which keep returns true, and whether there is one.
func (s *stormServer) pick(r *rand.Rand, keep func(*stormPost) bool) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(s.order), func(id string) bool { return s.posts[id].deleted || !keep(s.posts[id]) })
	if len(kept) == 0 {
		return "", false
	}
	return kept[r.IntN(len(kept))], true
}

func (s *stormServer) isDeleted(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts[id] != nil && s.posts[id].deleted
}

// write sends one random request until it succeeds. Its idempotency key depends on n.
func (w *stormWriter) write(n int) {
	s := w.storm
	post, _ := s.pick(w.Rand, func(*stormPost) bool { return true })
	own, _ := s.pick(w.Rand, func(p *stormPost) bool { return p.author == w })
	text := fmt.Sprint(w.subject, " writes ", n)
	switch kind := w.IntN(100); {
	case kind < 10 || own == "":
		if r, ok := w.persist("", createPost, "t", text, "c", text, "k", text); ok {
			s.published(w, r.text("createPost.post.id"), text)
		}
	case kind < 20:
		if _, ok := w.persist(own, updatePost, "id", own, "t", text); ok {
			s.update(own, func(p *stormPost) { p.title = text })
		}
	case kind < 24:
		s.update(own, func(p *stormPost) { p.deleted = true }) // before the request: from here on, others may get NOT_FOUND
		w.persist(own, deletePost, "id", own)
	case kind < 50:
		if r, ok := w.persist(post, createComment, "p", post, "c", text, "k", text); ok {
			id := r.text("createComment.comment.id")
			w.comments[id] = post
			s.update(post, func(p *stormPost) { p.comments[id] = text })
		}
	case kind < 60:
		w.changeComment(text)
	case kind < 75:
		if _, ok := w.persist(post, likePost, "p", post); ok {
			s.update(post, func(p *stormPost) { p.likes[w.id] = true })
		}
	case kind < 85:
		if _, ok := w.persist(post, unlikePost, "p", post); ok {
			s.update(post, func(p *stormPost) { delete(p.likes, w.id) })
		}
	case kind < 90:
		name := fmt.Sprint(w.subject, "-", n)
		if _, ok := w.persist("", `mutation($n:String!){updateUser(input:{username:$n}){user{id}}}`, "n", name); ok {
			w.name = name
		}
	default:
		w.persist(post, `query($p:ID!){feed{nodes{id content author{username creationDate}}} post(id:$p){comments{nodes{content}} likes{nodes{user{username}}}}}`, "p", post)
	}
}

// changeComment edits or deletes one of the writer's comments.
func (w *stormWriter) changeComment(text string) {
	const updateComment = `mutation($id:ID!,$c:String!){updateComment(input:{id:$id,content:$c}){comment{content}}}`
	for _, id := range slices.Sorted(maps.Keys(w.comments)) {
		post := w.comments[id]
		if w.storm.isDeleted(post) {
			continue
		}
		if w.IntN(2) == 0 {
			if _, ok := w.persist(post, updateComment, "id", id, "c", text); ok {
				w.storm.update(post, func(p *stormPost) { p.comments[id] = text })
			}
			return
		}
		if _, ok := w.persist(post, deleteComment, "id", id); ok {
			w.storm.update(post, func(p *stormPost) { delete(p.comments, id) })
		}
		delete(w.comments, id)
		return
	}
}

// persist sends a request until it succeeds. It returns false if the request's post was deleted.
// A deletion succeeds with NOT_FOUND if an earlier attempt had an unknown outcome.
func (w *stormWriter) persist(post, query string, variables ...any) (reply, bool) {
	w.Helper()
	maybeDone, isCaughtUp := false, false
	for range 200 {
		if w.Failed() {
			break
		}
		start := time.Now()
		r := w.send(query, variables...)
		if took := time.Since(start); took > maxRequestTime {
			w.Errorf("%s took %v", query, took)
		}
		if len(r.Errors) == 0 {
			return r, true
		}
		wait := w.checkErrors(query, r)
		switch code := blog.Code(fmt.Sprint(r.Errors[0].Extensions["code"])); {
		case code == blog.NotFound && query != deletePost && w.storm.isDeleted(post):
			return r, false
		case code == blog.NotFound && maybeDone && isCaughtUp:
			return r, true
		case code == blog.NotFound && isDeletion(query): // or the replica is behind
			w.storm.injector.replica.CatchUp()
			isCaughtUp = true
		case code == blog.Internal || code == blog.Timeout, r.Errors[0].Extensions["mayHaveExecuted"] == true:
			maybeDone = true
		}
		time.Sleep(wait)
	}
	w.Errorf("%s with %v failed 200 times", query, variables)
	return reply{}, false
}

func isDeletion(query string) bool { return query == deleteComment || query == deletePost }

// checkErrors checks that a client may get the reply's errors. It returns the time to wait before
// a retry.
func (w *stormWriter) checkErrors(query string, r reply) (wait time.Duration) {
	w.Helper()
	for _, e := range r.Errors {
		code := blog.Code(fmt.Sprint(e.Extensions["code"]))
		w.storm.mu.Lock()
		w.storm.replies[code]++
		w.storm.mu.Unlock()
		retry, _ := e.Extensions["retryAfterMs"].(float64)
		id, _ := e.Extensions["errorId"].(string)
		switch {
		case (code == blog.Throttled || code == blog.Unavailable) && retry >= 1:
			wait = max(wait, time.Duration(retry)*time.Millisecond)
		case code == blog.Internal && id != "", code == blog.Timeout && retry >= 1:
			wait = max(wait, 100*time.Millisecond)
		case code == blog.NotFound: // the replica is behind
			wait = max(wait, 10*time.Millisecond)
		default:
			w.Errorf("%s: %v", query, e)
		}
	}
	return wait
}

// check compares the stored state with the state that the writers expect.
func (s *stormServer) check() {
	s.Helper()
	reader := s.anonymous()
	live := 0
	for id, want := range s.posts {
		r := reader.ask(`query($p:ID!){post(id:$p){title commentCount likeCount
			comments(first:100){nodes{id content}} likes(first:100){nodes{user{id}}}}}`, "p", id)
		if want.deleted {
			r.is("post", nil)
			continue
		}
		live++
		s.project(id)
		r.is("post.title", want.title)
		r.is("post.commentCount", len(want.comments))
		r.is("post.likeCount", len(want.likes))
		r.is("post.comments.nodes.#", len(want.comments))
		r.is("post.likes.nodes.#", len(want.likes))
		for i := range len(want.comments) {
			r.is(fmt.Sprintf("post.comments.nodes.%d.content", i), want.comments[r.text(fmt.Sprintf("post.comments.nodes.%d.id", i))])
		}
		for i := range len(want.likes) {
			if user := r.text(fmt.Sprintf("post.likes.nodes.%d.user.id", i)); !want.likes[user] {
				s.Errorf("%s is liked by %s", id, user)
			}
		}
	}
	r := reader.ask(`{feed(first:100){nodes{id title commentCount likeCount}}}`)
	r.is("feed.nodes.#", live)
	for i := range live {
		at := fmt.Sprintf("feed.nodes.%d.", i)
		want := s.posts[r.text(at+"id")]
		r.is(at+"title", want.title)
		r.is(at+"commentCount", len(want.comments))
		r.is(at+"likeCount", len(want.likes))
	}
	for _, w := range s.writers {
		reader.ask(`query($n:String!){userByUsername(username:$n){id username}}`, "n", w.name).is("userByUsername.id", w.id)
	}
}
