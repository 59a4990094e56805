package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

const allResponsesQuery = `SELECT * FROM c WHERE c.type IN ('comment', 'like', 'tombstone')`

// copyThread copies a thread: a post with its comments and likes. It also deletes comments and
// likes of the target that the source does not have. It writes the post last, in one
// transaction with the last of the comments and likes. Once the target's post has the source's
// revision as its copiedRevision, the whole thread is therefore copied.
//
// A post that was deleted in the target stays deleted.
//
// Of a deleted post, only the post item is copied. The target's projector purges the rest.
func (c *copyRun) copyThread(from, to context.Context, post storedItem) error {
	current, etag, err := readStored(to, c.to.posts, post.PostID, post.ID)
	if err != nil && !cosmos.IsNotFound(err) || err == nil && (current.Deleted || !post.changedSinceCopyTo(current)) {
		return err
	}
	post, responses, err := c.readThread(from, post)
	if cosmos.IsNotFound(err) || errors.Is(err, errUnstable) {
		return nil // the change feed will show the post again unless it was deleted
	}
	if err != nil {
		return err
	}
	if err := c.ensureAuthor(from, to, post.UserID); err != nil {
		return err
	}
	w := &partitionWriter{ctx: to, to: c.to, postID: post.PostID}
	if !post.Deleted {
		if err := c.copyResponses(to, w, responses); err != nil {
			return err
		}
	}
	if err := w.writePost(post.withNewerName(current).asSuccessorOf(current), etag); err != nil {
		return err
	}
	c.posts.Add(1)
	c.comments.Add(w.comments)
	c.likes.Add(w.likes)
	return nil
}

// maxThreadReads is the maximum number of reads of a thread that changes during the read.
const maxThreadReads = 5

var errUnstable = errors.New("the post changes faster than its comments and likes can be read")

// readThread returns the current post with its comments and likes, all as of the same moment. It
// compares the post's revision before and after: every new or deleted comment or like changes
// the revision in its own transaction. Error: errUnstable.
func (c *copyRun) readThread(from context.Context, post storedItem) (storedItem, map[string]storedItem, error) {
	for range maxThreadReads {
		if post.Deleted {
			return post, nil, nil
		}
		responses, err := readResponses(from, c.from.posts, post.PostID)
		if err != nil {
			return post, nil, err
		}
		now, _, err := readStored(from, c.from.posts, post.PostID, post.ID)
		if err != nil || now.Revision == post.Revision {
			return now, responses, err
		}
		post = now
	}
	return post, nil, errUnstable
}

// copyResponses writes the comments and likes that differ, and deletes those that the source
// does not have.
func (c *copyRun) copyResponses(
	to context.Context, w *partitionWriter, wanted map[string]storedItem,
) error {
	existing, err := readResponses(to, c.to.posts, w.postID)
	if err != nil {
		return err
	}
	for _, id := range sortedIDs(wanted) {
		item, current := wanted[id], existing[id]
		if item = item.withNewerName(current); item.equals(current) {
			continue
		}
		if err := w.upsert(item); err != nil {
			return err
		}
	}
	for _, id := range sortedIDs(existing) {
		if _, ok := wanted[id]; ok {
			continue
		}
		if err := w.delete(id); err != nil {
			return err
		}
	}
	return nil
}

// readResponses returns the comments, deleted ones included, and the likes of a post by their ids.
func readResponses(
	ctx context.Context, container *azcosmos.ContainerClient, postID string,
) (map[string]storedItem, error) {
	found := map[string]storedItem{}
	for page, err := range cosmos.Pages[json.RawMessage](ctx, container, azcosmos.NewPartitionKeyString(postID), allResponsesQuery, 0) {
		if err != nil {
			return nil, err
		}
		items, err := storedItems(page)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			found[item.ID] = item
		}
	}
	return found, nil
}

func sortedIDs(items map[string]storedItem) []string {
	ids := make([]string, 0, len(items))
	for id := range items {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// copyEdit copies the text of an edited comment, because an edit does not change the post. It
// skips a comment that is not in the target, because copyThread copies it with its post.
func (c *copyRun) copyEdit(to context.Context, comment storedItem) error {
	current, etag, err := readStored(to, c.to.posts, comment.PostID, comment.ID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err != nil || !comment.replacesEdit(current) {
		return err
	}
	if err := replaceStored(to, c.to.posts, comment.PostID, comment.withNewerName(current), etag); err != nil {
		return err
	}
	c.comments.Add(1)
	return nil
}

// replacesEdit reports whether a comment's text replaces that of the target's comment. Two edits
// may have the same date if a server's clock is behind. The source's text then counts as the
// later one.
func (i storedItem) replacesEdit(current storedItem) bool {
	switch {
	case i.Deleted != current.Deleted:
		return false
	case i.UpdatedDate == current.UpdatedDate:
		return !bytes.Equal(i.properties["content"], current.properties["content"])
	}
	return i.UpdatedDate > current.UpdatedDate
}

// partitionWriter writes to one partition of posts, in batches as large as the service accepts.
type partitionWriter struct {
	ctx    context.Context
	to     *database
	postID string

	batch           azcosmos.TransactionalBatch
	operations      int
	bytes           int
	comments, likes int64
}

// reserve adds an operation of n bytes to the size of the batch. It executes the batch first if
// the operation does not fit.
func (w *partitionWriter) reserve(n int) error {
	if w.operations > 0 && (w.operations == cosmos.MaxBatchOperations || w.bytes+n > cosmos.MaxBatchBytes) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if w.operations == 0 {
		w.batch = w.to.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(w.postID))
	}
	w.operations++
	w.bytes += n
	return nil
}

func (w *partitionWriter) flush() error {
	err := cosmos.ExecuteBatch(w.ctx, w.to.posts, w.batch)
	w.operations, w.bytes = 0, 0
	return err
}

func (w *partitionWriter) upsert(item storedItem) error {
	text, err := item.text()
	if err == nil {
		err = w.reserve(len(text))
	}
	if err != nil {
		return err
	}
	w.batch.UpsertItem(text, nil)
	if item.Type == schema.TypeLike {
		w.likes++
	} else {
		w.comments++
	}
	return nil
}

func (w *partitionWriter) delete(id string) error {
	if err := w.reserve(len(id)); err != nil {
		return err
	}
	w.batch.DeleteItem(id, nil)
	return nil
}

// writePost writes the post and executes the last batch. It replaces the post with the given
// etag, or creates the post if the etag is empty.
func (w *partitionWriter) writePost(post storedItem, etag azcore.ETag) error {
	text, err := post.text()
	if err == nil {
		err = w.reserve(len(text))
	}
	if err != nil {
		return err
	}
	if etag == "" {
		w.batch.CreateItem(text, nil)
	} else {
		w.batch.ReplaceItem(post.ID, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag})
	}
	return w.flush()
}
