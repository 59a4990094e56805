package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// threadQuery returns everything in a partition of posts except the post.
const threadQuery = `SELECT * FROM c WHERE c.type IN ('comment', 'content', 'like', 'tombstone')`

// copyThread copies a thread: a post with its comments and likes. It also deletes comments and
// likes of the target that the source does not have. It writes the post last, in one transaction
// with its content item and the last of the comments and likes.
//
// Of a deleted post, only the post item is copied. The target's projector purges the rest.
func (c *copyRun) copyThread(from, to context.Context, post storedItem) error {
	post, wanted, err := c.readThread(from, post)
	if cosmos.IsNotFound(err) || errors.Is(err, errUnstable) {
		return nil // the change feed will show the post again unless it was deleted
	}
	if err != nil {
		return err
	}
	if err := c.ensureAuthor(from, to, post.UserID); err != nil {
		return err
	}
	current, etag, err := readStored(to, c.to.posts, post.PostID, post.ID)
	if err != nil && !cosmos.IsNotFound(err) {
		return err
	}
	w := &partitionWriter{ctx: to, to: c.to, postID: post.PostID}
	var content contentChange
	if !post.Deleted {
		existing, err := readThreadItems(to, c.to.posts, post.PostID)
		if err == nil {
			content = contentChange{wanted[schema.ContentID], existing[schema.ContentID]}
			for id := range wanted {
				wanted[id] = wanted[id].withNewerName(existing[id])
			}
			err = copyResponses(w, wanted, existing)
		}
		if err != nil {
			return err
		}
	}
	if !w.hasWritten && content.isNone() && post.isStateOf(current) {
		return nil
	}
	if err := w.writePost(post.asSuccessorOf(current), etag, content); err != nil {
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

// readThread returns the current post with the other items of its partition, all as of the same
// moment. It compares the post's revision before and after: every new or deleted comment or like,
// and every edit, changes the revision in its own transaction. Error: errUnstable.
func (c *copyRun) readThread(from context.Context, post storedItem) (storedItem, map[string]storedItem, error) {
	for range maxThreadReads {
		if post.Deleted {
			return post, nil, nil
		}
		items, err := readThreadItems(from, c.from.posts, post.PostID)
		if err != nil {
			return post, nil, err
		}
		now, _, err := readStored(from, c.from.posts, post.PostID, post.ID)
		if err != nil || now.Revision == post.Revision {
			return now, items, err
		}
		post = now
	}
	return post, nil, errUnstable
}

// copyResponses writes the comments and likes that differ, and deletes those that are not wanted.
// The maps have all items of the partition except the post.
func copyResponses(w *partitionWriter, wanted, existing map[string]storedItem) error {
	for _, id := range sortedIDs(wanted) {
		item := wanted[id]
		if id == schema.ContentID || item.equals(existing[id]) {
			continue
		}
		if err := w.upsert(item); err != nil {
			return err
		}
	}
	for _, id := range sortedIDs(existing) {
		if _, ok := wanted[id]; ok || id == schema.ContentID {
			continue
		}
		if err := w.delete(id); err != nil {
			return err
		}
	}
	return nil
}

// readThreadItems returns the comments, deleted ones included, the likes and the content item of a
// post by their ids.
func readThreadItems(
	ctx context.Context, container *azcosmos.ContainerClient, postID string,
) (map[string]storedItem, error) {
	found := map[string]storedItem{}
	for page, err := range cosmos.Pages[json.RawMessage](ctx, container, azcosmos.NewPartitionKeyString(postID), threadQuery, 0) {
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

// copyEdit copies an edited comment, because an edit does not change the post, unless the comment
// is a recent one. copyEdit skips a comment that is not in the target, because copyThread copies it
// with its post. Two edits may have the same date if a server's clock is behind.
func (c *copyRun) copyEdit(to context.Context, comment storedItem) error {
	current, etag, err := readStored(to, c.to.posts, comment.PostID, comment.ID)
	switch {
	case cosmos.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	comment = comment.withNewerName(current)
	if current.Deleted || current.UpdatedDate > comment.UpdatedDate || current.equals(comment) {
		return nil
	}
	if _, err := cosmos.Replace(to, c.to.posts, comment.PostID, comment.ID, comment.properties, etag); err != nil {
		return err
	}
	c.comments.Add(1)
	return nil
}

// readStored reads an item with all of its properties.
func readStored(
	ctx context.Context, container *azcosmos.ContainerClient, partition, id string,
) (storedItem, azcore.ETag, error) {
	text, etag, err := cosmos.Read[json.RawMessage](ctx, container, partition, id)
	if err != nil {
		return storedItem{}, "", err
	}
	item, err := newStoredItem(*text)
	return item, etag, err
}

// partitionWriter writes to one partition of posts, in batches as large as the service accepts.
type partitionWriter struct {
	ctx    context.Context
	to     *database
	postID string

	batch           azcosmos.TransactionalBatch
	hasWritten      bool // or will write, with the next batch
	operations      int
	bytes           int
	comments, likes int64
}

// reserve adds operations of together n bytes to the size of the batch. It executes the batch first
// if they do not fit.
func (w *partitionWriter) reserve(operations, n int) error {
	if w.operations > 0 && (w.operations+operations > cosmos.MaxBatchOperations || w.bytes+n > cosmos.MaxBatchBytes) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if w.operations == 0 {
		w.batch = w.to.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(w.postID))
	}
	w.hasWritten = true
	w.operations += operations
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
		err = w.reserve(1, cosmos.BatchBytes(text))
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
	if err := w.reserve(1, len(id)); err != nil {
		return err
	}
	w.batch.DeleteItem(id, nil)
	return nil
}

// contentChange is the content item that a post should have, and the one that it has. An item that
// does not exist is zero.
type contentChange struct{ wanted, existing storedItem }

func (c contentChange) isNone() bool { return c.wanted.equals(c.existing) }

// writePost writes the post with its content item, and executes the last batch. It replaces the
// post with the given etag, or creates the post if the etag is empty.
func (w *partitionWriter) writePost(post storedItem, etag azcore.ETag, content contentChange) error {
	text, err := post.text()
	if err != nil {
		return err
	}
	contentText, err := content.wanted.text()
	if err == nil {
		err = w.reserve(2, cosmos.BatchBytes(text)+cosmos.BatchBytes(contentText))
	}
	if err != nil {
		return err
	}
	switch {
	case content.isNone():
	case content.wanted.ID != "":
		w.batch.UpsertItem(contentText, nil)
	default:
		w.batch.DeleteItem(schema.ContentID, nil)
	}
	if etag == "" {
		w.batch.CreateItem(text, nil)
	} else {
		w.batch.ReplaceItem(post.ID, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag})
	}
	return w.flush()
}
