package views

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// maxGroup is the number of copies in one transaction, beside the item that counts them. Together
// they have some 400 kB at most: most of a copy are its title and its excerpts, of 200 and three
// times 100 characters.
const maxGroup = cosmos.MaxBatchOperations - 1

// ProjectGroup is Project for several posts, with few requests: it reads the copies together, and
// writes them in one transaction, each on condition that it is still in the state that was read.
// The posts must be different. ProjectGroup returns whether it wrote the copy, by the id of the
// post.
//
// Posts that are absent from the result must be projected alone. All deleted posts are absent. If
// an operation of a transaction fails, all of them do. Errors that concern an item
// (cosmos.IsItemError) are therefore not returned: they occur again, for the faulty post only.
//
// Concurrent calls for the feed take turns: a call waits at most maxTurn for each one before it.
func (v PostView) ProjectGroup(ctx context.Context, posts []*blog.Post) (written map[string]bool, err error) {
	ctx = cosmos.InSession(ctx)
	end, err := v.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	written = make(map[string]bool, len(posts))
	left := slices.DeleteFunc(slices.Clone(posts), func(post *blog.Post) bool { return v.seen(post).Deleted })
	for len(left) > 1 && err == nil {
		if err = v.projectRound(ctx, left[:min(len(left), maxGroup)], written); err != nil {
			break
		}
		left = slices.DeleteFunc(left, func(post *blog.Post) bool {
			_, done := written[post.ID]
			return done
		})
		if len(left) > 0 { // a write with the trigger makes room for others
			err = v.projectFirst(ctx, left, written)
			left = left[1:]
		}
	}
	if cosmos.IsItemError(err) {
		return written, nil
	}
	return written, err
}

// projectFirst projects the first of the posts alone, and adds it to written.
func (v PostView) projectFirst(ctx context.Context, posts []*blog.Post, written map[string]bool) error {
	wrote, err := v.Project(ctx, posts[0])
	if err == nil {
		written[posts[0].ID] = wrote
	}
	return err
}

// projectRound projects as many posts as one transaction can. It adds them to written only after
// the transaction was committed. The first try assumes that new posts have no copies.
func (v PostView) projectRound(ctx context.Context, posts []*blog.Post, written map[string]bool) error {
	absent := isNew
	return cosmos.RetryOnConflict(func() error {
		states, admission, err := v.readGroup(ctx, posts, absent)
		if err != nil {
			return err
		}
		absent = func(*blog.Post) bool { return false }
		round, err := v.newRound(posts, states, admission)
		if err == nil && round.operations > 0 {
			err = v.executeRound(ctx, round, admission)
		}
		if err != nil {
			return err
		}
		if err := v.follow(ctx, round.projected); err != nil {
			return err
		}
		for _, p := range round.projected {
			written[p.post.ID] = p.written
		}
		return nil
	})
}

// executeRound executes the transaction of a round.
func (v PostView) executeRound(ctx context.Context, r round, a admission) error {
	if r.created == 0 || a.accounted == nil {
		return cosmos.ExecuteBatch(ctx, v.client, r.batch)
	}
	account, err := cosmos.ExecuteBatchAndReturnLast(ctx, v.client, r.batch)
	if err != nil {
		return err
	}
	return a.accounted(ctx, account, r.created)
}

// round is one transaction of a group.
type round struct {
	batch      azcosmos.TransactionalBatch
	operations int // of posts
	created    int // copies
	projected  []projected
}

// newRound returns the transaction for those of the posts that can share one.
func (v PostView) newRound(posts []*blog.Post, states map[string]CopyState, a admission) (r round, err error) {
	r.batch = v.client.NewTransactionalBatch(azcosmos.NewPartitionKeyString(v.Partition))
	for _, post := range posts {
		state := states[post.ID]
		switch {
		case state.exists() && !state.isBefore(post), !state.exists() && a.refuses(post):
			r.projected = append(r.projected, projected{post, state, false})
			continue
		case state.Deleted: // alone, because the write changes the count otherwise
			continue
		case !state.exists() && (!a.admits(post) || r.created == a.room):
			continue
		}
		if !state.exists() && a.arrive != nil {
			state.ArrivalDate = a.arrive()
		}
		text, err := cosmos.EncodeItem(v.copyOf(post, state))
		if err != nil {
			return r, cosmos.ToBlogError(err)
		}
		if state.exists() {
			r.batch.ReplaceItem(post.ID, text, &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &state.ETag})
		} else {
			r.batch.CreateItem(text, nil)
			r.created++
		}
		r.operations++
		r.projected = append(r.projected, projected{post, state, true})
	}
	if r.created > 0 {
		a.account(&r.batch, r.created)
	}
	return r, nil
}

// readGroup reads what decides about a group. It assumes that some posts have no copies. Before a
// post without a copy is refused, readGroup advances the session and reads again, as project does.
func (v PostView) readGroup(
	ctx context.Context, posts []*blog.Post, absent func(*blog.Post) bool,
) (states map[string]CopyState, a admission, err error) {
	for advanced := false; ; advanced = true {
		if states, err = v.readStates(ctx, slices.DeleteFunc(slices.Clone(posts), absent)); err != nil {
			return nil, a, err
		}
		if a, err = v.admission(ctx); err != nil {
			return nil, a, err
		}
		refused := slices.IndexFunc(posts, func(post *blog.Post) bool {
			return !states[post.ID].exists() && a.refuses(post)
		})
		if refused < 0 || advanced {
			return states, a, nil
		}
		if err = cosmos.AdvanceSessionOnce(ctx, v.client, v.Partition, posts[refused].ID); err != nil {
			return nil, a, err
		}
	}
}

// readStates reads the states of the copies of posts by one query. A read many would omit items
// that it has no time to read.
func (v PostView) readStates(ctx context.Context, posts []*blog.Post) (map[string]CopyState, error) {
	if len(posts) == 0 {
		return nil, nil
	}
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
	query := "SELECT c.id, c.revision, c.deleted, c._etag, c.version, c.authorRevision, c.userUsername, c.creationDate," +
		" c.updatedDate, c.head, c.formerLists, c.unlisted, c.arrivalDate FROM c WHERE c.id IN (" + strings.Join(names, ", ") + ")"
	rows, err := cosmos.Query[row](ctx, v.client, v.Partition, query, len(posts), parameters...)
	states := make(map[string]CopyState, len(rows))
	for _, row := range rows {
		states[row.ID] = row.CopyState
	}
	return states, err
}
