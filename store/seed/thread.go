package seed

import (
	"strings"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/bulk"
)

// Thread returns a post of the set with its comments and likes. users are the set's users as
// stored in the database, by number: the thread has their usernames and revisions.
func (s *Set) Thread(h Heading, users []*blog.User) bulk.Thread {
	r := s.stream("thread", h.Author, h.Number)
	t := &threadMaker{set: s, stream: r, users: users, ids: blog.IDSource{Random: r}, date: h.Date}
	topic := one(r, topics)
	post := &blog.Post{
		ID:           t.ids.NewPostID("", ""),
		Author:       users[h.Author],
		PostHead:     blog.PostHead{Title: title(r, topic), Tags: tags(s.stream("tags", h.Author, h.Number), topic)},
		Content:      content(r, topic),
		CreationDate: blog.NewDateTime(h.Date),
	}
	return bulk.Thread{Post: post, Comments: t.comments(post.ID, h.Comments, topic), Likes: t.likes(h.Likes)}
}

// commonTags are tags of posts on any topic.
var commonTags = []string{"beginners", "books", "gear", "mistakes", "money-saved", "question", "weekend", "zürich", "日記"}

// tags returns the tag of a topic, and up to two common tags.
func tags(r stream, topic topic) []string {
	tags := []string{strings.ReplaceAll(topic.name, " ", "-")}
	for _, n := range r.distinct(r.from(0, 2), len(commonTags)) {
		tags = append(tags, commonTags[n])
	}
	return tags
}

// threadMaker generates the comments and likes of one post.
type threadMaker struct {
	stream
	set   *Set
	users []*blog.User
	ids   blog.IDSource
	date  time.Time // of the post
}

func (t *threadMaker) comments(postID string, count int, topic topic) []*blog.Comment {
	comments := make([]*blog.Comment, count)
	for i := range comments {
		author := t.IntN(len(t.users))
		comments[i] = &blog.Comment{
			ID:           t.ids.NewCommentID("", postID, ""),
			Author:       t.users[author],
			Content:      comment(t.stream, topic),
			CreationDate: t.visit(author),
		}
	}
	return comments
}

func (t *threadMaker) likes(count int) []*blog.Like {
	likes := make([]*blog.Like, count)
	for i, user := range t.distinct(count, len(t.users)) {
		likes[i] = &blog.Like{User: t.users[user], CreationDate: t.visit(user)}
	}
	return likes
}

// visit returns the date of a user's comment or like: after the post, and after the user joined.
func (t *threadMaker) visit(user int) blog.DateTime {
	first := t.date
	if joined := t.set.people[user].joined; joined.After(first) {
		first = joined
	}
	return blog.NewDateTime(t.soonAfter(first))
}
