package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// The user item of a database from before posts were counted has no postCount. Whoever reads it counts; the next copy that
// comes or goes brings the count of all, and so does a repair.

const liveCopiesQuery = `SELECT VALUE COUNT(1) FROM c WHERE c.type = 'post' AND c.deleted = false`

// countLive counts the live copies.
func (v view) countLive(ctx context.Context) (count int, err error) {
	parts, err := query[int](ctx, v.container, v.partition, liveCopiesQuery, 1)
	for _, part := range parts { // each page may count for itself
		count += part
	}
	return count, err
}

// readUser reads a user item, and counts the posts of a visible user where it does not.
func (s *Store) readUser(ctx context.Context, userID string) (*userItem, azcore.ETag, error) {
	item, etag, err := read[userItem](ctx, s.users, userID, userID)
	if err == nil {
		err = s.completeCount(ctx, item)
	}
	return item, etag, err
}

func (s *Store) completeCount(ctx context.Context, item *userItem) error {
	if item.PostCount != nil || !item.visible() {
		return nil
	}
	count, err := view{s.users, item.ID}.countLive(ctx)
	item.PostCount = &count
	return err
}

// countingPosts changes the postCount of a user item that has one, and nothing else of it.
func countingPosts(more int64) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	changes.SetCondition("from c where is_defined(c.postCount)")
	changes.AppendIncrement("/postCount", more)
	return changes
}

// writeFirstCount is writeCounting for a user without a postCount. Of several that come at the same time, the user's etag
// lets one through. Error: CONFLICT where there is a count meanwhile.
func (v view) writeFirstCount(ctx context.Context, post *blog.Post, current copyState, more int64) (bool, error) {
	user, etag, err := read[userItem](ctx, v.container, v.partition, v.partition)
	switch {
	case err != nil:
		return false, err
	case user.PostCount != nil:
		return false, errNotAsTheyWere
	}
	live, err := v.countLive(ctx)
	if err != nil {
		return false, err
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/postCount", int64(live)+more)
	batch, err := v.countingBatch(post, current, changes, etag)
	if err != nil {
		return false, err
	}
	err = executeBatch(ctx, v.container, batch)
	return err == nil, err
}
