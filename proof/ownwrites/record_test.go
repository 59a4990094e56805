//go:build ci

package ownwrites

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"cosmosblog/proof/chaos/contract"
)

// record is what all clients of a history did, for package contract to judge.
type record struct {
	begun time.Time

	mu         sync.Mutex // guards the fields below
	last       time.Duration
	operations []contract.Operation
	posts      []string // the ids of all posts, also of those that are deleted
}

// now returns the time since the beginning. No time is returned twice: the clock of a bubble stands
// still while requests do not wait, so a time is at least a nanosecond after the one before it.
func (r *record) now() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = max(r.last+1, time.Since(r.begun))
	return r.last
}

func (r *record) add(o ...contract.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operations = append(r.operations, o...)
	for _, made := range o {
		if made.Kind == contract.CreatePost {
			r.posts = append(r.posts, made.Post.ID)
		}
	}
}

// allPosts returns the ids of all posts.
func (r *record) allPosts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.posts)
}

// commentedPosts returns the ids of the posts that had comments.
func (r *record) commentedPosts() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.operations {
		if o.Kind == contract.CreateComment {
			ids = append(ids, o.PostID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// judge fails for each contradiction between the answers and the contract.
func (h *history) judge() {
	lag := staleness + h.lag + time.Millisecond // the nanoseconds of now
	violations := contract.CheckOperations(&contract.History{Operations: h.operations, Lag: lag})
	for _, v := range violations[:min(len(violations), 10)] {
		h.Errorf("contract: %v", v)
	}
}

// request sends a request, and keeps its session token if the client uses tokens. It may fail only
// if the post of a like is deleted.
func (c *client) request(o contract.Operation, tags ...string) contract.Operation {
	c.Helper()
	s := c.server()
	o = c.begin(s, o)
	document, variables := o.Request()
	if len(tags) > 0 {
		variables["input"].(map[string]any)["tags"] = tags
	}
	a, err := s.ask(c.subject, c.session, document, variables)
	o.Completed, o.Outcome, o.GotSession = c.now(), contract.Acknowledged, a.session != ""
	var data map[contract.Kind]json.RawMessage
	if err == nil {
		err = json.Unmarshal(a.Data, &data)
	}
	isLike := o.Kind == contract.LikePost || o.Kind == contract.UnlikePost
	switch {
	case err == nil:
		o.Decode(data[o.Kind])
	case isLike && strings.HasPrefix(err.Error(), "NOT_FOUND"):
		o.Outcome, o.Code = contract.Rejected, "NOT_FOUND"
	default:
		c.Fatalf("%s\n%v", document, err)
	}
	c.add(o)
	if a.session == "" && !isLike && !o.Kind.IsRead() || a.session != a.Extensions.Session {
		c.Errorf("the session is %q in the header and %q in the extensions", a.session, a.Extensions.Session)
	}
	if c.own == nil && a.session != "" {
		c.session = a.session
	}
	if o.Username == "" && a.session != "" {
		c.hasLearned = false
	}
	return o
}

// begin returns an operation that begins now.
func (c *client) begin(s *server, o contract.Operation) contract.Operation {
	o.Account, o.Client, o.Server, o.SentSession = c.subject, c.number, slices.Index(c.servers, s), c.session != ""
	o.Invoked = c.now()
	if o.Kind == contract.CreatePost || o.Kind == contract.CreateComment {
		o.Key = contract.WithoutKey + o.Invoked.String()
	}
	return o
}

// readPosts returns the reads of posts in an answer. Posts that are read by themselves are never
// stale.
func readPosts(read contract.Operation, ids []string, got []*shownPost) (all []contract.Operation) {
	read.Kind, read.Stale = contract.ReadPost, false
	for i, id := range ids {
		read.PostID, read.Post, read.Liked = id, nil, nil
		if got[i] != nil {
			read.Post, read.Liked = &got[i].Post, got[i].ViewerHasLiked
		}
		all = append(all, read)
	}
	return all
}
