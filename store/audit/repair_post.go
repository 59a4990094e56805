package audit

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// repairPost corrects drifts of one partition of posts, of the post's copy in users, and of its
// entries in lists.
func (r repairer) repairPost(ctx context.Context, postID string, drifts []Drift) error {
	for _, d := range drifts {
		if err := r.repairItem(ctx, postID, d); err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	err := r.chores.RepairPost(ctx, postID)
	if err != nil && !cosmos.IsItemError(err) { // an unreadable copy fails the projection
		return err
	}
	if r.force {
		for _, d := range drifts {
			if d.Container == schema.Users {
				err = r.overwrite(ctx, r.views.UserPostView(d.Partition), d)
				break
			}
		}
		if err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	for _, d := range drifts {
		if d.Container == schema.Lists {
			if err := r.repairEntry(ctx, d); err != nil && !cosmos.IsItemError(err) {
				return err
			}
		}
	}
	return err
}

// repairItem corrects an item of a partition of posts, before the post is projected.
func (r repairer) repairItem(ctx context.Context, postID string, d Drift) error {
	item := chores.Remainder{ID: d.ID, PostID: postID, Type: d.item.Type, AuthorRevision: d.item.AuthorRevision}
	switch d.Kind {
	case DriftOrphan:
		return r.chores.DeleteOrphan(ctx, item)
	case DriftCount:
		return cosmos.RetryOnConflict(func() error { return r.recount(ctx, postID) })
	case DriftContent:
		if d.item.Type != schema.TypeContent { // a missing text cannot be known
			return nil
		}
		return d.removeItem(ctx, r.posts)
	case DriftExcerpt:
		var excerpt any // none if it equals the content
		if d.Should != "" {
			excerpt = d.Should
		}
		err := d.setProperty(ctx, r.posts, excerpt)
		if err == nil {
			err = r.restoreRecentComments(ctx, postID)
		}
		return err
	case DriftOrder:
		return d.setProperty(ctx, r.posts, d.Should)
	case DriftRecent:
		if d.Field == "lastCommentDate" {
			return d.setProperty(ctx, r.posts, d.Should)
		}
		return r.restoreRecentComments(ctx, postID)
	case DriftName:
		return r.repairName(ctx, postID, d)
	case DriftExpiry:
		return r.repairPostExpiry(ctx, postID, d)
	case DriftLeft:
		err := r.chores.DeleteRemainder(ctx, d.item.UserID, item)
		if err == nil && d.item.isComment() {
			err = r.chores.ExpireComment(ctx, postID, d.ID, d.item.UserID)
		}
		return err
	}
	return nil
}

// recount sets the counters of a post to the number of its comments and likes. Every new or deleted
// comment or like also changes the post, so a concurrent one makes this write fail. A script could
// not count many: its charge has a limit. Error: CONFLICT if the post changed meanwhile.
func (r repairer) recount(ctx context.Context, postID string) error {
	post, err := r.readItem(ctx, r.posts, postID, postID)
	if err != nil || post == nil || post.unreadable != nil || post.Type != schema.TypePost || post.Deleted {
		return err
	}
	items, err := r.readPartition(ctx, r.posts, postID, partitionQuery)
	if err != nil {
		return err
	}
	comments, likes := countResponses(items)
	var changes azcosmos.PatchOperations
	changes.AppendSet("/commentCount", comments)
	changes.AppendSet("/likeCount", likes)
	changes.AppendIncrement("/revision", 1)
	_, err = cosmos.Patch(ctx, r.posts, postID, postID, changes, post.ETag)
	return err
}

// repairName writes the user's current username to their items in one partition, as a sweep
// does. A sweep skips items whose authorRevision is not below the user's current revision;
// repairName overwrites such an item. Error: CONFLICT if that item changed since it was read.
func (r repairer) repairName(ctx context.Context, postID string, d Drift) error {
	user, _, err := cosmos.ReadLatest[schema.UserItem](cosmos.WithSession(ctx), r.users, d.item.UserID)
	if err != nil {
		return err
	}
	if d.item.has("authorRevision") && d.item.AuthorRevision < user.Revision {
		sweep := chores.Sweep{UserID: user.ID, Username: user.Username, AuthorRevision: user.Revision}
		_, err := r.chores.SweepPost(ctx, postID, sweep)
		return err
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/userUsername", user.Username)
	changes.AppendSet("/authorRevision", user.Revision)
	if d.item.Type == schema.TypePost {
		changes.AppendIncrement("/revision", 1)
	}
	_, err = cosmos.Patch(ctx, r.posts, postID, d.ID, changes, d.item.ETag)
	if err == nil && d.item.isComment() {
		err = r.restoreRecentComments(ctx, postID)
	}
	return err
}

// restoreRecentComments corrects the recent comments of a post. A missing post is no error.
func (r repairer) restoreRecentComments(ctx context.Context, postID string) error {
	err := r.chores.RestoreRecentComments(ctx, postID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	return err
}

// repairPostExpiry sets the ttl of a deleted comment, or removes that of a live item. It leaves
// deleted posts to RepairPost, which sets their ttl once everything that follows from the
// deletion is done.
func (r repairer) repairPostExpiry(ctx context.Context, postID string, d Drift) error {
	switch {
	case !d.item.Deleted:
		return d.correctTTL(ctx, r.posts)
	case d.item.isTombstone() || d.item.isComment():
		return r.chores.ExpireComment(ctx, postID, d.ID, d.item.UserID)
	}
	return nil
}
