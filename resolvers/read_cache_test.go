package resolvers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/testseed"
)

// pausingHandler waits for a random time of the simulated clock before and after each request.
type pausingHandler struct {
	next   http.Handler
	mu     sync.Mutex
	random *rand.Rand
}

func (h *pausingHandler) pause() {
	h.mu.Lock()
	d := time.Duration(h.random.IntN(4)) * time.Millisecond
	h.mu.Unlock()
	time.Sleep(d)
}

func (h *pausingHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.pause()
	h.next.ServeHTTP(w, r)
	h.pause()
}

// TestReadsSeeAcknowledgedWrites sends reads and writes of a few posts at once, through a server
// with a cache. No answer may be older than a write that was acknowledged before its request. A
// page of comments, read after the post in the same request, has all comments that were
// acknowledged too. It uses synctest's clock, so it does not wait.
func TestReadsSeeAcknowledgedWrites(t *testing.T) {
	skipUnderFaults(t)
	seed := testseed.Of(t)
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t)
		slow := &pausingHandler{next: engine, random: rand.New(rand.NewPCG(seed, 1))}
		s := startServer(t, engine, newInjector(t, engine, inprocess.To(slow)), true)
		ann := s.user("Ann")
		posts := make([]*acknowledgedPost, 3)
		for i := range posts {
			posts[i] = &acknowledgedPost{id: ann.post("0", "Content")}
		}
		var all sync.WaitGroup
		for i := range 8 {
			random := rand.New(rand.NewPCG(seed, uint64(10+i)))
			all.Go(func() {
				for range 40 {
					post := posts[random.IntN(len(posts))]
					switch random.IntN(6) {
					case 0:
						ann.ask(`mutation($p:ID!){createComment(input:{postId:$p,content:"Hi"}){comment{id}}}`, "p", post.id)
						post.comments.Add(1)
					case 1:
						version := ann.ask(`mutation($p:ID!,$t:String!){updatePost(input:{id:$p,title:$t}){post{version}}}`,
							"p", post.id, "t", fmt.Sprint(random.Uint64())).number("updatePost.post.version")
						for known := post.version.Load(); known < version && !post.version.CompareAndSwap(known, version); {
							known = post.version.Load()
						}
					default:
						post.check(s.anonymous())
					}
				}
			})
		}
		all.Wait()
		if stats := s.reads.Stats(); stats.Hits == 0 || stats.Shared == 0 {
			t.Errorf("%+v: the test reads nothing twice", stats)
		}
	})
}

// TestSavedCharge sends a query twice: one with a point read, a query and a read many. The second
// answer is read from the cache. It says for each request what the first one was charged.
func TestSavedCharge(t *testing.T) {
	skipUnderFaults(t)
	engine := newEngine(t)
	s := startServer(t, engine, newInjector(t, engine, inprocess.To(engine)), true)
	ann := s.user("Ann")
	for i := range 3 {
		s.project(ann.post(fmt.Sprint("Post ", i), "Content"))
	}
	const query = `query($u:ID!){user(id:$u){username posts{nodes{content}}}}`
	read := s.anonymous().ask(query, "u", ann.id).Extensions.Cosmos
	kept := s.anonymous().ask(query, "u", ann.id).Extensions.Cosmos
	operations := map[string]bool{}
	for i, first := range read.Requests {
		operations[first.Operation] = true
		if first.Cached || first.SavedCharge != 0 || first.RequestCharge == 0 {
			t.Errorf("first: %+v", first)
		}
		if i >= len(kept.Requests) {
			break
		}
		second := kept.Requests[i]
		if !second.Cached || second.RequestCharge != 0 || math.Abs(second.SavedCharge-first.RequestCharge) > 0.01 {
			t.Errorf("first: %+v, second: %+v", first, second)
		}
	}
	if len(operations) != 3 || len(kept.Requests) != len(read.Requests) || kept.RequestCharge != 0 {
		t.Errorf("first: %+v, second: %+v", read, kept)
	}
}

// acknowledgedPost is what was acknowledged of a post.
type acknowledgedPost struct {
	id                string
	version, comments atomic.Int64
}

// check reads the post and its comments.
func (p *acknowledgedPost) check(c *client) {
	version, comments := p.version.Load(), p.comments.Load()
	r := c.ask(`query($p:ID!){post(id:$p){version commentCount comments(first:100){nodes{id}}}}`, "p", p.id)
	if got := r.number("post.version"); got < version {
		c.Errorf("version %d after %d was acknowledged", got, version)
	}
	if got := r.number("post.commentCount"); got < comments {
		c.Errorf("%d comments are counted after %d were acknowledged", got, comments)
	}
	if got := int64(r.at("post.comments.nodes.#").(int)); got < comments {
		c.Errorf("%d comments are listed after %d were acknowledged", got, comments)
	}
}

// number returns the integer at a path.
func (r reply) number(path string) int64 {
	r.t.Helper()
	return int64(r.at(path).(float64))
}
