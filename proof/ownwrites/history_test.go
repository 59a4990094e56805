//go:build ci

package ownwrites

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/proof/chaos/contract"
	"cosmosblog/proof/testseed"
)

var steps = flag.Int("steps", 25, "mutations of each client in a random history")

// TestClientsReadTheirWrites runs random histories of clients. Each writes, and reads everything
// again. Some clients stay on one server and send no session token; the others send theirs to any
// server. No answer lacks a write that it covers, unless it says that it is stale. What comes from
// users, posts and comments is never stale, and no answer shows a client two names of its user.
//
// An observer without an account reads on all servers. Package contract judges all that it reads,
// and what clients read of each other's posts, which they like: it is never older than what the
// servers may keep and the lag of the account's follower. It judges the answers to mutations, too.
func TestClientsReadTheirWrites(t *testing.T) {
	for _, test := range []struct {
		name string
		poll time.Duration // of the projector
		lag  time.Duration // of the account's follower, at most
		late bool          // whether the views are usually too late
	}{
		{"fast", 50 * time.Millisecond, 60 * time.Millisecond, false},
		{"slow projector", 3 * time.Second, 60 * time.Millisecond, true},
		{"slow replica", 50 * time.Millisecond, 300 * time.Millisecond, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			seed := testseed.Of(t)
			synctest.Test(t, func(t *testing.T) {
				h := newHistory(t, seed, 1, test.poll, test.lag)
				h.isJudged = true
				h.run()
				h.judge()
				t.Logf("%d of %d answers were stale", h.stale, h.answers)
				if late := 2*h.stale > h.answers; late != test.late {
					t.Errorf("%d of %d answers were stale", h.stale, h.answers)
				}
			})
		})
	}
}

// history is a world with its clients.
type history struct {
	*world
	record
	clients []*client
	stops   []func() // of the servers
	streams []*postStream
	isBack  bool // the database went back to an earlier state

	// isJudged is set if package contract judges the history. Its clients also like posts, and read
	// those of others.
	isJudged bool

	hasLostNames bool // of users, in copies that are not rebuilt yet
	hasRestarted bool // so servers do not know the renames of clients who send no session

	lag    time.Duration
	random *rand.Rand // of the observer

	mu             sync.Mutex
	stale, answers int
}

func newHistory(t *testing.T, seed uint64, ranges int, poll, lag time.Duration) *history {
	random := rand.New(rand.NewPCG(seed, 0))
	h := &history{world: newWorld(t, random), lag: lag, random: random, record: record{begun: time.Now()}}
	h.ranges = ranges
	for range 3 {
		_, stop := h.startServer()
		h.stops = append(h.stops, stop)
	}
	h.stopProjector = h.startProjector("projector", poll)
	time.Sleep(balanced)
	h.account.Follower.Trail(lag)
	for i := range 6 {
		c := &client{history: h, number: i, random: rand.New(rand.NewPCG(seed, uint64(i)+1)), subject: fmt.Sprint("client", i), posts: map[string]*post{}}
		if i%2 == 0 {
			c.own = h.servers[i/2]
		}
		h.clients = append(h.clients, c)
	}
	return h
}

func (h *history) run() {
	stopObserver := make(chan struct{})
	var observer sync.WaitGroup
	observer.Go(func() {
		for {
			select {
			case <-stopObserver:
				return
			case <-time.After(100 * time.Millisecond):
				h.observe()
			}
		}
	})
	h.runClients(func(c *client) {
		c.rename()
		c.steps(*steps)
	})
	close(stopObserver)
	observer.Wait()
	h.stop()
}

// stop stops all processes.
func (h *history) stop() {
	h.stopProjector()
	for _, stop := range h.stops {
		stop()
	}
}

// observe reads all posts without an account.
func (h *history) observe() {
	ids := h.allPosts()
	if len(ids) == 0 {
		return
	}
	var got struct{ Nodes []*shownPost }
	i := h.random.IntN(len(h.servers))
	read := contract.Operation{Client: len(h.clients), Server: i, Outcome: contract.Acknowledged, Invoked: h.now()}
	h.servers[i].must("", "", `query($ids:[ID!]!){nodes(ids:$ids){...on Post`+contract.PostFields+`}}`, map[string]any{"ids": ids}, &got)
	read.Completed = h.now()
	h.add(readPosts(read, ids, got.Nodes)...)
}

