package views

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// UserPostView is the view of a user's posts, in the user's partition of users. In the transaction
// that creates a copy, or turns it into a tombstone, it also updates the user's postCount. The
// user's revision stays.
func (v *Views) UserPostView(userID string) PostView {
	return PostView{
		Container: schema.Users,
		Partition: userID,
		client:    v.users,
		admission: func(context.Context) (admission, error) { return admitAll(userID), nil },
		copyOf:    UserCopyOf,
		write: func(ctx context.Context, post *blog.Post, current CopyState) error {
			return v.writeUserCopy(ctx, userID, post, current)
		},
	}
}

// ProjectUserPost brings the copy of a post in its author's partition up to date
// (PostView.Project).
func (v *Views) ProjectUserPost(ctx context.Context, post *blog.Post) (written bool, err error) {
	return v.UserPostView(post.Author.ID).Project(ctx, post)
}

// writeUserCopy writes the copy, and the user's postCount if it changes.
func (v *Views) writeUserCopy(ctx context.Context, userID string, post *blog.Post, current CopyState) error {
	if added := addedCopies(post, current); added != 0 {
		return v.writeCountedCopy(ctx, userID, post, current, added)
	}
	return writeCopy(ctx, v.users, userID, post.ID, UserCopyOf(post), current)
}

// addedCopies returns by how many the user's live copies increase when the post's copy is written:
// -1, 0 or 1.
func addedCopies(post *blog.Post, current CopyState) (added int64) {
	if !post.Deleted {
		added++
	}
	if current.exists() && !current.Deleted {
		added--
	}
	return added
}

// writeCountedCopy writes the copy in one transaction with the user's postCount.
func (v *Views) writeCountedCopy(ctx context.Context, userID string, post *blog.Post, current CopyState, added int64) error {
	item := UserCopyOf(post)
	text, err := cosmos.EncodeItem(item)
	if err != nil {
		return cosmos.ToBlogError(err)
	}
	batch := v.users.NewTransactionalBatch(azcosmos.NewPartitionKeyString(userID))
	batch.PatchItem(userID, IncrementPostCount(added), nil)
	if current.exists() {
		batch.ReplaceItem(post.ID, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &current.ETag})
	} else {
		batch.CreateItem(text, nil)
	}
	response, err := v.users.ExecuteTransactionalBatch(ctx, batch, nil)
	switch {
	case err != nil || response.Success:
		return cosmos.ToBlogError(err)
	case len(response.OperationResults) > 0 && response.OperationResults[0].StatusCode == http.StatusNotFound:
		return writeCopy(ctx, v.users, userID, post.ID, item, current) // the user is gone: there is no count
	}
	return cosmos.BatchError(response)
}

// IncrementPostCount returns the change that adds to a user's postCount. It leaves the user's
// revision.
func IncrementPostCount(added int64) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/postCount", added)
	return changes
}
