package main

import "fmt"

// The documents of the operations. They select what a page of a blog shows.
const (
	shortPost = `id title excerpt author { id username } commentCount likeCount creationDate`

	postDocument = `query Post($id: ID!) { post(id: $id) {
  id title content author { id username } commentCount likeCount creationDate updatedDate version } }`

	feedDocument = `query Feed { feed(first: 20) { nodes { ` + shortPost + ` } pageInfo { hasNextPage endCursor } } }`

	commentsDocument = `query Comments($id: ID!) { post(id: $id) { comments(first: 20) {
  nodes { id content author { id username } creationDate } pageInfo { hasNextPage endCursor } } } }`

	postsDocument = `query Posts($id: ID!) { user(id: $id) { id username posts(first: 20) {
  nodes { ` + shortPost + ` } pageInfo { hasNextPage endCursor } } } }`

	pageDocument = `query Page($id: ID!) { post(id: $id) {
  id title content author { id username } commentCount likeCount creationDate updatedDate version
  comments(first: 20) { nodes { id content author { id username } creationDate } pageInfo { hasNextPage endCursor } }
  likes(first: 20) { nodes { user { id username } } pageInfo { hasNextPage endCursor } } } }`

	commentDocument = `mutation Comment($post: ID!, $content: String!) {
  createComment(input: {postId: $post, content: $content}) { comment { id creationDate } post { id commentCount } } }`

	likeDocument = `mutation Like($post: ID!) { likePost(input: {postId: $post}) { like { id } post { id likeCount } } }`

	renameDocument = `mutation Rename($username: String!) { updateUser(input: {username: $username}) { user { id username } } }`
)

// operationNames lists all operations in the order of the reports.
var operationNames = []string{"post", "feed", "comments", "posts", "page", "comment", "like", "rename"}

// operationTitles describe the operations in the reports.
var operationTitles = map[string]string{
	"post":     "a post",
	"feed":     "the feed, 20 posts",
	"comments": "20 comments of a post",
	"posts":    "20 posts of a user",
	"page":     "a post with 20 comments and 20 likes",
	"comment":  "create a comment",
	"like":     "like a post",
	"rename":   "rename a user",
}

// commentText is the text of the comments that the benchmark creates, before a number.
const commentText = "I tried the same last summer and gave up after two weeks. Maybe patience was the part that I missed, number "

// reads returns the bodies of the read operations on a blog.
func (b *blog) reads() map[string][][]byte {
	each := func(document string, ids []string) (bodies [][]byte) {
		for _, id := range ids {
			bodies = append(bodies, encodeBody(document, map[string]string{"id": id}))
		}
		return bodies
	}
	return map[string][][]byte{
		"post":     each(postDocument, b.posts),
		"feed":     {encodeBody(feedDocument, nil)},
		"comments": each(commentsDocument, b.discussed),
		"posts":    each(postsDocument, b.authors),
		"page":     each(pageDocument, b.discussed),
	}
}

// writes returns the write operations on a blog. run is different for each run on a data folder.
func (b *blog) writes(run string) map[string]*mutations {
	comment, like, rename := bodyEnd(commentDocument), bodyEnd(likeDocument), bodyEnd(renameDocument)
	return map[string]*mutations{
		"comment": {users: b.writers, posts: b.targets, body: func(buffer []byte, post string, n int) []byte {
			return fmt.Appendf(buffer, `%s"post":"%s","content":"%s%d"}}`, comment, post, commentText, n)
		}},
		"like": {users: b.writers, posts: b.targets, isOnce: true, body: func(buffer []byte, post string, _ int) []byte {
			return fmt.Appendf(buffer, `%s"post":"%s"}}`, like, post)
		}},
		"rename": {users: b.renamed, posts: b.targets, body: func(buffer []byte, _ string, n int) []byte {
			return fmt.Appendf(buffer, `%s"username":"%s-%d"}}`, rename, run, n)
		}},
	}
}

// bodyEnd returns the body of a GraphQL request up to its first variable.
func bodyEnd(document string) string {
	body := encodeBody(document, struct{}{})
	return string(body[:len(body)-len("}}")])
}