// client is a client with its user, and what it has written.
type client struct {
	*history
	number  int
	random  *rand.Rand
	subject string
	own     *server // the client's only server; nil for a client with a session token
	session string

	userID string
	name   string
	names  int
	posts  map[string]*post

	created    string // by the last call of create; empty if that did something else
	hasLearned bool   // from the database what is left (learn), and not written to posts since
}

// post is a post in the state that its client has written.
type post struct {
	title    string
	tag      string
	comments int
	deleted  bool
}

func (c *client) server() *server {
	if c.own != nil {
		return c.own
	}
	return c.servers[c.random.IntN(len(c.servers))]
}

// rename gives the client's user another name, or its first one.
func (c *client) rename() {
	c.names++
	name := fmt.Sprintf("%s_%d", c.subject, c.names)
	kind := contract.UpdateUser
	if c.name == "" {
		kind = contract.CreateUser
	}
	c.userID = c.request(contract.Operation{Kind: kind, Username: name}).User.ID
	c.name = name
}

// write executes one random mutation.
func (c *client) write() {
	id, kinds := c.anyPost(), 10
	if c.isJudged {
		kinds = 12
	}
	switch n := c.random.IntN(kinds); {
	case id == "" || n < 3:
		c.create()
	case n < 4:
		c.rename()
	case n < 6:
		p := c.posts[id]
		p.title += "!"
		c.request(contract.Operation{Kind: contract.UpdatePost, PostID: id, Title: p.title})
	case n < 9:
		c.request(contract.Operation{Kind: contract.CreateComment, PostID: id, Content: "A comment."})
		c.posts[id].comments++
	case n < 10:
		c.request(contract.Operation{Kind: contract.DeletePost, PostID: id})
		c.posts[id].deleted = true
	default:
		all := c.allPosts()
		c.like(all[c.random.IntN(len(all))])
	}
}

// like likes or unlikes a post of any client, and reads it without views, for which answers wait.
func (c *client) like(id string) {
	kind := []contract.Kind{contract.LikePost, contract.UnlikePost}[c.random.IntN(2)]
	c.request(contract.Operation{Kind: kind, PostID: id})
	c.request(contract.Operation{Kind: contract.ReadPost, PostID: id})
}

// maxPosts is the number of posts of a client, so that the feed has those of all clients.
const maxPosts = 12

func (c *client) create() {
	if c.created = ""; len(c.posts) == maxPosts {
		c.rename()
		return
	}
	p := &post{title: "A title", tag: fmt.Sprint("tag", c.random.IntN(3))}
	c.created = c.request(contract.Operation{Kind: contract.CreatePost, Title: p.title, Content: "Some content."}, p.tag).Post.ID
	c.posts[c.created] = p
}

// anyPost returns a post that is not deleted, or "".
func (c *client) anyPost() string {
	ids := c.live(func(*post) bool { return true })
	if len(ids) == 0 {
		return ""
	}
	return ids[c.random.IntN(len(ids))]
}

