package projector_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
)

// pool is what writers know of what there is. They know it late, as clients do.
type pool struct {
	mu       sync.Mutex
	users    []*blog.User
	posts    []*blog.Post
	comments []*blog.Comment
	hot      int // so many of the newest posts get half of what is done to posts; newest where 0
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

// newest is how many posts are hot at first. More of them are deleted than the feed has in reserve.
const newest = 150

// favour makes so many posts hot from now on.
func (p *pool) favour(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hot = n
}

// known gives the users that writers know.
func (p *pool) known() []*blog.User {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.users)
}

// pickPost gives one of all posts, or of the newest.
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

// forget lets nobody know of a post any more.
func (p *pool) forget(post *blog.Post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posts = slices.DeleteFunc(p.posts, func(other *blog.Post) bool { return other.ID == post.ID })
}

// replace lets writers know a user as they are now; by nil, not at all.
func (p *pool) replace(user, by *blog.User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.users, func(u *blog.User) bool { return u.ID == user.ID })
	switch {
	case i < 0: // somebody else deleted them, too
	case by == nil:
		p.users = slices.Delete(p.users, i, i+1)
	default:
		p.users[i] = by
	}
}

// writer does what users do, one operation after the other.
type writer struct {
	*world
	*pool
	*rand.Rand
	store   *store.Store // by which it writes
	weather *weather     // of that; nil where it is always fine
}

// operation is something that a writer does. It does nothing where there is nothing yet to do it to.
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
}

// mood is how often each of the operations is done, of a hundred times.
type mood [10]int

var (
	everyday = mood{25, 10, 15, 15, 2, 3, 18, 7, 1, 4}
	writing  = mood{75, 5, 1, 8, 0, 0, 8, 0, 0, 3} // until there are more posts than the feed keeps
	clearing = mood{2, 4, 75, 5, 1, 1, 6, 1, 1, 4} // until the feed's reserve is gone
	talking  = mood{2, 3, 2, 35, 6, 6, 30, 6, 2, 8}
	editing  = mood{12, 30, 8, 12, 2, 2, 28, 6, 0, 0} // of posts alone: nobody is renamed
)

// write does one random operation, and tells which.
func (w *writer) write(ctx context.Context, mood mood) (string, error) {
	known, ok := pick(w.pool, w.Rand, &w.users)
	if !ok {
		return "create a user", w.createUser(ctx)
	}
	user, err := w.store.User(ctx, known.ID) // a rename that failed may have been done: nobody writes under a name for long
	switch {
	case isRefusal(err):
		w.replace(known, nil)
		return "create a user in the place of one who is gone", w.createUser(ctx)
	case err != nil:
		return "read a user", err
	}
	kind, chosen := w.IntN(100), len(operations)-1
	for i, share := range mood {
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
	post, err := w.store.CreatePost(ctx, user, blog.PostInput{Title: w.title(), Content: w.text()})
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
	title := w.title()
	_, err := w.store.UpdatePost(ctx, post.Author.ID, post.ID, blog.PostChange{Title: &title})
	return err
}

func (w *writer) deletePost(ctx context.Context, _ *blog.User) error {
	post, ok := w.pickPost(w.Rand)
	if !ok {
		return nil
	}
	_, err := w.store.DeletePost(ctx, post.Author.ID, post.ID)
	if w.IntN(4) > 0 { // some find it deleted
		w.forget(post)
	}
	return err
}

func (w *writer) createComment(ctx context.Context, user *blog.User) error {
	post, ok := w.pickPost(w.Rand)
	if !ok {
		return nil
	}
	comment, err := w.store.CreateComment(ctx, user, blog.CommentInput{PostID: post.ID, Content: w.text()})
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
	_, err := w.store.UpdateComment(ctx, comment.Author.ID, comment.Post.ID, comment.ID, w.text())
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
	_, err := w.store.UnlikePost(ctx, user.ID, post.ID)
	return err
}

// deleteUser deletes a user, in whose place another one comes.
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

func (w *writer) text() string {
	return strings.Repeat(fmt.Sprintf("text %d ", w.IntN(1000)), 1+w.IntN(60))
}
