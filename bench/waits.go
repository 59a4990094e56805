package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cosmosblog/bench/plot"
)

// wait is what a client's own write adds to the next read of views, on one server.
type wait struct {
	Write   string  `json:"write"`
	Missing int     `json:"missing"` // reads without the write that did not say that they are stale
	Stale   int     `json:"stale"`
	P50     float64 `json:"p50Millis"` // of the read after the write
	P99     float64 `json:"p99Millis"`
	Again   float64 `json:"againP50Millis"` // of the same read, once more
}

// benchmarkWaits writes as one client, and reads after each write what the projector makes of it.
// It waits for each answer, so the projector has only this work.
func benchmarkWaits(ctx context.Context, o *options) (*report, error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	data := filepath.Join(w.folder, "data")
	process, err := w.program.serve(ctx, data, filepath.Join(w.folder, "server.log"))
	if err != nil {
		return nil, err
	}
	w.processes = append(w.processes, process)
	token, err := w.program.tokens(ctx, data)("ada")
	if err != nil {
		return nil, err
	}
	c, err := newClient(process.address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	own := &ownWrites{client: c, head: newHead(c.host, "/graphql", token, ""), username: "ada"}
	if err := c.ask(own.head, `mutation { createUser(input: {username: "ada"}) { user { id } } }`, nil, nil); err != nil {
		return nil, err
	}
	r := newReport(o, nil)
	for _, kind := range own.kinds() {
		measured, err := own.measure(ctx, kind, o.samples)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		r.Waits = append(r.Waits, measured)
	}
	r.addWaits()
	return r, nil
}

// ownWrites is a client with its user and its posts.
type ownWrites struct {
	*client
	head     head
	username string
	posts    []string
	comments int    // of the last post
	deleted  string // the post that was deleted last
}

// ownWrite is a kind of write, with a check of the list that the next read shows.
type ownWrite struct {
	name    string
	write   func(n int) error
	isShown func(shownPosts) bool
}

// shownPosts is the answer to readOwnPosts.
type shownPosts struct {
	Feed   list[shownPost]
	Viewer struct {
		Username  string
		PostCount int
		Posts     list[shownPost]
	}
}

type shownPost struct {
	ID           string
	CommentCount int
	Author       struct{ Username string }
}

const readOwnPosts = `{ feed(first: 1) { nodes { ...Card } } viewer { username postCount posts(first: 1) { nodes { ...Card } } } }
fragment Card on Post { id commentCount author { username } }`

// kinds returns the writes in the order in which they are measured.
func (w *ownWrites) kinds() []ownWrite {
	return []ownWrite{
		{"createPost", w.createPost, func(s shownPosts) bool {
			return s.Viewer.PostCount == len(w.posts) && s.all(func(p shownPost) bool { return p.ID == w.last() })
		}},
		{"updateUser", w.rename, func(s shownPosts) bool {
			return s.Viewer.Username == w.username && s.all(func(p shownPost) bool { return p.Author.Username == w.username })
		}},
		{"createComment", w.comment, func(s shownPosts) bool {
			return s.all(func(p shownPost) bool { return p.CommentCount == w.comments })
		}},
		{"deletePost", w.delete, func(s shownPosts) bool {
			return s.Viewer.PostCount == len(w.posts) && s.all(func(p shownPost) bool { return p.ID != w.deleted })
		}},
	}
}

// all reports whether the first post of each list is as expected.
func (s shownPosts) all(expected func(shownPost) bool) bool {
	return !slices.ContainsFunc(slices.Concat(s.Feed.Nodes, s.Viewer.Posts.Nodes), func(p shownPost) bool { return !expected(p) })
}

func (w *ownWrites) last() string { return w.posts[len(w.posts)-1] }

func (w *ownWrites) createPost(int) error {
	var made struct{ CreatePost struct{ Post object } }
	err := w.ask(w.head, `mutation { createPost(input: {title: "A title", content: "Some content."}) { post { id } } }`, nil, &made)
	w.posts = append(w.posts, made.CreatePost.Post.ID)
	return err
}

func (w *ownWrites) rename(n int) error {
	w.username = fmt.Sprint("ada_", n)
	return w.ask(w.head, `mutation ($name: String!) { updateUser(input: {username: $name}) { user { id } } }`,
		map[string]string{"name": w.username}, nil)
}

func (w *ownWrites) comment(int) error {
	w.comments++
	return w.ask(w.head, `mutation ($id: ID!) { createComment(input: {postId: $id, content: "A comment."}) { comment { id } } }`,
		map[string]string{"id": w.last()}, nil)
}

func (w *ownWrites) delete(int) error {
	w.deleted = w.last()
	w.posts = w.posts[:len(w.posts)-1]
	return w.ask(w.head, `mutation ($id: ID!) { deletePost(input: {id: $id}) { post { id } } }`, map[string]string{"id": w.deleted}, nil)
}

// measure executes writes of a kind, and reads twice after each.
func (w *ownWrites) measure(ctx context.Context, kind ownWrite, writes int) (wait, error) {
	measured := wait{Write: kind.name}
	var first, again []float64
	for n := range writes {
		if ctx.Err() != nil {
			return measured, ctx.Err()
		}
		if err := kind.write(n); err != nil {
			return measured, err
		}
		shown, stale, took, err := w.read()
		if err != nil {
			return measured, err
		}
		first = append(first, took)
		switch {
		case stale:
			measured.Stale++
		case !kind.isShown(shown):
			measured.Missing++
		}
		if _, _, took, err = w.read(); err != nil {
			return measured, err
		}
		again = append(again, took)
	}
	measured.P50, measured.Again = median(first), median(again)
	measured.P99 = quantile(first, 0.99) // median has sorted them
	return measured, nil
}

// read reads the newest posts, and returns whether the answer is stale, and its milliseconds.
func (w *ownWrites) read() (shown shownPosts, stale bool, took float64, err error) {
	begun := time.Now()
	a, err := w.exchange(w.head.append(nil, encodeBody(readOwnPosts, nil)))
	if err == nil {
		err = checkAnswer(a)
	}
	if err != nil {
		return shown, false, 0, err
	}
	took = float64(time.Since(begun).Microseconds()) / 1000
	var got struct {
		Data       *shownPosts
		Extensions struct{ Stale bool }
	}
	got.Data = &shown
	err = json.Unmarshal(a.body, &got)
	if err == nil && got.Data == nil {
		err = errors.New("the answer has no data")
	}
	return shown, got.Extensions.Stale, took, err
}

// addWaits adds the table and the plot of the waits to the report.
func (r *report) addWaits() {
	r.table.header = []string{"After", "Missing", "Stale", "p50, ms", "p99, ms", "Read again: p50, ms"}
	r.plot = &plot.Plot{Title: "Milliseconds of a read after an own write", Names: []string{"p50", "p99", "read again"}}
	for _, m := range r.Waits {
		r.table.add("`"+m.Write+"`", fmt.Sprint(m.Missing), fmt.Sprint(m.Stale), plot.Number(m.P50), plot.Number(m.P99), plot.Number(m.Again))
		r.plot.Rows = append(r.plot.Rows, plot.Row{Label: m.Write, Values: []float64{m.P50, m.P99, m.Again}})
	}
}
