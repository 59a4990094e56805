package contract

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// checker indexes a history by object.
type checker struct {
	history    *History
	accounts   map[string]*account // by name
	users      map[string]*account // by the user's id
	creations  map[string]*creation
	posts      map[string]*post    // by id
	comments   map[string]*comment // by id
	violations []Violation
}

// creation is all requests that create one item: the first one, and its repetitions with the same
// idempotency key.
type creation struct {
	id                 string // the id of the item; empty if no request was acknowledged
	first              *Operation
	invoked, completed time.Duration // from the first request to the first acknowledgement, if any
	mayBeDone          bool
	requests           int
}

func creationKey(o *Operation) string {
	return string(o.Kind) + " " + o.Account + " " + o.PostID + " " + o.Key
}

// CheckOperations returns the contradictions between the answers of a history. It needs no state at
// the end, so it may be called at any time.
func CheckOperations(h *History) []Violation {
	c := newChecker(h)
	for i := range h.Operations {
		c.checkCodes(&h.Operations[i])
	}
	c.checkAccounts()
	c.checkSessions()
	for _, p := range sorted(c.posts) {
		c.checkPost(p)
		c.checkLikes(p)
		c.checkCounts(p)
	}
	for _, m := range sorted(c.comments) {
		c.checkComment(m)
	}
	return c.violations
}

// CheckSnapshot returns the contradictions between a history and the state at its end.
func CheckSnapshot(h *History, s *Snapshot) []Violation {
	c := newChecker(h)
	c.violations = nil // CheckOperations returns these
	c.checkFinalUsers(s)
	c.checkFinalPosts(s)
	c.checkViews(s)
	return c.violations
}

// CheckViews returns the contradictions within a state: views that differ from their sources.
// CheckSnapshot includes it.
func CheckViews(s *Snapshot) []Violation {
	c := newChecker(&History{})
	c.checkViews(s)
	return c.violations
}

// sorted returns the values of a map in the order of their keys, so that reports are in the same
// order each time.
func sorted[K cmp.Ordered, V any](m map[K]V) []V {
	var all []V
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[k])
	}
	return all
}

func (c *checker) report(rule Rule, format string, arguments ...any) {
	c.violations = append(c.violations, Violation{rule, fmt.Sprintf(format, arguments...)})
}

func newChecker(h *History) *checker {
	c := &checker{history: h, accounts: map[string]*account{}, users: map[string]*account{},
		creations: map[string]*creation{}, posts: map[string]*post{}, comments: map[string]*comment{}}
	for i := range h.Operations {
		o := &h.Operations[i]
		a := c.account(o.Account)
		a.add(o)
		if a.userID != "" {
			c.users[a.userID] = a
		}
		if o.Kind == CreatePost || o.Kind == CreateComment {
			c.addCreation(o)
		}
	}
	for i := range h.Operations {
		c.addToItems(&h.Operations[i])
	}
	return c
}

func (c *checker) account(name string) *account {
	a := c.accounts[name]
	if a == nil {
		a = &account{name: name, username: newRegister(""), names: newRegister("")}
		c.accounts[name] = a
	}
	return a
}

func (c *checker) addCreation(o *Operation) {
	key := creationKey(o)
	made := c.creations[key]
	if made == nil {
		made = &creation{first: o, invoked: o.Invoked, completed: forever}
		c.creations[key] = made
	}
	made.requests++
	made.invoked = min(made.invoked, o.Invoked)
	made.mayBeDone = made.mayBeDone || o.mayBeDone()
	if !o.isDone() {
		return
	}
	made.completed = min(made.completed, o.Completed)
	id := ""
	switch {
	case o.Kind == CreatePost && o.Post != nil:
		id = o.Post.ID
	case o.Kind == CreateComment && o.Comment != nil:
		id = o.Comment.ID
	}
	if id == "" || made.id != "" && made.id != id {
		c.report(CreatedTwice, "%v returned the id %q; an earlier request with this key returned %q", o, id, made.id)
		return
	}
	made.id = id
	if o.Kind == CreatePost {
		if p := c.post(id); p.creation != nil && p.creation != made {
			c.report(CreatedTwice, "%s was created by %v and by %v", id, p.creation.first, o)
		}
		c.post(id).creation = made
		c.post(id).states[1] = state{made.first.Title, made.first.Content}
		return
	}
	if m := c.comment(id); m.creation != nil && m.creation != made {
		c.report(CreatedTwice, "%s was created by %v and by %v", id, m.creation.first, o)
	}
	c.comment(id).creation = made
}

func (c *checker) post(id string) *post {
	p := c.posts[id]
	if p == nil {
		p = &post{id: id, states: map[int]state{}, likes: map[string]*likeRegister{}}
		c.posts[id] = p
	}
	return p
}

func (c *checker) comment(id string) *comment {
	m := c.comments[id]
	if m == nil {
		m = &comment{id: id}
		c.comments[id] = m
	}
	return m
}

// lag returns the greatest age of the state in an answer, apart from what its own client wrote.
// Mutations answer from the latest state.
func (c *checker) lag(o *Operation) time.Duration {
	if o.Kind.IsRead() {
		return c.history.Lag
	}
	return 0
}

// addToItems adds an operation to the post and the comment that it concerns.
func (c *checker) addToItems(o *Operation) {
	if o.Post != nil {
		c.observe(o, o.Post)
	}
	for i := range o.Feed {
		c.observe(o, &o.Feed[i])
	}
	c.addMutation(o)
	switch o.Kind {
	case UpdatePost:
		p := c.post(o.PostID)
		p.edits = append(p.edits, o)
	case DeletePost:
		p := c.post(o.PostID)
		p.deletions = append(p.deletions, o)
	case ReadPost:
		p := c.post(o.PostID)
		p.reads = append(p.reads, o)
	case CreateComment:
		p := c.post(o.PostID)
		p.writes = append(p.writes, o)
		if made := c.creations[creationKey(o)]; made.first == o {
			p.comments = append(p.comments, made)
		}
		if o.Comment != nil {
			m := c.comment(o.Comment.ID)
			m.reads = append(m.reads, o)
		}
	case LikePost, UnlikePost:
		p := c.post(o.PostID)
		p.writes = append(p.writes, o)
		p.like(o.Account).add(o)
	case UpdateComment:
		m := c.comment(o.CommentID)
		m.edits = append(m.edits, o)
	case DeleteComment:
		m := c.comment(o.CommentID)
		m.deletions = append(m.deletions, o)
	case ReadComment:
		m := c.comment(o.CommentID)
		m.reads = append(m.reads, o)
	}
}

// addMutation adds an acknowledged mutation to its account and to the post that it concerns.
func (c *checker) addMutation(o *Operation) {
	if o.Kind.IsRead() || !o.isDone() {
		return
	}
	a := c.account(o.Account)
	a.mutations = append(a.mutations, o)
	id := o.PostID
	if o.Kind == CreatePost && o.Post != nil {
		id = o.Post.ID
	}
	if id != "" {
		p := c.post(id)
		p.mutations = append(p.mutations, o)
	}
}

// checkCodes checks what can be said about an answer without its object.
func (c *checker) checkCodes(o *Operation) {
	if o.Kind == ReadFeed {
		c.checkOrder("the feed", o.Feed)
	}
	if o.Outcome == Rejected {
		c.checkRejection(o)
	}
}
