package store

import (
	"context"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// A long content is an item beside its post. Reading both is two requests, and an edit may come
// between them. Each content item therefore names the version of the post to which it belongs.
//
// One query for both items would cost every short post more than twice its point read, and most
// posts are short (docs/benchmarks.md).

// WithContent returns posts with their contents, by id. The posts are those whose content Posts
// left out, because it is long. If a post was edited since it was read, WithContent returns its
// present state, so that the title and the content are from the same edit. Deleted posts are absent
// from the map. A post whose content item is lost has no content. It reads the contents by one
// point read for one, and one read many for several. Error: THROTTLED.
func (s *Store) WithContent(ctx context.Context, posts []*blog.Post) (map[string]*blog.Post, error) {
	ctx = cosmos.InSession(ctx)
	addresses := make([]address, len(posts))
	for i, post := range posts {
		addresses[i] = address{Partition: post.ID, ID: schema.ContentID}
	}
	contents, err := readItems[schema.ContentItem](ctx, s, s.posts, schema.TypeContent, addresses)
	if err != nil {
		return nil, err
	}
	whole := make(map[string]*blog.Post, len(posts))
	for i, post := range posts {
		if content := contents[addresses[i]]; content != nil && content.Version == post.ContentVersion {
			whole[post.ID] = with(post, content.Content)
			continue
		}
		current, err := s.readTogether(ctx, post.ID)
		if err != nil {
			return nil, err
		}
		if current != nil {
			whole[post.ID] = current
		}
	}
	return whole, nil
}

// with returns a copy of a post with its content.
func with(post *blog.Post, content string) *blog.Post {
	whole := *post
	whole.Content = content
	return &whole
}

// maxReadsTogether is the number of times that an edit may move a content into the post, or out of
// it, between two reads.
const maxReadsTogether = 5

// readTogether reads a post and its content as of one moment, or returns nil if there is no such
// post. If the content item is lost, it returns the post without its content. It reads the
// database, not the cache.
func (s *Store) readTogether(ctx context.Context, postID string) (*blog.Post, error) {
	var post *blog.Post
	for range maxReadsTogether {
		item, _, err := cosmos.Read[schema.PostItem](ctx, s.posts, postID, postID)
		switch {
		case cosmos.IsNotFound(err) || err == nil && !item.Visible():
			return nil, nil
		case err != nil:
			return nil, err
		case !item.HasContentItem():
			return item.Post(), nil
		case post != nil && post.ContentVersion == item.ContentVersion:
			return post, nil // no edit has moved the content between the two reads
		}
		post = item.Post()
		item, content, err := cosmos.ReadTogether[schema.PostItem, schema.ContentItem](ctx, s.posts, postID, postID, schema.ContentID)
		switch {
		case cosmos.IsConflict(err): // one of them does not exist
		case err != nil:
			return nil, err
		case item.Visible() && content.Version == item.ContentVersion:
			return with(item.Post(), content.Content), nil
		}
	}
	return post, nil
}

// ErrContentLost is the INTERNAL error of a post whose content item is missing, or of another
// version than the post.
var ErrContentLost = &blog.Error{
	Code:       blog.Internal,
	Message:    "The text of this post cannot be read. Report the `errorId` in this error's extensions.",
	RetryAfter: time.Second,
	Err:        cosmos.NewDefiniteError("the content item of a post is missing, or of another version than the post"),
}
