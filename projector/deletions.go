package projector

import (
	"context"

	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// deletionTasks lists the deletions, which delete the posts, comments and likes of deleted users.
// The first pass starts at once. Final passes start after all commands that may have read the user
// have ended, and are repeated until one finds nothing. They also find deleted items without a ttl,
// so the deletion ends only after the projection deletedContent has processed all of them.
func deletionTasks(v *views.Views) func(context.Context) ([]task, error) {
	return tasksOf(v.Deletions, func(deletion views.Deletion) task {
		return task{
			id:        deletion.UserID,
			etag:      deletion.ETag,
			last:      deletion.Last,
			change:    userChange(deletion.UserID),
			isPending: isPending(v, schema.DeletionID(deletion.UserID), deletion.ETag),
			open:      func() views.Pass { return v.DeletionPass(deletion) },
			finish: func(ctx context.Context, ended *run) error {
				switch {
				case !deletion.Last:
					return v.FinishFirstDeletionPass(ctx, deletion)
				case ended.changed == 0:
					return v.FinishDeletion(ctx, deletion)
				}
				return nil
			},
			forget: func(ctx context.Context) error { return v.ForgetDeletion(ctx, deletion) },
		}
	})
}
