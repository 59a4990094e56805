package projector_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/schema"
)

// pool holds the items that writers refer to. It may be out of date, like the state of clients.
type pool struct {
	mu       sync.Mutex
	users    []*blog.User
	posts    []*blog.Post
	comments []*blog.Comment
	hot      int // this many of the newest posts get half of the operations on posts; newest if 0
	// renaming and leaving are the ids of restless accounts. Their users are not in users.
	renaming, leaving []string
}

func pick[T any](p *pool, r *rand.Rand, from *[]T) (picked T, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(*from) == 0 {
		return picked, false
	}
	return (*from)[r.IntN(len(*from))], true
}

func add[T any](p *pool, to *[]T, item T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*to = append(*to, item)
}

// newest is the default of pool.hot. Workloads delete more posts than the feed has extra
// copies.
const newest = 150

// setHot sets the number of hot posts.
func (p *pool) setHot(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hot = n
}

// allUsers returns the users in the pool.
func (p *pool) allUsers() []*blog.User {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.users)
}

// pickPost returns a random post, half of the time one of the hot ones.
func (p *pool) pickPost(r *rand.Rand) (*blog.Post, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from := p.posts
	if r.IntN(2) == 0 {
		from = from[max(0, len(from)-cmp.Or(p.hot, newest)):]
	}
	if len(from) == 0 {
		return nil, false
	}
	return from[r.IntN(len(from))], true
}

// forget removes a post.
func (p *pool) forget(post *blog.Post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posts = slices.DeleteFunc(p.posts, func(other *blog.Post) bool { return other.ID == post.ID })
}

// replace updates a user in the pool, or removes it if by is nil.
func (p *pool) replace(user, by *blog.User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.users, func(u *blog.User) bool { return u.ID == user.ID })
	switch {
	case i < 0: // another writer removed the user
	case by == nil:
		p.users = slices.Delete(p.users, i, i+1)
	default:
		p.users[i] = by
	}
}

// writer runs operations of users, one after the other.
type writer struct {
	*world
	*pool
	*rand.Rand
	store  *storetest.Database // used for all operations
	faults *faultyTransport    // of the store; nil if there are none
}

// operation is something that a writer does. It does nothing if there is no suitable item yet.
type operation struct {
	name string
	do   func(*writer, context.Context, *blog.User) error
}

var operations = []operation{
	{"create a post", (*writer).createPost},
	{"update a post", (*writer).updatePost},
	{"delete a post", (*writer).deletePost},
	{"create a comment", (*writer).createComment},
	{"update a comment", (*writer).updateComment},
	{"delete a comment", (*writer).deleteComment},
	{"like", (*writer).like},
	{"unlike", (*writer).unlike},
	{"delete a user", (*writer).deleteUser},
	{"rename a user", (*writer).renameUser},
	{"rename a restless user", (*writer).renameRestless},
	{"leave and return", (*writer).leaveAndReturn},
	{"edit in tabs", (*writer).editInTabs},
}

// workload is the probability of each of the operations, in percent.
type workload [13]int

var (
	everyday = workload{25, 10, 15, 15, 2, 3, 18, 7, 1, 4, 0, 0, 0}
	writing  = workload{69, 4, 1, 7, 0, 0, 8, 0, 0, 3, 3, 2, 3} // creates more posts than the feed keeps
	clearing = workload{2, 4, 68, 5, 1, 1, 4, 1, 1, 4, 4, 3, 2} // deletes more posts than the feed can spare
	talking  = workload{2, 3, 2, 29, 5, 5, 24, 5, 2, 8, 6, 4, 5}
	moving   = workload{2, 2, 2, 2, 1, 1, 2, 1, 0, 0, 50, 32, 5}
	editing  = workload{12, 30, 8, 12, 2, 2, 28, 6, 0, 0, 0, 0, 0} // changes posts, without renames
)

// write runs one random operation and returns its name.
func (w *writer) write(ctx context.Context, load workload) (string, error) {
	known, ok := pick(w.pool, w.Rand, &w.users)
	if !ok {
		return "create a user", w.createUser(ctx)
	}
	user, err := w.store.User(ctx, known.ID) // a failed rename may have taken effect
	switch {
	case isRefusal(err):
		w.replace(known, nil)
		return "replace a deleted user", w.createUser(ctx)
	case err != nil:
		return "read a user", err
	}
	kind, chosen := w.IntN(100), len(operations)-1
	for i, share := range load {
		if kind -= share; kind < 0 {
			chosen = i
			break
		}
	}
	return operations[chosen].name, operations[chosen].do(w, ctx, user)
}

