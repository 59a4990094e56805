package views

import (
	"context"
	"errors"

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
	PostID string
	ETag   string // as read; every write changes it
}

const (
	purgesQuery = `SELECT * FROM c WHERE c.type = 'purge'`

	// responsesQuery returns the comments and likes in a partition of posts, and the content item, as
	// ResponseRow. The range excludes tombstones in the index: deleted comments expire on their own.
	responsesQuery = `SELECT c.id FROM c WHERE c.type IN ('comment', 'content', 'like') AND c.type < 'tombstone'`
)

// ResponseRow is the id of a comment or like.
type ResponseRow struct {
	ID string `json:"id"`
}

type purgeItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	PostID string `json:"postId"`
	ETag   string `json:"_etag,omitempty"`
}

// Purges returns at most limit pending purges, in no order. The deletion of a user with very many
// posts leaves very many purges.
func (v *Views) Purges(ctx context.Context, limit int) ([]Purge, error) {
	var purges []Purge
	for items, err := range cosmos.Pages[purgeItem](ctx, v.leases, azcosmos.NewPartitionKey(), purgesQuery, 0) {
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if purges = append(purges, Purge{item.PostID, item.ETag}); len(purges) == limit {
				return purges, nil
			}
		}
	}
	return purges, nil
}

// RecordPurge writes a pending purge of a post whose copies are tombstones. If there is one, it is
// rewritten, so that a concurrent delete of the old item fails on its etag.
func (v *Views) RecordPurge(ctx context.Context, postID string) error {
	id := schema.PurgeID(postID)
	text, err := cosmos.EncodeItem(purgeItem{ID: id, Type: schema.TypePurge, PostID: postID})
	if err != nil {
		return cosmos.ToBlogError(err)
	}
	_, err = v.leases.UpsertItem(ctx, azcosmos.NewPartitionKeyString(id), text, nil)
	return cosmos.ToBlogError(err)
}

// ForgetPurge deletes a purge that is done or was set aside, unless it was recorded again
// meanwhile. If the post's change is projected again, RecordPurge creates a new purge.
func (v *Views) ForgetPurge(ctx context.Context, purge Purge) error {
	return v.forget(ctx, schema.PurgeID(purge.PostID), purge.ETag)
}

// PurgePost executes the whole purge of a post, whether or not it is recorded. It neither waits nor
// retries. A missing post is no error.
func (v *Views) PurgePost(ctx context.Context, postID string) error {
	_, err := Run(ctx, v.PurgePass(postID))
	if cosmos.IsNotFound(err) {
		return nil
	}
	return err
}

// PurgePass returns the one pass of a purge. Each of its steps deletes a page of comments and
// likes, and returns the number of items found; the last step gives the post its ttl. If an item
// refuses to be deleted, the post gets no ttl.
//
// The first call of Next only reads the post. Errors: CONFLICT if the post is not deleted, and
// NOT_FOUND if the replica that answers has no such post. The pass then changes nothing.
func (v *Views) PurgePass(postID string) Pass {
	pass := &purgePass{
		views:   v,
		postID:  postID,
		session: cosmos.WithSession(context.Background()),
		size:    newTransactionSize(cosmos.MaxBatchOperations),
	}
	pass.query = pass.responses()
	return pass
}

type purgePass struct {
	views    *Views
	postID   string
	session  context.Context
	state    purgeState
	author   string // of the post
	query    *rowQuery[ResponseRow]
	size     *transactionSize // of a page
	progress progress
}

// purgeState selects the action of the next call of purgePass.Next.
type purgeState int

const (
	purgeChecksPost purgeState = iota
	purgeFindsResponses
	purgeEnded // after the step that sets the ttl was returned, or a step failed
)

