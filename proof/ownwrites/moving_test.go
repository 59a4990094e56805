//go:build ci

package ownwrites

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/cosmostest"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/schema"
)

var moves = flag.Int("moves", 2, "random histories in which the projectors and the account move")

// TestProjectorsMove runs random histories of clients, strangers and streams while projectors are
// killed and take each other's leases, feed ranges are split, requests are throttled, and a replica
// lags. Some servers keep what they read. No answer lacks a write that it covers, unless it says
// that it is stale, and every stream gets to the last state of its post and to every new post.
func TestProjectorsMove(t *testing.T) {
	seed := testseed.Of(t)
	for i := range *moves {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runMoves(t, seed+uint64(i)) })
		})
	}
}

func runMoves(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 200))
	h := newHistory(t, seed, 1+3*random.IntN(2), 50*time.Millisecond, time.Duration(random.IntN(300))*time.Millisecond)
	h.stopProjector()
	h.hasNoCache = random.IntN(2) == 0
	_, stop := h.startServer()
	h.stops = append(h.stops, stop)
	m := newMover(h, random)
	h.stopProjector = m.stopProjectors
	h.streams = []*postStream{h.servers[0].stream(), h.servers[3].stream()}
	c := h.newCommenter(rand.New(rand.NewPCG(seed, 201)))

	ended := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { m.run(ended) })
	others.Go(func() { c.run(ended) })
	for i, s := range h.servers {
		stranger := rand.New(rand.NewPCG(seed, 300+uint64(i)))
		others.Go(func() { h.readAsStranger(s, stranger, ended) })
	}
	h.runClients(func(c *client) {
		c.rename()
		c.steps(*steps)
	})
	close(ended)
	others.Wait()

	m.heal()
	time.Sleep(3 * time.Minute) // layouts of feed ranges are kept for one
	h.checkEnd(1)
	c.check()
	h.stop()
}

// readAsStranger reads posts of others side by side, in one session, with their lists.
func (h *history) readAsStranger(s *server, random *rand.Rand, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Duration(20+random.IntN(200)) * time.Millisecond):
		}
		ids := h.commentedPosts()
		random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		query := "{"
		for i, id := range ids[:min(len(ids), 5)] {
			query += fmt.Sprintf(`p%d:node(id:%q){...on Post{title commentCount comments(first:5){nodes{id}}}}`, i, id)
		}
		tag := fmt.Sprintf(`tag(name:"tag%d"){posts(first:100){nodes{id}}}`, random.IntN(3))
		s.must("", "", query+tag+`feed(first:100){nodes{id}}}`, nil, nil)
	}
}

// mover moves what the answers must not depend on.
type mover struct {
	*history
	random  *rand.Rand
	running []*runningProjector
	names   int
	ids     map[string][]string // of the partition key ranges, by container
	next    map[string]int      // the id of the next one
	splits  int
}

type runningProjector struct {
	wire *cosmostest.Transport
	stop func()
}

func newMover(h *history, random *rand.Rand) *mover {
	m := &mover{history: h, random: random, ids: map[string][]string{}, next: map[string]int{}}
	for _, container := range schema.ContainerNames() {
		for id := range h.ranges {
			m.ids[container] = append(m.ids[container], fmt.Sprint(id))
		}
		m.next[container] = h.ranges
	}
	for range 2 {
		m.running = append(m.running, m.start())
	}
	for _, s := range h.servers {
		s.wire.Inject(m.unsteady(rand.New(rand.NewPCG(random.Uint64(), 1)), 0.01))
	}
	return m
}

// start starts a projector with a new name, which takes the leases of those that are gone soon.
func (m *mover) start() *runningProjector {
	m.names++
	p := &runningProjector{wire: m.account.NewTransport()}
	p.stop = m.startProjectorOn(p.wire, projector.Options{
		Owner: fmt.Sprint("projector-", m.names), Poll: 50 * time.Millisecond,
		Renew: 500 * time.Millisecond, Expire: 3 * time.Second, Balance: time.Second, TakeOver: m.random.IntN(3) == 0,
	})
	p.wire.Inject(m.unsteady(rand.New(rand.NewPCG(m.random.Uint64(), 1)), 0.03))
	return p
}

// unsteady rejects some requests, each with a chance. All others take some time, before they arrive
// and before their answers do.
func (m *mover) unsteady(random *rand.Rand, chance float64) cosmostest.Fault {
	refuse := cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 20")
	var mu sync.Mutex
	return func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		mu.Lock()
		isRefused := random.Float64() < chance
		there, back := random.IntN(10), random.IntN(4)*random.IntN(15)
		mu.Unlock()
		if isRefused {
			return refuse(n, request, next)
		}
		time.Sleep(time.Duration(there) * time.Millisecond)
		response, err := next.Do(request)
		time.Sleep(time.Duration(back) * time.Millisecond)
		return response, err
	}
}

func (m *mover) run(ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Duration(100+m.random.IntN(1500)) * time.Millisecond):
			m.move()
		}
	}
}

