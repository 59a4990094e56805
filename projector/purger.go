package projector

import (
	"context"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
)

// purgesLease is the lease of the purger: one projector alone purges.
const purgesLease = "lease.purges"

// purger deletes the comments and likes of deleted posts, and then gives those their ttl. There is one pass for each: nothing
// comes to a post that is deleted.
type purger struct{ chore }

// mostPurges is how many pending purges are in memory.
const mostPurges = 1000

// absences is how often a post is looked for, in a second and a half: every replica knows what was written that long ago.
const absences = 6

// step runs pending purges and tells whether there were any.
func (p *purger) step(ctx context.Context) (bool, error) {
	pending, err := p.store.Purges(ctx, mostPurges)
	if err != nil {
		return false, err
	}
	return passes(pending, func(purge store.Purge) error { return p.pass(ctx, purge) })
}

// pass runs a purge, or a part of one. That of a post which does not let it be done is set aside, when all is done that does;
// whoever retries that has it recorded anew.
func (p *purger) pass(ctx context.Context, purge store.Purge) error {
	var found, tries int
	var more bool
	done, err := p.attempts.at(ctx, deleted{}, postChange(purge.PostID), func() (err error) {
		found, more, err = p.store.Purge(ctx, purge, p.pace)
		if tries++; tries == absences && blog.CodeOf(err) == blog.NotFound {
			return nil // the post is gone
		}
		return err
	})
	switch {
	case err != nil || more:
		return err
	case done:
		p.counts.purges.Add(1)
		p.logger.Debug("purged a deleted post", "post", purge.PostID, "found", found)
	}
	return p.store.ForgetPurge(ctx, purge)
}

// postChange names a post's change, which what is wrong with its purge is set aside with.
func postChange(postID string) store.Change {
	return store.Change{Container: store.PostsContainer, PartitionKey: postID, ID: postID}
}