// Next runs in one session for the whole pass: a replica that has the deletion of the post also has
// all earlier comments and likes. There are no later ones, because the procedures reject deleted
// posts.
func (p *purgePass) Next(ctx context.Context) (page []Step, done bool, err error) {
	ctx = cosmos.InSessionOr(ctx, p.session)
	switch p.state {
	case purgeChecksPost:
		author, err := p.views.checkPostDeleted(ctx, p.postID)
		if err == nil {
			p.author, p.state = author, purgeFindsResponses
		}
		return nil, false, err
	case purgeFindsResponses:
		if !p.query.more() {
			page, done = p.endOfQuery()
			return page, done, nil
		}
		rows, err := p.query.next(ctx)
		if len(rows) > 0 {
			page = []Step{p.progress.track(p.removeStep(rows))}
		}
		return page, false, err
	}
	return nil, true, nil
}

// endOfQuery ends the pass if a step has failed. Otherwise it returns the step that sets the ttl,
// or starts the query again. A query of several pages may skip items while others are deleted, so
// it is repeated until it finds nothing.
func (p *purgePass) endOfQuery() (page []Step, done bool) {
	found, succeeded := p.progress.endRound()
	switch {
	case !succeeded:
		p.state = purgeEnded
		return nil, true
	case p.query.pages > 1 && found > 0:
		p.query = p.responses()
		return nil, false
	}
	p.state = purgeEnded
	return []Step{p.expireStep}, false
}

// expireStep sets the ttl of the post.
func (p *purgePass) expireStep(ctx context.Context) (changed int, more bool, err error) {
	return 0, false, p.views.expirePost(cosmos.InSessionOr(ctx, p.session), p.postID, p.author)
}

func (p *purgePass) responses() *rowQuery[ResponseRow] {
	query := newRowQuery[ResponseRow](p.views.posts, azcosmos.NewPartitionKeyString(p.postID), responsesQuery)
	query.size = p.size.items
	return query
}

// checkPostDeleted returns the id of the post's author, or CONFLICT unless the post is deleted.
func (v *Views) checkPostDeleted(ctx context.Context, postID string) (author string, err error) {
	post, _, err := cosmos.Read[schema.PostItem](ctx, v.posts, postID, postID)
	switch {
	case err != nil:
		return "", err
	case !post.Deleted:
		return "", blog.Errorf(blog.Conflict, "A post that is not deleted cannot be purged.")
	}
	return post.Writer(), nil
}

// removeStep returns a step that deletes a page of responses. It counts them in its first
// execution; later ones delete those that the earlier ones could not.
func (p *purgePass) removeStep(left []ResponseRow) Step {
	found := len(left)
	return func(ctx context.Context) (_ int, _ bool, err error) {
		n := found
		found = 0
		left, err = p.remove(cosmos.InSessionOr(ctx, p.session), left)
		return n, false, err
	}
}

// remove deletes responses in one transaction. If the transaction fails because of an item, for
// example one that has expired, remove deletes them one by one. It returns the responses that were
// refused, and their errors.
func (p *purgePass) remove(ctx context.Context, responses []ResponseRow) (left []ResponseRow, err error) {
	batch := p.views.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(p.postID))
	for _, response := range responses {
		batch.DeleteItem(response.ID, nil)
	}
	deleted := false
	err = p.size.charged(ctx, func(ctx context.Context) (int, error) {
		result, err := p.views.posts.ExecuteTransactionalBatch(ctx, batch, nil)
		deleted = err == nil && result.Success
		return len(responses), cosmos.ToBlogError(err)
	})
	if deleted {
		return nil, nil
	}
	if err != nil && !cosmos.IsItemError(err) {
		return responses, err
	}
	var refusals Refusals
	for i, response := range responses {
		err := p.removeOne(ctx, response.ID)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil || !cosmos.IsItemError(err):
			return append(left, responses[i:]...), err
		}
		refusals.Add(err)
		left = append(left, response)
	}
	return left, errors.Join(refusals...)
}

func (p *purgePass) removeOne(ctx context.Context, id string) error {
	_, err := p.views.posts.DeleteItem(ctx, azcosmos.NewPartitionKeyString(p.postID), id, nil)
	if err = cosmos.ToBlogError(err); cosmos.IsNotFound(err) {
		return nil
	}
	return err
}
