package projector

import (
	"context"

	"cosmosblog/internal/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// purgesLease is the lease of the purger: only its holder purges.
const purgesLease = "lease.purges"

// purger deletes the comments and likes of deleted posts, and then sets the ttl of the posts.
// One pass for each post is enough: a deleted post gets no new comments or likes.
type purger struct{ chore }

// maxPurges limits the pending purges in memory.
const maxPurges = 1000

// maxNotFound is the number of times that a missing post is read, within 1.5 s, until it counts
// as gone. By then every replica has received older writes.
const maxNotFound = 6

// step runs pending purges and reports whether there were any.
func (p *purger) step(ctx context.Context) (bool, error) {
	pending, err := p.views.Purges(ctx, maxPurges)
	if err != nil {
		return false, err
	}
	return runPasses(pending, func(purge views.Purge) error { return p.pass(ctx, purge) })
}

// pass runs a purge, or a part of it. If the deletion of an item is refused, the purge is set
// aside after all other items are deleted. Retrying the dead letter records the purge again.
func (p *purger) pass(ctx context.Context, purge views.Purge) error {
	var found, attempts int
	var more bool
	done, err := p.retrier.do(ctx, deletedContent{}, postChange(purge.PostID), func() (err error) {
		found, more, err = p.views.Purge(ctx, purge, p.pace)
		if attempts++; attempts == maxNotFound && blog.CodeOf(err) == blog.NotFound {
			return nil
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
	return p.views.ForgetPurge(ctx, purge)
}

// postChange returns the change of a post item, under which the post's purge is set aside.
func postChange(postID string) changefeed.Change {
	return changefeed.Change{Container: schema.Posts, PartitionKey: postID, ID: postID}
}
