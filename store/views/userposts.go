package views

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// UserPostView is the view of a user's posts, in the user's partition of users. In the transaction
// that creates a copy, or turns it into a tombstone, it also updates the user's postCount. The
// user's revision stays. It also maintains the lists of the post: see listedState.
func (v *Views) UserPostView(userID string) PostView {
	return PostView{schema.Users, userID, userPosts{v, userID}, v.users}
}

// userPosts are the copies of a user's posts.
type userPosts struct {
	*Views
	userID string
}

// admission admits all posts, and counts them.
func (u userPosts) admission(context.Context) (admission, error) {
	return admission{
		admits:  func(*blog.Post) bool { return true },
		refuses: func(*blog.Post) bool { return false },
		room:    maxGroup,
		account: func(batch *azcosmos.TransactionalBatch, created int) {
			batch.PatchItem(u.userID, IncrementPostCount(int64(created)), nil)
		},
	}, nil
}

// begin does nothing: groups of different users are in different partitions.
func (userPosts) begin(context.Context) (end func(), err error) { return func() {}, nil }

// write writes the copy, and the user's postCount if it changes.
func (u userPosts) write(ctx context.Context, post *blog.Post, current CopyState) error {
	if added := addedCopies(post, current); added != 0 {
		return u.writeCounted(ctx, post, current, added)
	}
	return writeCopy(ctx, u.users, u.userID, post.ID, u.copyOf(post, current), current)
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

// writeCounted writes the copy in one transaction with the user's postCount.
func (u userPosts) writeCounted(ctx context.Context, post *blog.Post, current CopyState, added int64) error {
	item := u.copyOf(post, current)
	_, err := writeCounted(ctx, u.users, u.userID, post.ID, item, current, u.userID, IncrementPostCount(added))
	if err == errNoCounter {
		return writeCopy(ctx, u.users, u.userID, post.ID, item, current) // the user is gone: there is no count
	}
	return err
}

// errNoCounter is the error of a write whose counter does not exist.
var errNoCounter = blog.Errorf(blog.NotFound, "There is no item that counts the copies.")

// writeCounted is writeCopy in one transaction with a change of the item that counts the copies. It
// returns that item. Error: errNoCounter if it does not exist; then nothing is written.
func writeCounted(
	ctx context.Context, c *azcosmos.ContainerClient, partition, id string, item any, current CopyState,
	counterID string, change azcosmos.PatchOperations,
) (counter []byte, err error) {
	text, err := cosmos.EncodeItem(item)
	if err != nil {
		return nil, cosmos.ToBlogError(err)
	}
	batch := c.NewTransactionalBatch(azcosmos.NewPartitionKeyString(partition))
	batch.PatchItem(counterID, change, nil)
	if current.exists() {
		batch.ReplaceItem(id, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &current.ETag})
	} else {
		batch.CreateItem(text, nil)
	}
	response, err := c.ExecuteTransactionalBatch(ctx, batch, &azcosmos.TransactionalBatchOptions{EnableContentResponseOnWrite: true})
	switch {
	case err != nil:
		return nil, cosmos.ToBlogError(err)
	case response.Success:
		return response.OperationResults[0].ResourceBody, nil
	case len(response.OperationResults) > 0 && response.OperationResults[0].StatusCode == http.StatusNotFound:
		return nil, errNoCounter
	}
	return nil, cosmos.BatchError(response)
}

// IncrementPostCount returns the change that adds to a user's postCount. It leaves the user's
// revision.
func IncrementPostCount(added int64) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/postCount", added)
	return changes
}
