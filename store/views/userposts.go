package views

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
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

func (userPosts) seen(post *blog.Post) *blog.Post { return post }

func (userPosts) copyOf(post *blog.Post, current CopyState) any {
	l := listingOf(post, current)
	switch {
	case !l.Unlisted:
		return UserCopyOf(post)
	case !post.Deleted:
		return struct {
			schema.PostItem
			listing
		}{newCopy(post), l}
	}
	tombstone := newTombstone(post, schema.TypeTombstone)
	tombstone.TTL = 0 // it expires only after its former lists are no longer needed
	return struct {
		schema.TombstoneItem
		listing
	}{tombstone, l}
}

func (userPosts) patch(post *blog.Post) (condition string, changes azcosmos.PatchOperations) {
	condition, changes = patchCounts(post)
	return condition + " and not is_defined(c.unlisted)", changes
}

// write writes the copy, and the user's postCount if it changes.
func (u userPosts) write(ctx context.Context, post *blog.Post, current CopyState) error {
	if added := addedCopies(post, current); added != 0 {
		return u.writeCounted(ctx, post, current, added)
	}
	return writeCopy(ctx, u.users, u.userID, post.ID, u.copyOf(post, current), current)
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

// IncrementPostCount returns the change that adds to a user's postCount. It leaves the user's
// revision.
func IncrementPostCount(added int64) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/postCount", added)
	return changes
}
