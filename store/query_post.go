package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// Post reads a whole post (Q2): one point read in posts. Error: NOT_FOUND.
func (s *Store) Post(ctx context.Context, postID string) (*blog.Post, error) {
	item, _, err := read[postItem](ctx, s.posts, postID, postID)
	if err != nil {
		return nil, because(err, blog.NotFound, errNoPost.Message)
	}
	if !item.visible() {
		return nil, errNoPost
	}
	return item.post(), nil
}

// visible tells whether i is a post that was not deleted.
func (i *postItem) visible() bool { return i.Type == typePost && !i.Deleted }

// Posts reads several whole posts: one point read for one, otherwise one read many. Unknown and deleted ones are absent
// from the map.
func (s *Store) Posts(ctx context.Context, postIDs []string) (map[string]*blog.Post, error) {
	items, err := readEach[postItem](ctx, s.posts, selves(postIDs))
	if err != nil {
		return nil, err
	}
	posts := make(map[string]*blog.Post, len(items))
	for i := range items {
		if items[i].visible() {
			posts[items[i].PostID] = items[i].post()
		}
	}
	return posts, nil
}

// Comments lists a post's comments, oldest first (Q4): one query to the post's partition. It does not look whether
// there is such a post.
func (s *Store) Comments(ctx context.Context, postID string, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
	post := &blog.Post{ID: postID}
	return list(ctx, s.posts, postID, liveComments, page, func(i *commentItem) (*blog.Comment, blog.Position) {
		return i.comment(post), blog.Position{CreationDate: i.CreationDate, ID: i.ID}
	})
}

// Likes lists a post's likes, newest first (Q5), as Comments does.
func (s *Store) Likes(ctx context.Context, postID string, page blog.PageRequest) (blog.Page[*blog.Like], error) {
	post := &blog.Post{ID: postID}
	return list(ctx, s.posts, postID, allLikes, page, func(i *likeItem) (*blog.Like, blog.Position) {
		return i.like(post), blog.Position{CreationDate: i.CreationDate, ID: i.ID}
	})
}

// Comment reads one comment: one point read in posts. Its Post is a reference, and may be gone. Error: NOT_FOUND.
func (s *Store) Comment(ctx context.Context, postID, commentID string) (*blog.Comment, error) {
	item, _, err := read[commentItem](ctx, s.posts, postID, commentID)
	if err != nil {
		return nil, because(err, blog.NotFound, errNoComment.Message)
	}
	if item.Type != typeComment || item.Deleted {
		return nil, errNoComment
	}
	return item.comment(&blog.Post{ID: postID}), nil
}

// postOfCommentQuery asks all partitions: a comment's id does not tell which it is in.
const postOfCommentQuery = `SELECT c.postId FROM c WHERE c.type = 'comment' AND c.id = @id`

// PostOfComment finds the post of a comment of which the stored id alone is known: for operators, who can wait. It does
// not look whether the comment was deleted. Error: NOT_FOUND.
func (s *Store) PostOfComment(ctx context.Context, commentID string) (string, error) {
	rows, err := queryAcross[postRow](ctx, s.posts, postOfCommentQuery, azcosmos.QueryParameter{Name: "@id", Value: commentID})
	switch {
	case err != nil:
		return "", err
	case len(rows) == 0:
		return "", errNoComment
	}
	return rows[0].PostID, nil
}

type postRow struct {
	PostID string `json:"postId"`
}

// Like reads one like as Comment reads a comment.
func (s *Store) Like(ctx context.Context, postID, userID string) (*blog.Like, error) {
	item, _, err := read[likeItem](ctx, s.posts, postID, userID)
	if err != nil {
		return nil, because(err, blog.NotFound, errNoLike.Message)
	}
	if item.Type != typeLike {
		return nil, errNoLike
	}
	return item.like(&blog.Post{ID: postID}), nil
}

var errNoLike = blog.Errorf(blog.NotFound, "There is no such like.")

// LikedBy tells which of the posts a user likes: one point read for one post, otherwise one read many.
func (s *Store) LikedBy(ctx context.Context, userID string, postIDs []string) (map[string]bool, error) {
	items, err := readEach[likeItem](ctx, s.posts, identities(postIDs, func(postID string) azcosmos.ItemIdentity {
		return azcosmos.ItemIdentity{ID: userID, PartitionKey: azcosmos.NewPartitionKeyString(postID)}
	}))
	if err != nil {
		return nil, err
	}
	liked := make(map[string]bool, len(items))
	for i := range items {
		if items[i].Type == typeLike {
			liked[items[i].PostID] = true
		}
	}
	return liked, nil
}
