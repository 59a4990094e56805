package projector

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// maxPurges limits the number of pending purges in memory.
const maxPurges = 1000

// purgeTasks lists the purges, which delete the comments and likes of deleted posts and then set
// the ttl of the posts. One pass for each post is enough: a deleted post gets no new comments or
// likes.
func purgeTasks(v *views.Views) func(context.Context) ([]task, error) {
	list := func(ctx context.Context) ([]views.Purge, error) { return v.Purges(ctx, maxPurges) }
	return tasksOf(list, func(purge views.Purge) task {
		return task{
			id:        purge.PostID,
			etag:      purge.ETag,
			change:    postChange(purge.PostID),
			isPending: isPending(v, schema.PurgeID(purge.PostID), purge.ETag),
			open:      func() views.Pass { return &purgePass{Pass: v.PurgePass(purge.PostID)} },
			finish:    func(ctx context.Context, _ *run) error { return v.ForgetPurge(ctx, purge) },
			forget:    func(ctx context.Context) error { return v.ForgetPurge(ctx, purge) },
		}
	})
}

// postChange returns the change of a post item, under which the post's purge is set aside.
func postChange(postID string) changefeed.Change {
	return changefeed.Change{Container: schema.Posts, PartitionKey: postID, ID: postID}
}

// purgePass is a purge that ends without an error if its post is missing.
type purgePass struct {
	views.Pass
	notFound int // the number of reads that did not find the post
}

// maxNotFound is the number of reads, within 1.6 s, after which a missing post counts as gone. By
// then every replica has received older writes.
const maxNotFound = 6

func (p *purgePass) Next(ctx context.Context) ([]views.Step, bool, error) {
	page, done, err := p.Pass.Next(ctx)
	if err != nil && blog.CodeOf(err) == blog.NotFound {
		if p.notFound++; p.notFound == maxNotFound {
			return nil, true, nil
		}
	}
	return page, done, err
}
