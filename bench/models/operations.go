package models

import (
	"context"
	"fmt"

	"cosmosblog/blog"
)

// Operation is one of the article's ten operations.
type Operation struct {
	Name  string // C1 … Q6
	Title string
	// run executes the operation on one sample, and returns what all models must return.
	run func(c *column, ctx context.Context, s sample) ([]string, error)
}

// Operations are the article's ten operations, in the order of its table.
var Operations = []Operation{
	{"C1", "create a user", (*column).createUser},
	{"Q1", "retrieve a user", (*column).user},
	{"C2", "create a post", (*column).createPost},
	{"Q2", "retrieve a post", (*column).post},
	{"Q3", "list a user's posts", (*column).userPosts},
	{"C3", "create a comment", (*column).createComment},
	{"Q4", "list a post's comments", (*column).comments},
	{"C4", "like a post", (*column).likePost},
	{"Q5", "list a post's likes", (*column).likes},
	{"Q6", "list the most recent posts", (*column).feed},
}

// sample is what one execution of an operation is about. The ids of items that a model has created
// are names (column.id).
type sample struct {
	n      int // number of the sample
	userID string
	postID string
	user   *blog.User // as a model has stored the user; read before the commands, which need it
}

// column is a model with the items that were created in it. Its methods are the operations. They
// return each element as a line that is equal on all models.
type column struct {
	Column
	created map[string]string // ids by name
	names   map[string]string // names by id
}

func newColumn(c Column) *column {
	return &column{c, map[string]string{}, map[string]string{}}
}

// id returns the id of an item: the model's own if the item was created in it under a name.
func (c *column) id(nameOrID string) string {
	if id := c.created[nameOrID]; id != "" {
		return id
	}
	return nameOrID
}

// nameOf returns the name of a created item, and the id of another.
func (c *column) nameOf(id string) string {
	if name := c.names[id]; name != "" {
		return name
	}
	return id
}

func (c *column) add(name, id string) { c.created[name], c.names[id] = id, name }

// date returns the date of an item of the data set. Each model dates new items itself.
func (c *column) date(id string, date blog.DateTime) blog.DateTime {
	if c.names[id] != "" {
		return ""
	}
	return date
}

func (c *column) describe(p *blog.Post) string {
	return fmt.Sprintf("%s %s by %s (%s): %d comments, %d likes: %q %q", c.nameOf(p.ID), c.date(p.ID, p.CreationDate),
		p.Author.ID, p.Author.Username, p.CommentCount, p.LikeCount, p.Title, p.Excerpt+p.Content)
}

func (c *column) createUser(ctx context.Context, s sample) ([]string, error) {
	userID, username := newUser(s.n)
	_, err := c.Model.CreateUser(ctx, userID, username)
	return nil, err
}

// newUser returns the id and the username of a user whom no data set has.
func newUser(n int) (userID, username string) {
	return blog.Account{Issuer: "bench", Subject: fmt.Sprint(n)}.UserID(), fmt.Sprintf("newcomer-%d", n)
}

func (c *column) user(ctx context.Context, s sample) ([]string, error) {
	u, err := c.Model.User(ctx, s.userID)
	if err != nil {
		return nil, err
	}
	return []string{u.ID + " " + u.Username}, nil
}

func (c *column) createPost(ctx context.Context, s sample) ([]string, error) {
	p, err := c.Model.CreatePost(ctx, s.user, fmt.Sprintf("Post %d", s.n), fmt.Sprintf("%d. %s", s.n, text))
	if err == nil {
		c.add(fmt.Sprintf("post-%d", s.n), p.ID)
	}
	return nil, err
}

func (c *column) post(ctx context.Context, s sample) ([]string, error) {
	p, err := c.Model.Post(ctx, c.id(s.postID))
	if err != nil {
		return nil, err
	}
	p.Excerpt = ""
	return []string{c.describe(p)}, nil
}

func (c *column) userPosts(ctx context.Context, s sample) ([]string, error) {
	return c.list(c.Model.UserPosts(ctx, s.userID))
}

func (c *column) feed(ctx context.Context, _ sample) ([]string, error) {
	return c.list(c.Model.Feed(ctx))
}

func (c *column) list(posts []*blog.Post, err error) (lines []string, _ error) {
	for _, p := range posts {
		p.Content = "" // the lists have the short form
		lines = append(lines, c.describe(p))
	}
	return lines, err
}

func (c *column) createComment(ctx context.Context, s sample) ([]string, error) {
	comment, err := c.Model.CreateComment(ctx, s.user, c.id(s.postID), fmt.Sprintf("%d. %.200s", s.n, text))
	if err == nil {
		c.add(fmt.Sprintf("comment-%d", s.n), comment.ID)
	}
	return nil, err
}

func (c *column) comments(ctx context.Context, s sample) (lines []string, _ error) {
	comments, err := c.Model.Comments(ctx, c.id(s.postID))
	for _, m := range comments {
		lines = append(lines, fmt.Sprintf("%s %s by %s (%s): %q", c.nameOf(m.ID), c.date(m.ID, m.CreationDate), m.Author.ID, m.Author.Username, m.Content))
	}
	return lines, err
}

func (c *column) likePost(ctx context.Context, s sample) ([]string, error) {
	return nil, c.Model.LikePost(ctx, s.user, c.id(s.postID))
}

func (c *column) likes(ctx context.Context, s sample) (lines []string, _ error) {
	likes, err := c.Model.Likes(ctx, c.id(s.postID))
	for _, l := range likes {
		lines = append(lines, fmt.Sprintf("%s (%s)", l.User.ID, l.User.Username))
	}
	return lines, err
}

// text is a paragraph for new posts and comments.
const text = "A partition key decides which items are together, and so which questions one request can answer. " +
	"Choose it by the questions that are asked most often, and copy what other questions need. Every copy " +
	"is a promise: whoever changes the source changes the copy, later, and exactly once. That promise costs " +
	"a write for each copy, and it saves a read for each question. Count both before you decide."
