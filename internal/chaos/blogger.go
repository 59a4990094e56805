package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// board is what all bloggers know: every post and every user that there ever was.
type board struct {
	mu    sync.Mutex // held while what follows is read or changed
	posts []string
	users map[string]bool
	done  map[string]int // operations, by name
	last  time.Time      // when one was done last
}

func newBoard() *board { return &board{users: map[string]bool{}, done: map[string]int{}} }

func (b *board) did(operation string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[operation]++
	b.last = time.Now()
}

func (b *board) post(random *rand.Rand) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.posts) == 0 {
		return ""
	}
	if random.IntN(2) == 0 { // one of the newest
		return b.posts[len(b.posts)-1-random.IntN(min(100, len(b.posts)))]
	}
	return b.posts[random.IntN(len(b.posts))]
}

func (b *board) add(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// blogger writes through the API, as one account and one user after the other of it.
type blogger struct {
	api
	*board
	*rand.Rand
	number   int
	names    int
	id       string // of the user; empty where there is none
	username string
	own      []string // posts
	notes    []string // comments
}

// deed is something that a blogger does, so many of a thousand times.
type deed struct {
	name  string
	share int
	do    func(*blogger, context.Context) error
}

var deeds = []deed{
	{"createPost", 170, (*blogger).createPost},
	{"updatePost", 60, (*blogger).updatePost},
	{"deletePost", 90, (*blogger).deletePost},
	{"createComment", 230, (*blogger).createComment},
	{"deleteComment", 60, (*blogger).deleteComment},
	{"likePost", 272, (*blogger).likePost},
	{"unlikePost", 81, (*blogger).unlikePost},
	{"updateUser", 36, (*blogger).updateUser},
	{"deleteUser", 1, (*blogger).deleteUser},
}

// write goes on until ctx is done. Error: the API does not answer, or has something against what is right.
func (b *blogger) write(ctx context.Context, until time.Time) error {
	for time.Now().Before(until) && ctx.Err() == nil {
		did, err := b.once(ctx)
		switch codeOf(err) {
		case "":
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", did, err)
			}
			b.did(did)
		case "NOT_FOUND", "CONFLICT", "FORBIDDEN", "USERNAME_TAKEN", "THROTTLED": // what it knows may be gone
		default:
			return fmt.Errorf("%s: %w", did, err)
		}
		time.Sleep(b.pause())
	}
	return nil
}

func (b *blogger) pause() time.Duration { return time.Duration(b.Int64N(int64(60 * time.Millisecond))) }

func (b *blogger) once(ctx context.Context) (string, error) {
	if b.id == "" {
		return "createUser", b.createUser(ctx)
	}
	roll := b.IntN(1000)
	for _, d := range deeds {
		if roll -= d.share; roll < 0 {
			return d.name, d.do(b, ctx)
		}
	}
	panic("the shares of deeds are not a thousand")
}

func (b *blogger) createUser(ctx context.Context) error {
	b.names++
	username := fmt.Sprintf("blogger%d-%d", b.number, b.names)
	var made struct {
		CreateUser struct{ User struct{ ID, Username string } }
	}
	err := b.ask(ctx, `mutation ($n: String!) { createUser(input: {username: $n}) { user { id username } } }`, values{"n": username}, &made)
	if err != nil {
		return err
	}
	b.id, b.username = made.CreateUser.User.ID, made.CreateUser.User.Username
	b.add(func() { b.users[b.id] = true })
	return nil
}

func (b *blogger) updateUser(ctx context.Context) error {
	b.names++
	username := fmt.Sprintf("blogger%d-%d", b.number, b.names)
	err := b.ask(ctx, `mutation ($n: String!) { updateUser(input: {username: $n}) { user { id } } }`, values{"n": username}, nil)
	if err == nil {
		b.username = username
	}
	return err
}

func (b *blogger) deleteUser(ctx context.Context) error {
	err := b.ask(ctx, `mutation ($n: String!) { deleteUser(input: {username: $n}) { user { id } } }`, values{"n": b.username}, nil)
	if err == nil {
		b.id, b.own, b.notes = "", nil, nil
	}
	return err
}

func (b *blogger) createPost(ctx context.Context) error {
	var made struct {
		CreatePost struct{ Post struct{ ID string } }
	}
	err := b.ask(ctx, `mutation ($t: String!) { createPost(input: {title: $t, content: $t}) { post { id } } }`,
		values{"t": b.text()}, &made)
	if err == nil {
		id := made.CreatePost.Post.ID
		b.own = append(b.own, id)
		b.add(func() { b.posts = append(b.posts, id) })
	}
	return err
}

func (b *blogger) updatePost(ctx context.Context) error {
	if len(b.own) == 0 {
		return nil
	}
	return b.ask(ctx, `mutation ($id: ID!, $t: String!) { updatePost(input: {id: $id, title: $t}) { post { id } } }`,
		values{"id": b.own[b.IntN(len(b.own))], "t": b.text()}, nil)
}

func (b *blogger) deletePost(ctx context.Context) error {
	if len(b.own) == 0 {
		return nil
	}
	i := b.IntN(len(b.own))
	id := b.own[i]
	b.own = append(b.own[:i], b.own[i+1:]...)
	return b.ask(ctx, `mutation ($id: ID!) { deletePost(input: {id: $id}) { post { id } } }`, values{"id": id}, nil)
}

func (b *blogger) createComment(ctx context.Context) error {
	var made struct {
		CreateComment struct{ Comment struct{ ID string } }
	}
	err := b.onPost(ctx, `mutation ($id: ID!, $t: String!) { createComment(input: {postId: $id, content: $t}) { comment { id } } }`, b.text(), &made)
	if id := made.CreateComment.Comment.ID; err == nil && id != "" {
		b.notes = append(b.notes, id)
	}
	return err
}

func (b *blogger) deleteComment(ctx context.Context) error {
	if len(b.notes) == 0 {
		return nil
	}
	return b.ask(ctx, `mutation ($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`,
		values{"id": b.notes[b.IntN(len(b.notes))]}, nil)
}

func (b *blogger) likePost(ctx context.Context) error {
	return b.onPost(ctx, `mutation ($id: ID!) { likePost(input: {postId: $id}) { post { id } } }`, "", nil)
}

func (b *blogger) unlikePost(ctx context.Context) error {
	return b.onPost(ctx, `mutation ($id: ID!) { unlikePost(input: {postId: $id}) { post { id } } }`, "", nil)
}

// onPost does something to a post of anybody.
func (b *blogger) onPost(ctx context.Context, document, text string, result any) error {
	id := b.post(b.Rand)
	if id == "" {
		return nil
	}
	with := values{"id": id}
	if text != "" {
		with["t"] = text
	}
	return b.ask(ctx, document, with, result)
}

func (b *blogger) text() string { return fmt.Sprintf("text %d of %s", b.IntN(1000), b.username) }
