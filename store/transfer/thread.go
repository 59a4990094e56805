package transfer

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

const (
	allResponsesQuery = `SELECT * FROM c WHERE c.type IN ('comment', 'like')`

	// maxCopyBatch is how many bytes of items go into one batch: the service takes requests of 2 MB.
	maxCopyBatch = 1 << 20
)

// copyThread makes a post's partition at the other end what it is at this one: the post, its comments and likes, and
// nothing that is gone here. The post is written last, in one transaction with the end of the others: where it bears
// the revision of this one as copied, all of them were.
//
// What was deleted at the other end stays so.
//
// Of a deleted post the mark alone is copied. What follows from it is the projector's to do.
func (c *copyRun) copyThread(from, to context.Context, post storedItem) error {
	current, etag, err := readStored(to, c.to.posts, post.PostID, post.ID)
	if err != nil && !cosmos.IsNotFound(err) || err == nil && (current.Deleted || !post.isUnknownTo(current)) {
		return err
	}
	post, responses, err := c.readThread(from, post)
	if cosmos.IsNotFound(err) || errors.Is(err, errRestless) {
		return nil // the feed shows the post again where it is not gone for good
	}
	if err != nil {
		return err
	}
	if err := c.ensureAuthor(from, to, post.UserID); err != nil {
		return err
	}
	t := &partitionWriter{ctx: to, to: c.to, postID: post.PostID}
	if !post.Deleted {
		if err := c.copyResponses(to, t, responses); err != nil {
			return err
		}
	}
	if err := t.writePost(post.withNewerName(current).after(current), etag); err != nil {
		return err
	}
	c.posts.Add(1)
	c.comments.Add(t.comments)
	c.likes.Add(t.likes)
	return nil
}

// maxThreadReads is how often a thread is read that changes while it is read.
const maxThreadReads = 5

var errRestless = errors.New("the post changes faster than its comments and likes can be read")

// readThread gives the post as it is now, with its comments and likes of the same moment: each of them changes the post's
// revision in its own transaction. Error: errRestless.
func (c *copyRun) readThread(from context.Context, post storedItem) (storedItem, map[string]storedItem, error) {
	for range maxThreadReads {
		if post.Deleted {
			return post, nil, nil
		}
		responses, err := storedResponses(from, c.from.posts, post.PostID)
		if err != nil {
			return post, nil, err
		}
		now, _, err := readStored(from, c.from.posts, post.PostID, post.ID)
		if err != nil || now.Revision == post.Revision {
			return now, responses, err
		}
		post = now
	}
	return post, nil, errRestless
}

func (c *copyRun) copyResponses(to context.Context, t *partitionWriter, wanted map[string]storedItem) error {
	there, err := storedResponses(to, c.to.posts, t.postID)
	if err != nil {
		return err
	}
	for _, id := range sortedIDs(wanted) {
		item, current := wanted[id], there[id]
		if item = item.withNewerName(current); item.equals(current) {
			continue
		}
		if err := t.upsert(item); err != nil {
			return err
		}
	}
	for _, id := range sortedIDs(there) {
		if _, ok := wanted[id]; ok {
			continue
		}
		if err := t.delete(id); err != nil {
			return err
		}
	}
	return nil
}

// storedResponses gives the comments and likes of a post by their ids.
func storedResponses(ctx context.Context, container *azcosmos.ContainerClient, postID string) (map[string]storedItem, error) {
	pager := container.NewQueryItemsPager(allResponsesQuery, azcosmos.NewPartitionKeyString(postID), nil)
	found := map[string]storedItem{}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, cosmos.ToBlogError(err)
		}
		items, err := storedItems(page.Items)
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

// copyEdit brings the text of an edited comment, which the post need not have noticed. A comment that is not there comes
// with its post.
func (c *copyRun) copyEdit(to context.Context, comment storedItem) error {
	current, etag, err := readStored(to, c.to.posts, comment.PostID, comment.ID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err != nil || !comment.isNewerEdit(current) {
		return err
	}
	if err := replaceStored(to, c.to.posts, comment.PostID, comment.withNewerName(current), etag); err != nil {
		return err
	}
	c.comments.Add(1)
	return nil
}

// isNewerEdit tells whether a comment's text is to replace that of the comment at the other end. Edits may bear one date,
// where a server's clock is behind: then the source's is the later one.
func (i storedItem) isNewerEdit(current storedItem) bool {
	switch {
	case i.Deleted != current.Deleted:
		return false
	case i.UpdatedDate == current.UpdatedDate:
		return !bytes.Equal(i.properties["content"], current.properties["content"])
	}
	return i.UpdatedDate > current.UpdatedDate
}

// partitionWriter writes into one partition of posts, in transactions as large as the service takes.
type partitionWriter struct {
	ctx    context.Context
	to     *database
	postID string

	batch           azcosmos.TransactionalBatch
	operations      int
	bytes           int
	comments, likes int64
}

// room makes room for an operation of n bytes in the batch.
func (t *partitionWriter) room(n int) error {
	if t.operations > 0 && (t.operations == cosmos.MaxBatchOperations || t.bytes+n > maxCopyBatch) {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if t.operations == 0 {
		t.batch = t.to.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(t.postID))
	}
	t.operations++
	t.bytes += n
	return nil
}

func (t *partitionWriter) flush() error {
	err := cosmos.ExecuteBatch(t.ctx, t.to.posts, t.batch)
	t.operations, t.bytes = 0, 0
	return err
}

func (t *partitionWriter) upsert(item storedItem) error {
	text, err := item.text()
	if err == nil {
		err = t.room(len(text))
	}
	if err != nil {
		return err
	}
	t.batch.UpsertItem(text, nil)
	if item.Type == schema.TypeLike {
		t.likes++
	} else {
		t.comments++
	}
	return nil
}

func (t *partitionWriter) delete(id string) error {
	if err := t.room(len(id)); err != nil {
		return err
	}
	t.batch.DeleteItem(id, nil)
	return nil
}

// writePost ends the copying of a partition: the post replaces the one with the etag, or is new where that is empty.
func (t *partitionWriter) writePost(post storedItem, etag azcore.ETag) error {
	text, err := post.text()
	if err == nil {
		err = t.room(len(text))
	}
	if err != nil {
		return err
	}
	if etag == "" {
		t.batch.CreateItem(text, nil)
	} else {
		t.batch.ReplaceItem(post.ID, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag})
	}
	return t.flush()
}
