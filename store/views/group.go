package views

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
)

// admission decides which posts without a copy get one in a transaction of several copies.
type admission struct {
	admits  func(*blog.Post) bool // the post gets a copy, if there is room
	refuses func(*blog.Post) bool // the post gets none; the others are projected alone
	room    int                   // how many copies the transaction may create

	// account adds to the transaction what has to change with the number of created copies.
	account func(batch *azcosmos.TransactionalBatch, created int)
}

// maxGroup is the number of copies in one transaction, beside the item that counts them.
const maxGroup = cosmos.MaxBatchOperations - 1

// ProjectGroup is Project for several posts that are not deleted, with few requests: it reads the
// copies together, and writes them in one transaction, each on condition that it is still in the
// state that was read. The posts must be different. ProjectGroup returns whether it wrote the copy,
// by the id of the post. Posts that are absent from the result must be projected alone: an error
// that concerns an item makes the whole transaction fail. ProjectGroup returns such an error to
// nobody, but all others (cosmos.IsItemError).
func (v PostView) ProjectGroup(ctx context.Context, posts []*blog.Post) (map[string]bool, error) {
	ctx = cosmos.InSession(ctx)
	written := make(map[string]bool, len(posts))
	for len(posts) > 1 {
		err := cosmos.RetryOnConflict(func() error { return v.projectRound(ctx, posts, written) })
		var left []*blog.Post
		for _, post := range posts {
			if _, done := written[post.ID]; !done {
				left = append(left, post)
			}
		}
		if err == nil && len(left) > 0 { // after the trigger of this write, there is room again
			written[left[0].ID], err = v.Project(ctx, left[0])
			if err != nil {
				delete(written, left[0].ID)
			}
			posts = left[1:]
		}
		switch {
		case cosmos.IsItemError(err):
			return written, nil
		case err != nil:
			return written, err
		case len(left) == 0:
			return written, nil
		}
	}
	return written, nil
}

// projectRound projects as many posts as one transaction can. It adds them to written only after
// the transaction was committed.
func (v PostView) projectRound(ctx context.Context, posts []*blog.Post, written map[string]bool) error {
	states, admission, err := v.decideGroup(ctx, posts)
	if err != nil {
		return err
	}
	batch := v.client.NewTransactionalBatch(azcosmos.NewPartitionKeyString(v.Partition))
	var unchanged, changed []string
	created := 0
	for _, post := range posts {
		state := states[post.ID]
		switch {
		case state.exists() && !state.isBefore(post), !state.exists() && admission.refuses(post):
			unchanged = append(unchanged, post.ID)
			continue
		case post.Deleted || state.Deleted || len(changed) == maxGroup:
			continue // alone, or in the next transaction
		case !state.exists() && (!admission.admits(post) || created == admission.room):
			continue
		}
		text, err := cosmos.EncodeItem(v.copyOf(post))
		if err != nil {
			return cosmos.ToBlogError(err)
		}
		if state.exists() {
			batch.ReplaceItem(post.ID, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &state.ETag})
		} else {
			batch.CreateItem(text, nil)
			created++
		}
		changed = append(changed, post.ID)
	}
	if created > 0 {
		admission.account(&batch, created)
	}
	if len(changed) > 0 {
		if err := cosmos.ExecuteBatch(ctx, v.client, batch); err != nil {
			return err
		}
	}
	for _, id := range unchanged {
		written[id] = false
	}
	for _, id := range changed {
		written[id] = true
	}
	return nil
}

// decideGroup reads what decides about a group. Before a post without a copy is refused, it
// advances the session and reads again, as project does.
func (v PostView) decideGroup(ctx context.Context, posts []*blog.Post) (states map[string]CopyState, a admission, err error) {
	read := func() (refused *blog.Post, err error) {
		if states, err = v.readGroup(ctx, posts); err != nil {
			return nil, err
		}
		if a, err = v.admission(ctx); err != nil {
			return nil, err
		}
		for _, post := range posts {
			if !states[post.ID].exists() && a.refuses(post) {
				return post, nil
			}
		}
		return nil, nil
	}
	refused, err := read()
	if err == nil && refused != nil {
		if err = cosmos.AdvanceSessionOnce(ctx, v.client, v.Partition, refused.ID); err == nil {
			_, err = read()
		}
	}
	return states, a, err
}

// readGroup reads the states of the copies of posts by one query. A read many would omit items that
// it has no time to read.
func (v PostView) readGroup(ctx context.Context, posts []*blog.Post) (map[string]CopyState, error) {
	names := make([]string, len(posts))
	parameters := make([]azcosmos.QueryParameter, len(posts))
	for i, post := range posts {
		names[i] = fmt.Sprintf("@p%d", i)
		parameters[i] = azcosmos.QueryParameter{Name: names[i], Value: post.ID}
	}
	type row struct {
		ID string `json:"id"`
		CopyState
	}
	rows, err := cosmos.Query[row](ctx, v.client, v.Partition, "SELECT c.id, c.revision, c.deleted, c._etag FROM c"+
		" WHERE c.id IN ("+strings.Join(names, ", ")+")", len(posts), parameters...)
	states := make(map[string]CopyState, len(rows))
	for _, row := range rows {
		states[row.ID] = row.CopyState
	}
	return states, err
}

// admitAll admits all posts to their author's list, and counts them.
func admitAll(userID string) admission {
	return admission{
		admits:  func(*blog.Post) bool { return true },
		refuses: func(*blog.Post) bool { return false },
		room:    maxGroup,
		account: func(batch *azcosmos.TransactionalBatch, created int) {
			batch.PatchItem(userID, IncrementPostCount(int64(created)), nil)
		},
	}
}

// admitToFeed admits the posts above the horizon, until its room is used up. The transaction takes
// the room, on condition that the horizon was not written meanwhile. The trigger would do the same,
// so the transaction needs no trigger. Only the trigger trims the feed.
func (v *Views) admitToFeed(ctx context.Context) (admission, error) {
	horizon, etag, err := v.ReadHorizon(ctx)
	return admission{
		admits:  func(post *blog.Post) bool { return etag != "" && horizon.Admits(post) },
		refuses: func(post *blog.Post) bool { return !horizon.Admits(post) && !horizon.admitsDuringRefill(post) },
		room:    horizon.Room,
		account: func(batch *azcosmos.TransactionalBatch, created int) { takeRoom(batch, etag, created) },
	}, err
}

// takeRoom adds a change of the horizon's room to a transaction that creates copies.
func takeRoom(batch *azcosmos.TransactionalBatch, etag azcore.ETag, created int) {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/room", int64(-created))
	batch.PatchItem(HorizonID, changes, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &etag})
}

// ProjectUserPosts brings the copies of posts of one author up to date (PostView.ProjectGroup).
func (v *Views) ProjectUserPosts(ctx context.Context, posts []*blog.Post) (written map[string]bool, err error) {
	return v.UserPostView(posts[0].Author.ID).ProjectGroup(ctx, posts)
}

// ProjectFeedPosts brings the copies of posts in the feed up to date (PostView.ProjectGroup).
func (v *Views) ProjectFeedPosts(ctx context.Context, posts []*blog.Post) (written map[string]bool, err error) {
	return v.FeedView().ProjectGroup(ctx, posts)
}