// live returns the ids of the posts that are not deleted and that are wanted, sorted.
func (c *client) live(wanted func(*post) bool) (ids []string) {
	for id, p := range c.posts {
		if !p.deleted && wanted(p) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

type (
	shownPost struct {
		contract.Post
		ViewerHasLiked *bool
		Comments       struct{ Nodes []contract.Comment }
	}
	shownList struct{ Posts struct{ Nodes []shownPost } }
)

const everything = `query($ids:[ID!]!) {
	viewer { id username postCount posts(first:100) { nodes { ...Card } } }
	feed(first:100) { nodes { ...Card } }
	tag0: tag(name:"tag0") { ...List } tag1: tag(name:"tag1") { ...List } tag2: tag(name:"tag2") { ...List }
	nodes(ids:$ids) { ...on Post { ...Card viewerHasLiked comments(first:5) { nodes { author { id username } } } } }
}
fragment Card on Post ` + contract.CardFields + `
fragment List on Tag { posts(first:100) { nodes { id title author { id username } } } }`

// read reads everything on any of the client's servers, and checks it. It reports whether the
// answer is stale.
func (c *client) read() (stale bool) {
	ids := slices.Collect(maps.Keys(c.posts))
	own := len(ids)
	if all := c.allPosts(); c.isJudged && len(all) > 0 { // perhaps of others
		ids = append(ids, all[c.random.IntN(len(all))], all[c.random.IntN(len(all))])
	}
	var got struct {
		Viewer struct {
			contract.User
			shownList
		}
		Feed             struct{ Nodes []shownPost }
		Tag0, Tag1, Tag2 shownList
		Nodes            []*shownPost
	}
	s, variables := c.server(), map[string]any{"ids": ids}
	c.waitWhileThrottled(s, variables)
	read := c.begin(s, contract.Operation{Outcome: contract.Acknowledged})
	a := s.must(c.subject, c.session, everything, variables, &got)
	read.Completed, read.Stale = c.now(), a.Extensions.Stale
	if c.own == nil && a.session != "" { // without a state that the database has lost
		c.session = a.session
	}
	c.mu.Lock()
	c.answers++
	if a.Extensions.Stale {
		c.stale++
	}
	c.mu.Unlock()
	c.add(readPosts(read, ids, got.Nodes)...)
	read.Kind, read.User = contract.ReadViewer, &got.Viewer.User
	c.add(read)
	read.Kind, read.User = contract.ReadFeed, nil
	for _, p := range got.Feed.Nodes {
		read.Feed = append(read.Feed, p.Post)
	}
	c.add(read)
	c.checkUser("viewer", got.Viewer.User)
	for i, id := range ids[:own] {
		c.checkSource(id, got.Nodes[i])
	}
	lists := map[string][]shownPost{"posts": got.Viewer.Posts.Nodes, "feed": got.Feed.Nodes,
		"tag0": got.Tag0.Posts.Nodes, "tag1": got.Tag1.Posts.Nodes, "tag2": got.Tag2.Posts.Nodes}
	for name, list := range lists {
		c.checkNames(name, list)
		if !a.Extensions.Stale && !c.hasLearned {
			c.checkView(name, list)
		}
	}
	if want := len(c.live(func(*post) bool { return true })); !a.Extensions.Stale && !c.hasLearned && got.Viewer.PostCount != want {
		c.Errorf("%s: postCount is %d, want %d", c.subject, got.Viewer.PostCount, want)
	}
	return a.Extensions.Stale
}

// checkSource checks a post that was read from posts.
func (c *client) checkSource(id string, got *shownPost) {
	p := c.posts[id]
	if p.deleted || got == nil {
		if p.deleted != (got == nil) {
			c.Errorf("%s: post %s is deleted: %t, shown: %t", c.subject, id, p.deleted, got != nil)
		}
		return
	}
	if got.Title != p.title || got.CommentCount != p.comments || len(got.Comments.Nodes) != min(5, p.comments) {
		c.Errorf("%s: post %s is %+v, want %+v", c.subject, id, got, p)
	}
	c.checkNames("nodes", []shownPost{*got})
	for _, comment := range got.Comments.Nodes {
		c.checkUser("comments", comment.Author)
	}
}

// checkView checks the client's own posts in a list.
func (c *client) checkView(name string, list []shownPost) {
	var shown []string
	for _, got := range list {
		p := c.posts[got.ID]
		if p == nil {
			continue
		}
		shown = append(shown, got.ID)
		if got.Title != p.title || name[:3] != "tag" && got.CommentCount != p.comments {
			c.Errorf("%s: %s shows post %s as %+v, want %+v", c.subject, name, got.ID, got, p)
		}
	}
	slices.Sort(shown)
	want := c.live(func(p *post) bool { return name[:3] != "tag" || p.tag == name })
	if !slices.Equal(shown, want) {
		c.Errorf("%s: %s shows the posts %v, want %v", c.subject, name, shown, want)
	}
}

func (c *client) checkNames(where string, list []shownPost) {
	if c.hasLostNames || c.hasRestarted && c.own != nil {
		return
	}
	for _, got := range list {
		c.checkUser(where, got.Author)
		for _, comment := range got.RecentComments {
			c.checkUser(where, comment.Author)
		}
	}
}

// checkUser checks the name of the client's own user.
func (c *client) checkUser(where string, user contract.User) {
	if user.ID == c.userID && user.Username != c.name {
		c.Errorf("%s: %s shows the name %s, want %s", c.subject, where, user.Username, c.name)
	}
}
