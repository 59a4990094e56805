package resolvers_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/faultstest"
)

// storm is everything at once, reads included, and for seconds at a time a database that refuses everybody.
var storm = climate{stale: true, faults: []faultstest.Fault{
	{Status: http.StatusTooManyRequests, RetryAfter: 50 * time.Millisecond, Reads: true},
	{Status: http.StatusTooManyRequests, RetryAfter: 5 * time.Second, Reads: true},
	{Status: 449},
	{Status: http.StatusRequestTimeout, Reads: true}, {Status: http.StatusRequestTimeout, Done: true, Reads: true},
	{Status: http.StatusInternalServerError, Reads: true}, {Status: http.StatusInternalServerError, Done: true},
	{Status: http.StatusServiceUnavailable, Reads: true}, {Status: http.StatusServiceUnavailable, Done: true},
	{Reads: true}, {Done: true}, {Silent: true, Reads: true}, {Silent: true, Done: true},
}}

const (
	stormyWriters    = 6
	stormyOperations = 40 // of each writer
	stormyChance     = 0.25
	// longestRequest is a request's time, 10 s, and what it takes to answer that it is over.
	longestRequest = 11 * time.Second
)

// TestStorm lets several people write, each as a client does that tries again what failed, while the database fails in
// every way. Each answer comes in time and says success, THROTTLED with the time to wait, or INTERNAL with an id. In the
// end, everything is there exactly once, and is counted. Time is synctest's: nobody waits.
func TestStorm(t *testing.T) {
	skipUnderFaults(t)
	seed := seed(t)
	synctest.Test(t, func(t *testing.T) {
		p := newStormyPlace(t, seed)
		stop := make(chan struct{})
		var weather, writers sync.WaitGroup
		weather.Go(func() { p.blow(stop) })
		for i := range p.writers {
			writers.Go(func() {
				for n := range stormyOperations {
					p.writers[i].write(n)
				}
			})
		}
		writers.Wait()
		close(stop)
		weather.Wait()
		p.weather.transport.Allow(0)
		p.weather.replica.Lag(0)
		t.Logf("%d answers were THROTTLED, %d INTERNAL, %d said that something new is not there yet; %d reads were stale",
			p.answers[blog.Throttled], p.answers[blog.Internal], p.answers[blog.NotFound], p.weather.replica.Stale())
		p.check()
	})
}

// stormyPlace is a server in a storm, and what is on it as far as its writers were told.
type stormyPlace struct {
	*server
	writers []*stormyWriter

	mu      sync.Mutex
	posts   map[string]*stormyPost
	order   []string // of the posts that are not deleted
	answers map[blog.Code]int
}

type stormyPost struct {
	author   *stormyWriter
	title    string
	deleted  bool
	comments map[string]string // id → content
	likes    map[string]bool   // by the ids of users
}

// stormyWriter writes one thing after the other.
type stormyWriter struct {
	*client
	place *stormyPlace
	*rand.Rand
	name     string
	comments map[string]string // own ones: comment → post
}

func newStormyPlace(t *testing.T, seed uint64) *stormyPlace {
	p := &stormyPlace{server: newServerIn(t, storm, stormyChance, rand.New(rand.NewPCG(seed, 0))),
		posts: map[string]*stormyPost{}, answers: map[blog.Code]int{}}
	p.weather.underWay.Store(1) // for good: when the weather changes is the test's own
	for i := range stormyWriters {
		name := fmt.Sprint("writer", i)
		w := &stormyWriter{client: p.user(name), place: p, Rand: rand.New(rand.NewPCG(seed, uint64(i+1))), name: name, comments: map[string]string{}}
		p.writers = append(p.writers, w)
		p.published(w, w.ask(createPost, "t", "Title", "c", "Content").text("createPost.post.id"), "Title")
	}
	p.weather.replica.Lag(20)
	p.weather.transport.Allow(faultstest.Unlimited)
	return p
}

// blow refuses everybody for four seconds in every twelve.
func (p *stormyPlace) blow(stop <-chan struct{}) {
	chance := p.weather.transport.Chance
	defer p.weather.transport.SetChance(chance)
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(4 * time.Second):
		}
		if i%3 == 0 {
			p.weather.transport.SetChance(1)
		} else {
			p.weather.transport.SetChance(chance)
		}
	}
}

func (p *stormyPlace) published(w *stormyWriter, id, title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posts[id] = &stormyPost{author: w, title: title, comments: map[string]string{}, likes: map[string]bool{}}
	p.order = append(p.order, id)
}

// known notes what a writer was told of a post.
func (p *stormyPlace) known(id string, note func(*stormyPost)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	note(p.posts[id])
}

// pick gives a post that keep holds for.
func (p *stormyPlace) pick(r *rand.Rand, keep func(*stormyPost) bool) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(p.order), func(id string) bool { return p.posts[id].deleted || !keep(p.posts[id]) })
	if len(kept) == 0 {
		return "", false
	}
	return kept[r.IntN(len(kept))], true
}

func (p *stormyPlace) isDeleted(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.posts[id] != nil && p.posts[id].deleted
}

