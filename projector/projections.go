package projector

import (
	"context"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// The names of projections.
const (
	renamedUsers   = "usernames"
	deletedUsers   = "deletions"
	userPosts      = "userPosts"
	feed           = "feed"
	deletedContent = "deleted"
)

// projections returns the projections of a container's changes, in order. When a post is deleted,
// its copies become tombstones before its own items are deleted.
func (p *Projector) projections(container string) []projection {
	return projections(p.views, p.pending, container, p.counts, p.refillGate, p.wakeups)
}

func projections(v *views.Views, pending *chores.Chores, container string, c *counts, gate *refillGate, wake wakeups) []projection {
	switch container {
	case schema.Users:
		return []projection{ofRenamedUsers(pending, wake.sweeps), ofDeletedUsers(pending, wake.deletions)}
	case schema.Posts:
		return []projection{ofUserPosts(v, c), ofFeed(v, c, gate), ofDeletedContent(pending, wake.purges)}
	}
	return nil
}

// ofUserPosts maintains the short copies of posts in the author's partition of users: the view of
// query Q3.
func ofUserPosts(v *views.Views, c *counts) projection {
	view := func(change changefeed.Change) views.PostView { return v.UserPostView(change.Post.Author.ID) }
	return projection{name: userPosts, handles: mayChangeViews, view: view, project: intoView(userPosts, view, c)}
}

// ofFeed maintains the short copies of the most recent posts in the container feed: the view of
// query Q6. It refills the feed if deletions have removed too many copies.
func ofFeed(v *views.Views, c *counts, gate *refillGate) projection {
	view := func(changefeed.Change) views.PostView { return v.FeedView() }
	project := intoView(feed, view, c)
	refill := func(ctx context.Context) error { return v.RefillFeed(ctx) }
	return projection{
		name: feed, handles: mayChangeViews, view: view, finish: refill,
		project: func(ctx context.Context, change changefeed.Change) error {
			if !change.Deleted {
				return project(ctx, change)
			}
			return gate.remove(ctx, func() error { return project(ctx, change) }, func() error { return refill(ctx) })
		},
	}
}

// mayChangeViews reports whether the views of a changed post may need a write. The ttl of
// a deleted post is set only after its views are done.
func mayChangeViews(change changefeed.Change) bool { return change.Post != nil && !change.Expires }

// intoView returns the function that projects a post into a view.
func intoView(name string, view func(changefeed.Change) views.PostView, c *counts) func(context.Context, changefeed.Change) error {
	return func(ctx context.Context, change changefeed.Change) error {
		written, err := view(change).Project(ctx, change.Post)
		if err == nil {
			c.view(name, change, written)
		}
		return err
	}
}

// ofDeletedContent completes the deletion of posts and comments, in the end by a ttl. It runs after
// the views are written. If the ttl were set first, the post could expire before its copies become
// tombstones, and they would remain. It sets the ttl of a deleted comment and removes its text. It
// records a purge for a deleted post, whose copies are tombstones by now. The chore of purges
// deletes the comments and likes, so that a post with many of them does not block later changes.
func ofDeletedContent(pending *chores.Chores, wake chan<- struct{}) projection {
	return projection{
		name: deletedContent, concludes: true,
		handles: func(change changefeed.Change) bool {
			return change.Deleted && !change.Expires && (change.Post != nil || change.Comment != nil)
		},
		project: func(ctx context.Context, change changefeed.Change) error {
			if change.Comment != nil {
				return pending.ExpireComment(ctx, change.PartitionKey, change.ID, change.Comment.Author.ID)
			}
			return waking(wake, pending.RecordPurge(ctx, change.ID))
		},
	}
}

// ofDeletedUsers records a deletion for each deleted user. The chore of deletions deletes the
// user's items, so that a user with many items does not block later changes.
func ofDeletedUsers(pending *chores.Chores, wake chan<- struct{}) projection {
	return projection{
		name:    deletedUsers,
		handles: func(change changefeed.Change) bool { return change.User != nil && change.Deleted && !change.Expires },
		project: func(ctx context.Context, change changefeed.Change) error {
			return waking(wake, pending.RecordDeletion(ctx, chores.Deletion{UserID: change.User.ID, Revision: change.User.Revision}))
		},
	}
}

// ofRenamedUsers records a sweep for each renamed user. The chore of sweeps writes the new username
// to the user's items, so that a user with many items does not block later changes. Updates of the
// user's post count are changes of the user too. Each costs one point read, by which RecordSweep
// finds the earlier sweep and writes nothing.
//
// A sweep is recorded also while a rename is in progress, when the user still has the former name.
// The change feed shows only the latest state, so the change of an earlier, completed rename may
// never have been read, and the current rename may never complete. That sweep has only the final
// pass, which waits for the command deadline.
func ofRenamedUsers(pending *chores.Chores, wake chan<- struct{}) projection {
	return projection{
		name: renamedUsers, handles: mayBeRenamed,
		project: func(ctx context.Context, change changefeed.Change) error {
			return waking(wake, pending.RecordSweep(ctx, chores.Sweep{
				UserID:         change.User.ID,
				Username:       change.User.Username,
				AuthorRevision: change.User.Revision,
				Last:           change.Renaming,
				ResourceID:     change.ResourceID,
				History:        change.History,
			}))
		},
	}
}

// firstNameRevision is the revision in which a user gets the first username. The user has no items
// from earlier revisions.
const firstNameRevision = 2

// announcedRevision is the revision in which a user announces the first username. If a later
// revision has no username either, the user announced several, and may have reserved them.
const announcedRevision = 1

func mayBeRenamed(change changefeed.Change) bool {
	switch {
	case change.User == nil || change.Deleted:
		return false
	case change.User.Username == "":
		return change.User.Revision > announcedRevision
	}
	return change.User.Revision > firstNameRevision
}

// waking wakes a chore if its work was recorded without an error, which waking returns.
func waking(wake chan<- struct{}, err error) error {
	if err == nil {
		wakeUp(wake)
	}
	return err
}
