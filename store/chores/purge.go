package chores

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// After a post is deleted, the projector turns its copies into tombstones, records a purge, deletes
// the comments and likes, and sets the ttl of the post. Comments that were deleted before have
// their own ttl, or will get it. In this order, the work can be interrupted anywhere and repeated:
// until the post has its ttl, the change feed shows that it is unfinished.

// Purge is the pending work for a deleted post whose copies are tombstones: its comments and likes
// have to be deleted. It is stored in leases until it is done.
type Purge struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	PostID string `json:"postId"`
	ETag   string `json:"_etag,omitempty"` // as read; every write changes it
}

const (
	purgesQuery = `SELECT * FROM c WHERE c.type = 'purge'`

	// responsesQuery returns the comments and likes in a partition of posts, and the content item. The
	// range excludes tombstones in the index: deleted comments expire on their own.
	responsesQuery = `SELECT c.id FROM c WHERE c.type IN ('comment', 'content', 'like') AND c.type < 'tombstone'`
)

// Purges returns at most limit pending purges, in no order. The deletion of a user with very many
// posts leaves very many purges.
func (c *Chores) Purges(ctx context.Context, limit int) ([]Purge, error) {
	var purges []Purge
	for page, err := range cosmos.Pages[Purge](ctx, c.leases, azcosmos.NewPartitionKey(), purgesQuery, 0) {
		if err != nil {
			return nil, err
		}
		if purges = append(purges, page...); len(purges) >= limit {
			return purges[:limit], nil
		}
	}
	return purges, nil
}

// RecordPurge writes a pending purge of a post whose copies are tombstones. If there is one, it is
// rewritten, so that a concurrent delete of the old item fails on its etag.
func (c *Chores) RecordPurge(ctx context.Context, postID string) error {
	id := schema.PurgeID(postID)
	text, err := cosmos.EncodeItem(Purge{ID: id, Type: schema.TypePurge, PostID: postID})
	if err != nil {
		return cosmos.ToBlogError(err)
	}
	_, err = c.leases.UpsertItem(ctx, azcosmos.NewPartitionKeyString(id), text, nil)
	return cosmos.ToBlogError(err)
}

// ForgetPurge deletes a purge that is done, unless it was recorded again meanwhile.
func (c *Chores) ForgetPurge(ctx context.Context, purge Purge) error {
	return c.forget(ctx, schema.PurgeID(purge.PostID), purge.ETag)
}

// PurgePost executes the whole purge of a post, whether or not it is recorded. It neither waits nor
// retries. A missing post is no error.
func (c *Chores) PurgePost(ctx context.Context, postID string) error {
	_, err := Run(ctx, c.PurgePass(postID))
	if cosmos.IsNotFound(err) {
		return nil
	}
	return err
}

// PurgePass returns the one pass of a purge. Each of its steps deletes a page of comments and
// likes. At last, the post gets its ttl, unless an item refused to be deleted.
//
// The pass reads the post first. Error: CONFLICT if the post is not deleted. If it was not found in
// maxNotFound reads, the post counts as gone; NOT_FOUND if the pace retries less often. The pass
// then changes nothing.
//
// The pass is one session: a replica that has the deletion of the post also has all earlier
// comments and likes. There are no later ones, because the procedures reject deleted posts.
func (c *Chores) PurgePass(postID string) Pass {
	return func(ctx context.Context, p *Progress) error {
		ctx = cosmos.InSession(ctx)
		author, notFound := "", 0
		err := p.do(ctx, func(ctx context.Context) (err error) {
			author, err = c.checkPostDeleted(ctx, postID)
			if cosmos.IsNotFound(err) {
				if notFound++; notFound == maxNotFound {
					return nil
				}
			}
			return err
		})
		if err != nil || notFound == maxNotFound {
			return err
		}
		if err := c.purgeResponses(ctx, p, postID); err != nil {
			return err
		}
		return p.do(ctx, func(ctx context.Context) error { return c.expirePost(ctx, postID, author) })
	}
}

// maxNotFound is the number of reads after which a missing post counts as gone. The projector takes
// 1.6 s for them; by then every replica has received older writes.
const maxNotFound = 6

// purgeResponses deletes the comments and likes of a post. A query of several pages may skip items
// while others are deleted, so it is repeated until it finds nothing.
func (c *Chores) purgeResponses(ctx context.Context, p *Progress, postID string) error {
	size := newTransactionSize(cosmos.MaxBatchOperations) // of a page
	for again := true; again; {
		before := p.changed
		query := &rowQuery[schema.ResponseID]{container: c.posts, partition: azcosmos.NewPartitionKeyString(postID), text: responsesQuery}
		for query.more() {
			rows, err := query.next(ctx, p, size.items())
			if err == nil && len(rows) > 0 {
				err = p.complete(ctx, c.removeStep(postID, rows, size))
			}
			if err != nil {
				return err
			}
		}
		if err := p.refusals(); err != nil {
			return err
		}
		again = query.pages > 1 && p.changed > before
	}
	return nil
}

// checkPostDeleted returns the id of the post's author, or CONFLICT unless the post is deleted.
func (c *Chores) checkPostDeleted(ctx context.Context, postID string) (author string, err error) {
	post, _, err := cosmos.Read[schema.PostItem](ctx, c.posts, postID, postID)
	switch {
	case err != nil:
		return "", err
	case !post.Deleted:
		return "", blog.Errorf(blog.Conflict, "A post that is not deleted cannot be purged.")
	}
	return post.Writer(), nil
}

// removeStep returns a step that deletes a page of responses. If it is executed again, it deletes
// those that it could not delete before.
func (c *Chores) removeStep(postID string, left []schema.ResponseID, size *transactionSize) step {
	return func(ctx context.Context) (removed int, _ bool, err error) {
		before := len(left)
		left, err = c.remove(ctx, postID, left, size)
		return before - len(left), false, err
	}
}

// remove deletes responses in one transaction. If the transaction fails because of an item, for
// example one that has expired, remove deletes them one by one. It returns the responses that were
// refused, and an error of one of them.
func (c *Chores) remove(ctx context.Context, postID string, responses []schema.ResponseID, size *transactionSize) (left []schema.ResponseID, err error) {
	batch := c.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(postID))
	for _, response := range responses {
		batch.DeleteItem(response.ID, nil)
	}
	deleted := false
	err = size.charged(ctx, func(ctx context.Context) (int, error) {
		result, err := c.posts.ExecuteTransactionalBatch(ctx, batch, nil)
		deleted = err == nil && result.Success
		return len(responses), cosmos.ToBlogError(err)
	})
	if deleted {
		return nil, nil
	}
	if err != nil && !cosmos.IsItemError(err) {
		return responses, err
	}
	var refused error
	for i, response := range responses {
		err := c.removeOne(ctx, postID, response.ID)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil || !cosmos.IsItemError(err):
			return append(left, responses[i:]...), err
		}
		refused = err
		left = append(left, response)
	}
	return left, refused
}

func (c *Chores) removeOne(ctx context.Context, postID, id string) error {
	_, err := c.posts.DeleteItem(ctx, azcosmos.NewPartitionKeyString(postID), id, nil)
	if err = cosmos.ToBlogError(err); cosmos.IsNotFound(err) {
		return nil
	}
	return err
}
