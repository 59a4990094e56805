package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// blog is what the benchmark uses of a server's data. It reads one half of the users and their
// posts, and writes to posts of the other half that are not on the feed's first page. The answers
// of reads are therefore always the same, and can be compared.
type blog struct {
	posts     []string // read; ids
	discussed []string // those of posts with at least 20 comments
	authors   []string // users with at least 20 posts, read
	targets   []string // posts to comment and like
	writers   []head   // users who comment and like
	renamed   []head   // users to rename; each has a few comments
}

const (
	pageSize   = 20
	maxAuthors = 100 // whose posts are read or written
	maxRead    = 500 // posts that are read

	commentsRenamed = 3 // comments of each user to rename
)

// client sends single requests to a server, to look for data and to create users.
type client struct {
	*connection
	host string
}

func newClient(address string) (*client, error) {
	c, err := dial(address)
	return &client{c, address}, err
}

// ask decodes the data of an answer into result, which may be nil.
func (c *client) ask(h head, document string, variables map[string]string, result any) error {
	a, err := c.exchange(h.append(nil, encodeBody(document, variables)))
	if err != nil {
		return err
	}
	if err := checkAnswer(a); err != nil {
		return err
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(a.body, &struct{ Data any }{result})
}

// list is a list of a connection in an answer.
type list[T any] struct{ Nodes []T }

type object struct{ ID string }

type countedPost struct {
	ID                      string
	CommentCount, LikeCount int
}

// find looks for data to read and write, through the API. It starts with the feed and follows
// its posts to the users who comment and like them. The number of posts to write to and the
// number of writers are coprime.
func find(address string, writers int) (*blog, error) {
	c, err := newClient(address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	anonymous := newHead(c.host, "/graphql", "", "")
	var newest struct{ Feed list[object] }
	if err := c.ask(anonymous, `{ feed(first: 100) { nodes { id } } }`, nil, &newest); err != nil {
		return nil, err
	}
	users, err := c.usersOf(anonymous, newest.Feed.Nodes)
	if err != nil {
		return nil, err
	}
	b := &blog{}
	for n, user := range users {
		var found struct {
			User struct{ Posts list[countedPost] }
		}
		err := c.ask(anonymous, `query ($id: ID!) { user(id: $id) { posts(first: 50) { nodes { id commentCount likeCount } } } }`,
			map[string]string{"id": user}, &found)
		if err != nil {
			return nil, err
		}
		if posts := found.User.Posts.Nodes; n%2 == 0 {
			b.addReads(user, posts, min(pageSize, len(users)))
		} else {
			b.addTargets(posts, newest.Feed.Nodes[:min(pageSize, len(newest.Feed.Nodes))])
		}
	}
	for len(b.targets) > 0 && gcd(len(b.targets), writers) > 1 {
		b.targets = b.targets[:len(b.targets)-1]
	}
	if len(b.discussed) == 0 || len(b.authors) == 0 || len(b.targets) == 0 {
		return nil, fmt.Errorf("the data has %d posts with %d comments, %d users with %d posts and %d posts to write to: use more users",
			len(b.discussed), pageSize, len(b.authors), pageSize, len(b.targets))
	}
	return b, nil
}

// usersOf returns the ids of users who commented or liked the posts, at most maxAuthors.
func (c *client) usersOf(anonymous head, posts []object) (users []string, err error) {
	for _, post := range posts {
		var found struct {
			Post struct {
				Author   object
				Comments list[struct{ Author object }]
				Likes    list[struct{ User object }]
			}
		}
		err := c.ask(anonymous, `query ($id: ID!) { post(id: $id) { author { id }
			comments(first: 100) { nodes { author { id } } } likes(first: 100) { nodes { user { id } } } } }`,
			map[string]string{"id": post.ID}, &found)
		if err != nil {
			return nil, err
		}
		users = append(users, found.Post.Author.ID)
		for _, comment := range found.Post.Comments.Nodes {
			users = append(users, comment.Author.ID)
		}
		for _, like := range found.Post.Likes.Nodes {
			users = append(users, like.User.ID)
		}
		slices.Sort(users)
		if users = slices.Compact(users); len(users) >= maxAuthors {
			return users[:maxAuthors], nil
		}
	}
	return users, nil
}

func (b *blog) addReads(user string, posts []countedPost, likes int) {
	if len(posts) >= pageSize {
		b.authors = append(b.authors, user)
	}
	for _, post := range posts[:min(len(posts), maxRead-len(b.posts))] {
		b.posts = append(b.posts, post.ID)
		if post.CommentCount >= pageSize && post.LikeCount >= likes {
			b.discussed = append(b.discussed, post.ID)
		}
	}
}

func (b *blog) addTargets(posts []countedPost, newest []object) {
	for _, post := range posts {
		if !slices.Contains(newest, object{post.ID}) {
			b.targets = append(b.targets, post.ID)
		}
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// addUsers creates a number of users who comment and like, and as many to rename. Their names
// begin with run. token returns the token of a subject.
func (b *blog) addUsers(address, run string, writers int, token func(subject string) (string, error)) error {
	c, err := newClient(address)
	if err != nil {
		return err
	}
	defer c.close()
	create := func(name string) (head, error) {
		text, err := token(name)
		if err != nil {
			return nil, err
		}
		h := newHead(address, "/graphql", text, "")
		err = c.ask(h, `mutation ($name: String!) { createUser(input: {username: $name}) { user { id } } }`,
			map[string]string{"name": name}, nil)
		return h, err
	}
	for n := range writers {
		h, err := create(fmt.Sprintf("%s-w%d", run, n))
		if err != nil {
			return err
		}
		b.writers = append(b.writers, h)
		if h, err = create(fmt.Sprintf("%s-r%d", run, n)); err != nil {
			return err
		}
		b.renamed = append(b.renamed, h)
		for i := range commentsRenamed {
			post := b.targets[(n*commentsRenamed+i)%len(b.targets)]
			if err := c.ask(h, commentDocument, map[string]string{"post": post, "content": commentText}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