func (w *writer) createUser(ctx context.Context) error {
	n := w.names.Add(1)
	user, err := w.store.CreateUser(ctx, blog.Account{Issuer: "test", Subject: fmt.Sprint(n)}, fmt.Sprintf("user%d", n))
	if err == nil {
		add(w.pool, &w.users, user)
	}
	return err
}

func (w *writer) createPost(ctx context.Context, user *blog.User) error {
	post, err := w.store.CreatePost(ctx, user, blog.CreatePostInput{Title: w.title(), Content: w.content(), Tags: w.tags()})
	if err == nil {
		add(w.pool, &w.pool.posts, post)
	}
	return err
}

func (w *writer) updatePost(ctx context.Context, _ *blog.User) error {
	post, ok := w.pickPost(w.Rand)
	if !ok {
		return nil
	}
	title, content := w.title(), w.content()
	change := blog.PostChange{Title: &title, Content: &content}
	switch w.IntN(3) {
	case 0:
		change.Content = nil
	case 1:
		change.Title = nil
	}
	if w.IntN(2) == 0 {
		change.Tags = w.tags()
	}
	_, err := w.store.UpdatePost(ctx, post.Author.ID, blog.UpdatePostInput{ID: blog.PostRef(post.ID), PostChange: change})
	return err
}

func (w *writer) deletePost(ctx context.Context, _ *blog.User) error {
	post, ok := w.pickPost(w.Rand)
	if !ok {
		return nil
	}
	_, err := w.store.DeletePost(ctx, post.Author.ID, post.ID)
	if w.IntN(4) > 0 { // otherwise later operations meet the deleted post
		w.forget(post)
	}
	return err
}

func (w *writer) createComment(ctx context.Context, user *blog.User) error {
	post, ok := w.pickPost(w.Rand)
	if !ok {
		return nil
	}
	comment, err := w.store.CreateComment(ctx, user, blog.CreateCommentInput{PostID: post.Ref(), Content: w.text()})
	if err == nil {
		add(w.pool, &w.comments, comment)
	}
	return err
}

func (w *writer) updateComment(ctx context.Context, _ *blog.User) error {
	comment, ok := pick(w.pool, w.Rand, &w.comments)
	if !ok {
		return nil
	}
	_, err := w.store.UpdateComment(ctx, comment.Author.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: w.text()})
	return err
}

func (w *writer) deleteComment(ctx context.Context, _ *blog.User) error {
	comment, ok := pick(w.pool, w.Rand, &w.comments)
	if !ok {
		return nil
	}
	_, err := w.store.DeleteComment(ctx, comment.Author.ID, comment.Post.ID, comment.ID)
	return err
}

func (w *writer) like(ctx context.Context, user *blog.User) error {
	post, ok := w.pickPost(w.Rand)
	if !ok {
		return nil
	}
	_, err := w.store.LikePost(ctx, user, post.ID)
	return err
}

func (w *writer) unlike(ctx context.Context, user *blog.User) error {
	post, ok := w.pickPost(w.Rand)
	if !ok {
		return nil
	}
	_, err := w.store.UnlikePost(ctx, user, post.ID)
	return err
}

// deleteUser deletes a user and creates another.
func (w *writer) deleteUser(ctx context.Context, user *blog.User) error {
	_, err := w.store.DeleteUser(ctx, user.ID, user.Username)
	if err != nil {
		return err
	}
	w.replace(user, nil)
	return w.createUser(ctx)
}

func (w *writer) renameUser(ctx context.Context, user *blog.User) error {
	renamed, err := w.store.UpdateUser(ctx, user.ID, fmt.Sprintf("user%d", w.names.Add(1)))
	if err == nil {
		w.replace(user, renamed)
	}
	return err
}

func (w *writer) title() string { return fmt.Sprintf("title %d", w.IntN(1000)) }

// tags returns up to three of a few tags, so that posts share them and edits bring them back.
func (w *writer) tags() []string {
	tags := []string{"go", "zürich", "日記", "data", "rare"}
	w.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
	return tags[:w.IntN(4)]
}

// content returns the content of a post, which is long in one of four cases.
func (w *writer) content() string {
	text := w.text()
	if w.IntN(4) == 0 {
		return longText(text)
	}
	return text
}

// longText repeats a text until it is an item of its own.
func longText(text string) string {
	return strings.Repeat(text, schema.MaxInlineContent/len(text)+1)
}

func (w *writer) text() string {
	return strings.Repeat(fmt.Sprintf("text %d ", w.IntN(1000)), 1+w.IntN(60))
}
