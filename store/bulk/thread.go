package bulk

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Thread is a post with its comments and likes. ID, Username and Revision of each author must be
// set. The post's counters and revision are ignored: WriteThread counts the comments and likes.
type Thread struct {
	Post     *blog.Post
	Comments []*blog.Comment
	Likes    []*blog.Like
}

// WriteThread writes a post with its comments and likes, and returns the post in its final
// state, for the views. It writes several transactions, each of which leaves the counters exact.
// If a part of the thread exists, it adds the missing rest. It adds nothing to a deleted post.
//
// Each item gets the username that its author has in the thread. Nobody may rename or delete these
// users until the thread is written. Error: CONFLICT if the post's id belongs to another author's
// post or another item.
func (w *Writer) WriteThread(ctx context.Context, thread Thread) (*blog.Post, error) {
	t, err := w.newThreadWriter(thread)
	if err != nil {
		return nil, err
	}
	for {
		err := w.db.RetryTransient(ctx, func() error { return t.write(ctx) })
		if err == nil {
			return t.post.ViewSource(), nil
		}
		if !cosmos.IsConflict(err) {
			return nil, err
		}
		if t.races++; t.races > cosmos.MaxConflictTries {
			return nil, err
		}
		if err := w.db.RetryTransient(ctx, func() error { return t.readExisting(ctx) }); err != nil {
			return nil, err
		}
	}
}

// threadWriter writes one thread. It first assumes that nothing of it exists. If a conflict
// proves otherwise, it reads what exists.
type threadWriter struct {
	writer      *Writer
	post        *schema.PostItem    // as last read or written
	contentItem *schema.ContentItem // of a new post; nil if it has none
	created     bool
	rest        []response // not written yet
	races       int

	comments, likes int // in the whole thread
}

// response is a comment or a like as an item.
type response struct {
	id   string
	item any    // schema.CommentItem or schema.LikeItem
	text []byte // encoded item
}

// newThreadWriter puts the comments first, so that most threads set the recent comments with the
// post.
func (w *Writer) newThreadWriter(thread Thread) (*threadWriter, error) {
	post, content := schema.NewPostItem(thread.Post)
	t := &threadWriter{
		writer: w, post: post, contentItem: content,
		comments: len(thread.Comments), likes: len(thread.Likes),
	}
	for _, c := range thread.Comments {
		t.rest = append(t.rest, response{id: c.ID, item: schema.NewCommentItem(thread.Post.ID, c)})
	}
	for _, l := range thread.Likes {
		t.rest = append(t.rest, response{id: l.ID(), item: schema.NewLikeItem(thread.Post.ID, l)})
	}
	for i := range t.rest {
		var err error
		if t.rest[i].text, err = cosmos.EncodeItem(t.rest[i].item); err != nil {
			return nil, cosmos.ToBlogError(err)
		}
	}
	return t, nil
}

// write writes the rest, batch by batch. Error: CONFLICT if an item is not in the assumed state.
func (t *threadWriter) write(ctx context.Context) error {
	for !t.post.Deleted && (!t.created || len(t.rest) > 0) {
		n := t.batchSize()
		counted := t.countedWith(t.rest[:n])
		batch, err := t.batch(counted, t.rest[:n])
		if err != nil {
			return err
		}
		if err := cosmos.ExecuteBatch(ctx, t.writer.posts, batch); err != nil {
			return err
		}
		t.post, t.created, t.rest = &counted, true, t.rest[n:]
	}
	return nil
}

// batchSize returns the number of responses that fit into one batch together with the post.
func (t *threadWriter) batchSize() int {
	size, room := cosmos.BatchBytes([]byte(t.content())), cosmos.MaxBatchOperations-1
	if !t.created && t.contentItem != nil {
		room--
	}
	for n, r := range t.rest {
		if size += cosmos.BatchBytes(r.text); n == room || n > 0 && size > cosmos.MaxBatchBytes {
			return n
		}
	}
	return len(t.rest)
}

// content returns the content of the post, if the next batch writes it.
func (t *threadWriter) content() string {
	switch {
	case t.created:
		return ""
	case t.contentItem != nil:
		return t.contentItem.Content
	}
	return t.post.Content
}