// write does one thing, for as long as it takes. Keys are by n.
func (w *stormyWriter) write(n int) {
	p := w.place
	post, _ := p.pick(w.Rand, func(*stormyPost) bool { return true })
	own, _ := p.pick(w.Rand, func(p *stormyPost) bool { return p.author == w })
	text := fmt.Sprint(w.subject, " says ", n)
	switch kind := w.IntN(100); {
	case kind < 10 || own == "":
		if r, ok := w.persist("", createPost, "t", text, "c", text, "k", text); ok {
			p.published(w, r.text("createPost.post.id"), text)
		}
	case kind < 20:
		if _, ok := w.persist(own, updatePost, "id", own, "t", text); ok {
			p.known(own, func(p *stormyPost) { p.title = text })
		}
	case kind < 24:
		p.known(own, func(p *stormyPost) { p.deleted = true }) // from now on, nobody need find it
		w.persist(own, deletePost, "id", own)
	case kind < 50:
		if r, ok := w.persist(post, createComment, "p", post, "c", text, "k", text); ok {
			id := r.text("createComment.comment.id")
			w.comments[id] = post
			p.known(post, func(p *stormyPost) { p.comments[id] = text })
		}
	case kind < 60:
		w.changeComment(text)
	case kind < 75:
		if _, ok := w.persist(post, likePost, "p", post); ok {
			p.known(post, func(p *stormyPost) { p.likes[w.id] = true })
		}
	case kind < 85:
		if _, ok := w.persist(post, unlikePost, "p", post); ok {
			p.known(post, func(p *stormyPost) { delete(p.likes, w.id) })
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
func (w *stormyWriter) changeComment(text string) {
	const updateComment = `mutation($id:ID!,$c:String!){updateComment(input:{id:$id,content:$c}){comment{content}}}`
	for _, id := range slices.Sorted(maps.Keys(w.comments)) {
		post := w.comments[id]
		if w.place.isDeleted(post) {
			continue
		}
		if w.IntN(2) == 0 {
			if _, ok := w.persist(post, updateComment, "id", id, "c", text); ok {
				w.place.known(post, func(p *stormyPost) { p.comments[id] = text })
			}
			return
		}
		if _, ok := w.persist(post, deleteComment, "id", id); ok {
			w.place.known(post, func(p *stormyPost) { delete(p.comments, id) })
		}
		delete(w.comments, id)
		return
	}
}

// persist sends a request until it succeeds; false where the post that it is about was deleted. A deletion that may have
// been done before, and now finds nothing, has succeeded.
func (w *stormyWriter) persist(post, query string, variables ...any) (reply, bool) {
	w.Helper()
	unsure, certain := false, false
	for range 200 {
		if w.Failed() {
			break
		}
		start := time.Now()
		r := w.send(query, variables...)
		if took := time.Since(start); took > longestRequest {
			w.Errorf("%s took %v", query, took)
		}
		if len(r.Errors) == 0 {
			return r, true
		}
		wait := w.complaint(query, r)
		switch code := blog.Code(fmt.Sprint(r.Errors[0].Extensions["code"])); {
		case code == blog.NotFound && query != deletePost && w.place.isDeleted(post):
			return r, false
		case code == blog.NotFound && unsure && certain:
			return r, true
		case code == blog.NotFound && isDeletion(query): // or the replica does not know it yet
			w.place.weather.replica.CatchUp()
			certain = true
		case code == blog.Internal:
			unsure = true
		}
		time.Sleep(wait)
	}
	w.Errorf("%s with %v does not succeed", query, variables)
	return reply{}, false
}

func isDeletion(query string) bool { return query == deleteComment || query == deletePost }

// complaint holds an answer's errors to what a client may be told, and gives how long it is to wait.
func (w *stormyWriter) complaint(query string, r reply) (wait time.Duration) {
	w.Helper()
	for _, e := range r.Errors {
		code := blog.Code(fmt.Sprint(e.Extensions["code"]))
		w.place.mu.Lock()
		w.place.answers[code]++
		w.place.mu.Unlock()
		retry, _ := e.Extensions["retryAfterMs"].(float64)
		id, _ := e.Extensions["errorId"].(string)
		switch {
		case code == blog.Throttled && retry >= 1:
			wait = max(wait, time.Duration(retry)*time.Millisecond)
		case code == blog.Internal && id != "":
			wait = max(wait, 100*time.Millisecond)
		case code == blog.NotFound: // a replica that does not know it yet
			wait = max(wait, 10*time.Millisecond)
		default:
			w.Errorf("%s: %v", query, e)
		}
	}
	return wait
}

// check holds what is there to what the writers were told.
func (p *stormyPlace) check() {
	p.Helper()
	reader := p.anonymous()
	live := 0
	for id, want := range p.posts {
		r := reader.ask(`query($p:ID!){post(id:$p){title commentCount likeCount
			comments(first:100){nodes{id content}} likes(first:100){nodes{user{id}}}}}`, "p", id)
		if want.deleted {
			r.is("post", nil)
			continue
		}
		live++
		p.project(id)
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
				p.Errorf("%s is liked by %s", id, user)
			}
		}
	}
	r := reader.ask(`{feed(first:100){nodes{id title commentCount likeCount}}}`)
	r.is("feed.nodes.#", live)
	for i := range live {
		at := fmt.Sprintf("feed.nodes.%d.", i)
		want := p.posts[r.text(at+"id")]
		r.is(at+"title", want.title)
		r.is(at+"commentCount", len(want.comments))
		r.is(at+"likeCount", len(want.likes))
	}
	for _, w := range p.writers {
		reader.ask(`query($n:String!){userByUsername(username:$n){id username}}`, "n", w.name).is("userByUsername.id", w.id)
	}
}
