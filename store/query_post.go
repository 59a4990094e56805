package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Post reads a post with its content (Q2): one point read in posts, and a second one in the same
// partition if the content is long. The title and the content are from the same edit. Errors:
// NOT_FOUND; ErrContentLost; THROTTLED.
func (s *Store) Post(ctx context.Context, postID string) (*blog.Post, error) {
	post, err := s.PostWithoutContent(ctx, postID)
	if err != nil || !post.LacksContent() {
		return post, err
	}
	posts, err := s.WithContent(ctx, []*blog.Post{post})
	switch whole := posts[postID]; {
	case err != nil:
		return nil, err
	case whole == nil:
		return nil, ErrNoPost
	case whole.LacksContent():
		return nil, ErrContentLost
	default:
		return whole, nil
	}
}

// PostWithoutContent reads a post, with its content unless it is long (schema.MaxInlineContent):
// one point read in posts. Errors: NOT_FOUND, THROTTLED.
func (s *Store) PostWithoutContent(ctx context.Context, postID string) (*blog.Post, error) {
	item, err := readItem[schema.PostItem](ctx, s, s.posts, schema.TypePost, address{Partition: postID, ID: postID})
	switch {
	case err != nil:
		return nil, err
	case item == nil || !item.Visible():
		return nil, ErrNoPost
	}
	return item.Post(), nil
}

// Posts reads several posts: one point read for one id, one read many for several. It returns their
// contents except long ones (schema.MaxInlineContent). Unknown and deleted posts are absent from
// the map. Error: THROTTLED.
func (s *Store) Posts(ctx context.Context, postIDs []string) (map[string]*blog.Post, error) {
	items, err := readItems[schema.PostItem](ctx, s, s.posts, schema.TypePost, cosmos.OwnAddresses(postIDs))
	if err != nil {
		return nil, err
	}
	posts := make(map[string]*blog.Post, len(items))
	for _, item := range items {
		if item != nil && item.Visible() {
			posts[item.PostID] = item.Post()
		}
	}
	return posts, nil
}

// Comments lists a post's comments in the order of the page (Q4): one query to the post's
// partition. It does not check whether the post exists. Error: THROTTLED.
func (s *Store) Comments(ctx context.Context, postID string, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
	ordered := allComments
	if page.Order == blog.NewestFirst {
		ordered = newestComments
	}
	var post parent
	return readPage(ctx, s, s.posts, postID, ordered, page, func(i *schema.CommentItem) (*blog.Comment, blog.Position) {
		return i.Comment(post.withID(i.PostID)), blog.Position{CreationDate: i.CreationDate, ID: i.ID}
	})
}

// parent is the post of the elements of a page, which share it. Its id comes from the elements: the
// id in a request must not stay in memory with a page that is kept.
type parent struct{ *blog.Post }

func (p *parent) withID(postID string) *blog.Post {
	if p.Post == nil {
		p.Post = &blog.Post{ID: postID}
	}
	return p.Post
}

// Likes lists a post's likes, newest first (Q5): one query to the post's partition. It does not
// check whether the post exists. Error: THROTTLED.
func (s *Store) Likes(ctx context.Context, postID string, page blog.PageRequest) (blog.Page[*blog.Like], error) {
	var post parent
	return readPage(ctx, s, s.posts, postID, allLikes, page, func(i *schema.LikeItem) (*blog.Like, blog.Position) {
		return i.Like(post.withID(i.PostID)), blog.Position{CreationDate: i.CreationDate, ID: i.ID}
	})
}

// Comment reads one comment: one point read in posts. Its Post is a reference, and may be
// deleted. Errors: NOT_FOUND, THROTTLED.
func (s *Store) Comment(ctx context.Context, postID, commentID string) (*blog.Comment, error) {
	item, err := readItem[schema.CommentItem](ctx, s, s.posts, schema.TypeComment, address{Partition: postID, ID: commentID})
	switch {
	case err != nil:
		return nil, err
	case item == nil || item.Type != schema.TypeComment:
		return nil, errNoComment
	}
	return item.Comment(&blog.Post{ID: postID}), nil
}

// CommentsByID reads several comments, with references to their posts: one point read for one, one
// read many for several. Unknown and deleted comments are absent from the map. It does not check
// whether the posts exist. Error: THROTTLED.
func (s *Store) CommentsByID(ctx context.Context, ids []blog.Ref) (map[blog.Ref]*blog.Comment, error) {
	addresses := make([]address, len(ids))
	for i, id := range ids {
		addresses[i] = address{Partition: id.PartitionKey, ID: id.ID}
	}
	items, err := readItems[schema.CommentItem](ctx, s, s.posts, schema.TypeComment, addresses)
	if err != nil {
		return nil, err
	}
	comments := make(map[blog.Ref]*blog.Comment, len(items))
	for _, item := range items {
		if item != nil && item.Type == schema.TypeComment {
			comment := item.Comment(&blog.Post{ID: item.PostID})
			comments[comment.Ref()] = comment
		}
	}
	return comments, nil
}

// postOfCommentQuery queries all partitions, because the id of a comment does not contain that
// of its post.
const postOfCommentQuery = `SELECT c.postId FROM c WHERE c.type IN ('comment', 'tombstone') AND c.id = @id`

// PostOfComment returns the id of the post of a comment, deleted or not, by the comment's stored
// id. It queries all partitions, so only operators should use it. Errors: NOT_FOUND, THROTTLED.
func (s *Store) PostOfComment(ctx context.Context, commentID string) (string, error) {
	rows, err := cosmos.QueryAcross[schema.PostID](ctx, s.posts, postOfCommentQuery, azcosmos.QueryParameter{Name: "@id", Value: commentID})
	switch {
	case err != nil:
		return "", err
	case len(rows) == 0:
		return "", errNoComment
	}
	return rows[0].PostID, nil
}

// Like reads one like: one point read in posts. Its Post is a reference, and may be deleted.
// Errors: NOT_FOUND, THROTTLED.
func (s *Store) Like(ctx context.Context, postID, userID string) (*blog.Like, error) {
	item, err := readItem[schema.LikeItem](ctx, s, s.posts, schema.TypeLike, address{Partition: postID, ID: userID})
	switch {
	case err != nil:
		return nil, err
	case item == nil || item.Type != schema.TypeLike:
		return nil, errNoLike
	}
	return item.Like(&blog.Post{ID: postID}), nil
}

var errNoLike = blog.Errorf(blog.NotFound, "The like does not exist.")

// LikedBy reports which of the posts a user likes: one point read for one post, one read many
// for several. Error: THROTTLED.
func (s *Store) LikedBy(ctx context.Context, userID string, postIDs []string) (map[string]bool, error) {
	addresses := make([]address, len(postIDs))
	for i, postID := range postIDs {
		addresses[i] = address{Partition: postID, ID: userID}
	}
	items, err := readItems[schema.LikeItem](ctx, s, s.posts, schema.TypeLike, addresses)
	if err != nil {
		return nil, err
	}
	liked := make(map[string]bool, len(items))
	for _, item := range items {
		if item != nil && item.Type == schema.TypeLike {
			liked[item.PostID] = true
		}
	}
	return liked, nil
}
