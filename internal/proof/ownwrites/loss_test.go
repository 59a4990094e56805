package ownwrites

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/proof/testseed"
	"cosmosblog/store"
	"cosmosblog/store/audit"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

var losses = flag.Int("losses", 3, "random histories with a loss")

// TestDatabaseGoesBack runs random histories in which the database goes back to an earlier state: a
// failover loses the last writes, or the account is restored, of all containers or of posts alone.
// The clients then learn from posts what is left, and go on, before or after the projectors have
// noticed. No answer lacks a write that was made since, unless it says that it is stale. In the
// end, nothing drifts, no answer is stale, and every view has the new posts.
//
// A failover takes longer than the positions of projectors may be old (learn.microsoft.com/azure/
// cosmos-db/disaster-recovery-guidance: up to an hour), so the clients write nothing for a while.
func TestDatabaseGoesBack(t *testing.T) {
	seed := testseed.Of(t)
	for i := range *losses {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runLoss(t, seed+uint64(i)) })
		})
	}
}

func runLoss(t *testing.T, seed uint64) {
	h := newHistory(t, seed, 50*time.Millisecond, 60*time.Millisecond)
	h.stops = append(h.stops, h.startProjector("another projector", time.Second))
	random := rand.New(rand.NewPCG(seed, 100))
	h.runClients(func(c *client) {
		c.rename()
		c.steps(5 + c.random.IntN(10))
	})
	h.account.Follower.Lead()
	h.runClients(func(c *client) { c.steps(3 + c.random.IntN(10)) })
	time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)

	var lost []string
	goBack := h.account.LoseWrites
	if random.IntN(2) == 0 {
		lost = []string{schema.Posts}
	}
	if random.IntN(2) == 0 {
		goBack = h.account.Restore
	}
	goBack(lost...)
	pause := 11*time.Second + time.Duration(random.IntN(80))*time.Second
	t.Logf("lost writes of %v; the clients write again after %v", lost, pause)
	time.Sleep(pause)
	h.runClients(func(c *client) {
		c.learn()
		c.steps(10)
	})
	time.Sleep(3 * time.Minute)
	feeds := changefeed.New(h.servers[0].db)
	history, err := feeds.History(t.Context())
	if err != nil || !history.IsRebuilt {
		t.Errorf("the history is %+v, %v", history, err)
	}
	t.Logf("the history is %+v", history)
	h.runClients(func(c *client) {
		c.create()
		time.Sleep(10 * time.Second)
		if c.read() {
			t.Errorf("%s: an answer is stale", c.subject)
		}
	})
	time.Sleep(10 * time.Second)
	result, err := audit.Run(t.Context(), h.servers[0].db, audit.Options{
		Found: func(drift audit.Drift, _ bool) {
			t.Errorf("drift: %s %s %s %s: %v instead of %v", drift.Kind, drift.Container, drift.ID, drift.Field, drift.Is, drift.Should)
		},
	})
	if err != nil || result.Drifts != 0 || result.Unstable != 0 || result.Stalled {
		t.Errorf("the audit's result is %+v, %v", result, err)
	}
	for _, stop := range h.stops {
		stop()
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