func (m *mover) move() {
	i := m.random.IntN(len(m.running))
	switch p := m.running[i]; m.random.IntN(8) {
	case 0: // it dies, and its leases expire
		p.wire.Inject(storetest.CutBefore)
		p.stop()
		m.running[i] = m.start()
	case 1: // it releases its leases
		p.stop()
		m.running[i] = m.start()
	case 2: // it can reach nothing for a while, and then finds that its leases are lost
		p.wire.Inject(storetest.CutBefore)
		time.Sleep(time.Duration(m.random.IntN(6)) * time.Second)
		p.wire.Inject(m.unsteady(rand.New(rand.NewPCG(m.random.Uint64(), 1)), 0.03))
	case 3: // one container rejects everything for a while
		view := []string{schema.Lists, schema.Lists, schema.Users, schema.Feed, schema.Leases}[m.random.IntN(5)]
		refuse := cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 20")
		p.wire.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
			if strings.Contains(request.URL.Path, "/colls/"+view+"/docs") {
				return refuse(n, request, next)
			}
			return next.Do(request)
		})
		time.Sleep(time.Duration(100+m.random.IntN(2000)) * time.Millisecond)
		p.wire.Inject(m.unsteady(rand.New(rand.NewPCG(m.random.Uint64(), 1)), 0.03))
	case 4:
		m.split([]string{schema.Posts, schema.Lists, schema.Users, schema.Feed}[m.random.IntN(4)])
	}
}

// split splits a range of a container, three times in a history at most.
func (m *mover) split(container string) {
	if m.splits++; m.splits > 3 {
		return
	}
	ids := m.ids[container]
	i := m.random.IntN(len(ids))
	if err := m.account.Split(m.servers[0].db.Name(), container, ids[i]); err != nil {
		m.Error(err)
	}
	next := m.next[container]
	m.ids[container] = append(slices.Delete(ids, i, i+1), fmt.Sprint(next), fmt.Sprint(next+1))
	m.next[container] += 2
}

// heal ends all faults.
func (m *mover) heal() {
	for _, p := range m.running {
		p.wire.Inject(nil)
	}
	for _, s := range m.servers {
		s.wire.Inject(nil)
	}
}

func (m *mover) stopProjectors() {
	for _, p := range m.running {
		p.stop()
	}
}

// commenter writes comments on a post, and edits the oldest one. Streams on all servers follow.
type commenter struct {
	*history
	random  *rand.Rand
	post    string
	oldest  string
	streams []*postStream
	count   int // of comments
	edits   int
}

func (h *history) newCommenter(random *rand.Rand) *commenter {
	c := &commenter{history: h, random: random}
	var got struct {
		CreatePost    struct{ Post struct{ ID string } }
		CreateComment struct{ Comment struct{ ID string } }
	}
	s := h.servers[0]
	s.must("commenter", "", `mutation{createUser(input:{username:"commenter"}){user{id}}}`, nil, nil)
	s.must("commenter", "", createPost, nil, &got)
	c.post = got.CreatePost.Post.ID
	s.must("commenter", "", `mutation($p:ID!){createComment(input:{postId:$p,content:"edit 0"}){comment{id}}}`, map[string]any{"p": c.post}, &got)
	c.oldest, c.count = got.CreateComment.Comment.ID, 1
	for _, s := range h.servers {
		c.streams = append(c.streams,
			s.streamOf(fmt.Sprintf(`subscription{postChanged(id:%q){commentCount comments(first:1){nodes{content}}}}`, c.post)),
			s.streamOf(fmt.Sprintf(`subscription{postChanged(id:%q){commentCount}}`, c.post)))
	}
	return c
}

func (c *commenter) run(ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Duration(c.random.IntN(1000)) * time.Millisecond):
		}
		s := c.servers[c.random.IntN(len(c.servers))]
		if c.random.IntN(2) == 0 {
			c.edits++
			s.must("commenter", "", `mutation($c:ID!,$t:String!){updateComment(input:{id:$c,content:$t}){comment{id}}}`,
				map[string]any{"c": c.oldest, "t": fmt.Sprint("edit ", c.edits)}, nil)
			continue
		}
		c.count++
		s.must("commenter", "", `mutation($p:ID!){createComment(input:{postId:$p,content:"A comment."}){comment{id}}}`, map[string]any{"p": c.post}, nil)
	}
}

// check ends the streams. The last state that each has received is the last one of the post.
func (c *commenter) check() {
	for i, s := range c.streams {
		s.stop()
		s.mu.Lock()
		received := s.received.String()
		s.mu.Unlock()
		last := received[max(0, strings.LastIndex(received, "data: {")):]
		isLast := strings.Contains(last, fmt.Sprintf(`"commentCount":%d`, c.count))
		if i%2 == 0 {
			isLast = isLast && strings.Contains(last, fmt.Sprintf(`"edit %d"`, c.edits))
		}
		if !isLast {
			c.Errorf("stream %d ends with %q, want %d comments and edit %d", i, last, c.count, c.edits)
		}
	}
}
