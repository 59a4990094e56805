package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// history records the users and posts that all bloggers created, and counts operations. Its
// methods may be called concurrently.
type history struct {
	mu    sync.Mutex // guards the fields below
	posts []string
	users map[string]bool
	done  map[string]int // number of successful operations by name
	last  time.Time      // time of the last operation
}

func newHistory() *history { return &history{users: map[string]bool{}, done: map[string]int{}} }

func (b *history) record(operation string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[operation]++
	b.last = time.Now()
}

func (b *history) randomPost(random *rand.Rand) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.posts) == 0 {
		return ""
	}
	if random.IntN(2) == 0 { // prefer one of the newest
		return b.posts[len(b.posts)-1-random.IntN(min(100, len(b.posts)))]
	}
	return b.posts[random.IntN(len(b.posts))]
}

func (b *history) update(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// blogger writes through the API with one account. Whenever it deletes its user, it creates
// another.
type blogger struct {
	api
	*history
	*rand.Rand
	number      int
	names       int
	id          string // of the user; empty if there is none
	username    string
	ownPosts    []string
	ownComments []string
}

// operation is a kind of write. share is its frequency among 1000 operations.
type operation struct {
	name  string
	share int
	do    func(*blogger, context.Context) error
}

var operations = []operation{
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

// write writes until ctx ends or the time is up. It returns an error if the API does not respond
// or rejects a valid request.
func (b *blogger) write(ctx context.Context, until time.Time) error {
	for time.Now().Before(until) && ctx.Err() == nil {
		name, err := b.once(ctx)
		switch errorCode(err) {
		case "":
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			b.record(name)
		case "NOT_FOUND", "CONFLICT", "FORBIDDEN", "USERNAME_TAKEN", "THROTTLED", "TRY_AGAIN", "USER_REQUIRED", "DELETION_UNDER_WAY":
			// Another blogger changed or deleted the object, or the database is busy.
		default:
			return fmt.Errorf("%s: %w", name, err)
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
	for _, d := range operations {
		if roll -= d.share; roll < 0 {
			return d.name, d.do(b, ctx)
		}
	}
	panic("the shares of the operations do not add up to 1000")
}

func (b *blogger) createUser(ctx context.Context) error {
	b.names++
	username := fmt.Sprintf("blogger%d-%d", b.number, b.names)
	var made struct {
		CreateUser struct{ User struct{ ID, Username string } }
	}
	err := b.execute(ctx,
		`mutation ($n: String!) { createUser(input: {username: $n}) { user { id username } } }`,
		values{"n": username}, &made)
	if err != nil {
		return err
	}
	b.id, b.username = made.CreateUser.User.ID, made.CreateUser.User.Username
	b.update(func() { b.users[b.id] = true })
	return nil
}

func (b *blogger) updateUser(ctx context.Context) error {
	b.names++
	username := fmt.Sprintf("blogger%d-%d", b.number, b.names)
	err := b.execute(ctx, `mutation ($n: String!) { updateUser(input: {username: $n}) { user { id } } }`,
		values{"n": username}, nil)
	if err == nil {
		b.username = username
	}
	return err
}

func (b *blogger) deleteUser(ctx context.Context) error {
	err := b.execute(ctx, `mutation ($n: String!) { deleteUser(input: {username: $n}) { user { id } } }`,
		values{"n": b.username}, nil)
	if err == nil {
		b.id, b.ownPosts, b.ownComments = "", nil, nil
	}
	return err
}

func (b *blogger) createPost(ctx context.Context) error {
	var made struct {
		CreatePost struct{ Post struct{ ID string } }
	}
	err := b.execute(ctx, `mutation ($t: String!) { createPost(input: {title: $t, content: $t}) { post { id } } }`,
		values{"t": b.text()}, &made)
	if err == nil {
		id := made.CreatePost.Post.ID
		b.ownPosts = append(b.ownPosts, id)
		b.update(func() { b.posts = append(b.posts, id) })
	}
	return err
}

func (b *blogger) updatePost(ctx context.Context) error {
	if len(b.ownPosts) == 0 {
		return nil
	}
	return b.execute(ctx, `mutation ($id: ID!, $t: String!) { updatePost(input: {id: $id, title: $t}) { post { id } } }`,
		values{"id": b.ownPosts[b.IntN(len(b.ownPosts))], "t": b.text()}, nil)
}

func (b *blogger) deletePost(ctx context.Context) error {
	if len(b.ownPosts) == 0 {
		return nil
	}
	i := b.IntN(len(b.ownPosts))
	id := b.ownPosts[i]
	b.ownPosts = append(b.ownPosts[:i], b.ownPosts[i+1:]...)
	return b.execute(ctx, `mutation ($id: ID!) { deletePost(input: {id: $id}) { post { id } } }`,
		values{"id": id}, nil)
}

func (b *blogger) createComment(ctx context.Context) error {
	var made struct {
		CreateComment struct{ Comment struct{ ID string } }
	}
	err := b.onPost(ctx, `mutation ($id: ID!, $t: String!) {
		createComment(input: {postId: $id, content: $t}) { comment { id } }
	}`, b.text(), &made)
	if id := made.CreateComment.Comment.ID; err == nil && id != "" {
		b.ownComments = append(b.ownComments, id)
	}
	return err
}

func (b *blogger) deleteComment(ctx context.Context) error {
	if len(b.ownComments) == 0 {
		return nil
	}
	return b.execute(ctx, `mutation ($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`,
		values{"id": b.ownComments[b.IntN(len(b.ownComments))]}, nil)
}

func (b *blogger) likePost(ctx context.Context) error {
	return b.onPost(ctx, `mutation ($id: ID!) { likePost(input: {postId: $id}) { post { id } } }`, "", nil)
}

func (b *blogger) unlikePost(ctx context.Context) error {
	return b.onPost(ctx, `mutation ($id: ID!) { unlikePost(input: {postId: $id}) { post { id } } }`, "", nil)
}

// onPost executes a mutation on a random post of any user.
func (b *blogger) onPost(ctx context.Context, document, text string, result any) error {
	id := b.randomPost(b.Rand)
	if id == "" {
		return nil
	}
	with := values{"id": id}
	if text != "" {
		with["t"] = text
	}
	return b.execute(ctx, document, with, result)
}

func (b *blogger) text() string { return fmt.Sprintf("text %d of %s", b.IntN(1000), b.username) }