// countedWith returns the post with its counters and revision increased for more responses, and
// with its recent comments and the date of the last one. Each response adds one revision.
func (t *threadWriter) countedWith(responses []response) schema.PostItem {
	counted := *t.post
	recent := counted.RecentComments
	for _, r := range responses {
		if comment, ok := r.item.(schema.CommentItem); ok {
			counted.CommentCount++
			counted.LastCommentDate = max(counted.LastCommentDate, comment.CreationDate)
			recent = append(recent[:len(recent):len(recent)], comment.Recent())
		} else {
			counted.LikeCount++
		}
	}
	counted.RecentComments = schema.NewestComments(recent)
	counted.Revision += int64(len(responses))
	return counted
}

// batch returns the batch that adds responses to the post. It creates the post if it does not
// exist yet.
func (t *threadWriter) batch(counted schema.PostItem, responses []response) (azcosmos.TransactionalBatch, error) {
	batch := t.writer.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(t.post.PostID))
	if t.created {
		batch.PatchItem(t.post.ID, t.increments(counted), nil)
	} else {
		text, err := cosmos.EncodeItem(counted)
		if err != nil {
			return batch, cosmos.ToBlogError(err)
		}
		batch.CreateItem(text, nil)
		if t.contentItem != nil {
			if text, err = cosmos.EncodeItem(t.contentItem); err != nil {
				return batch, cosmos.ToBlogError(err)
			}
			batch.CreateItem(text, nil)
		}
	}
	for _, r := range responses {
		batch.CreateItem(r.text, nil)
	}
	return batch, nil
}

// increments returns the patch from the current counters to those of counted. Increments are
// safe alongside concurrent changes. With comments, the patch is on condition that the post has not
// changed, because it also sets the recent comments.
func (t *threadWriter) increments(counted schema.PostItem) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	condition := "from c where c.type = 'post' and c.deleted = false"
	if n := counted.CommentCount - t.post.CommentCount; n > 0 {
		changes.AppendIncrement("/commentCount", int64(n))
		changes.AppendSet("/recentComments", counted.RecentComments)
		changes.AppendSet("/lastCommentDate", counted.LastCommentDate)
		condition += fmt.Sprintf(" and c.revision = %d", t.post.Revision)
	}
	changes.SetCondition(condition)
	if n := counted.LikeCount - t.post.LikeCount; n > 0 {
		changes.AppendIncrement("/likeCount", int64(n))
	}
	changes.AppendIncrement("/revision", counted.Revision-t.post.Revision)
	return changes
}

// readExisting reads what exists of the thread. If the post's counters equal those of the
// thread, the thread is complete, and one point read is enough. Otherwise it queries the
// partition.
func (t *threadWriter) readExisting(ctx context.Context) error {
	item, _, err := cosmos.Read[schema.PostItem](ctx, t.writer.posts, t.post.PostID, t.post.ID)
	switch {
	case cosmos.IsNotFound(err):
		t.created = false
		return nil
	case err != nil:
		return err
	case item.Type != schema.TypePost || item.Writer() != t.post.UserID:
		return store.ErrKeyReused
	}
	t.post, t.created = item, true
	if item.Deleted || item.CommentCount == t.comments && item.LikeCount == t.likes {
		t.rest = nil
		return nil
	}
	return t.removeExisting(ctx)
}

// existingQuery returns the ids of comments, deleted ones included, and likes.
const existingQuery = `SELECT c.id FROM c WHERE c.type IN ('comment', 'like', 'tombstone')`

// removeExisting removes the existing comments and likes from the rest.
func (t *threadWriter) removeExisting(ctx context.Context) error {
	rows, err := cosmos.Query[schema.ResponseID](ctx, t.writer.posts, t.post.PostID, existingQuery, t.comments+t.likes)
	if err != nil {
		return err
	}
	existing := make(map[string]bool, len(rows))
	for _, row := range rows {
		existing[row.ID] = true
	}
	var rest []response
	for _, r := range t.rest {
		if !existing[r.id] {
			rest = append(rest, r)
		}
	}
	t.rest = rest
	return nil
}
