package audit

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// mendPost mends one partition of posts, and the post's copy in users.
func (m mender) mendPost(ctx context.Context, postID string, drifts []Drift) error {
	for _, d := range drifts {
		if err := m.mendItem(ctx, postID, d); err != nil && !cosmos.IsItemError(err) {
			return err
		}
	}
	err := m.views.RepairPost(ctx, postID)
	if !m.force || err != nil && !cosmos.IsItemError(err) { // a copy that cannot be read keeps the projection from its post
		return err
	}
	for _, d := range drifts {
		if d.Container == schema.Users {
			return m.overwrite(ctx, m.views.UserPostView(d.Partition), d)
		}
	}
	return err
}

// mendItem mends what is wrong in a partition of posts before its post is projected.
func (m mender) mendItem(ctx context.Context, postID string, d Drift) error {
	switch d.Kind {
	case DriftOrphan:
		return m.views.DeleteOrphan(ctx, views.Remainder{ID: d.ID, PostID: postID, Type: d.item.Type})
	case DriftCount:
		_, err := m.views.RecountPost(ctx, postID)
		if cosmos.IsScriptTimeout(err) {
			err = m.recountByReading(ctx, postID)
		}
		return err
	case DriftName:
		return m.mendName(ctx, postID, d)
	case DriftExpiry:
		return m.mendExpiry(ctx, postID, d)
	case DriftLeft:
		err := m.views.DeleteRemainder(ctx, d.item.UserID, views.Remainder{ID: d.ID, PostID: postID, Type: d.item.Type})
		if err == nil && d.item.isComment() {
			err = m.views.ExpireComment(ctx, postID, d.ID)
		}
		return err
	}
	return nil
}

// recountByReading counts a post's comments and likes as the script recountPost does, for a post that has more of them than a
// script can count in its time. Each comment and like that comes or goes writes the post, too, and so makes this write fail.
func (m mender) recountByReading(ctx context.Context, postID string) error {
	post, err := m.readAudited(ctx, m.posts, postID, postID)
	if err != nil || post == nil || post.unreadable != nil || post.Type != schema.TypePost {
		return err
	}
	items, err := m.partition(ctx, m.posts, postID, partitionQuery)
	if err != nil {
		return err
	}
	comments, likes := liveResponses(items)
	var changes azcosmos.PatchOperations
	changes.AppendSet("/commentCount", comments)
	changes.AppendSet("/likeCount", likes)
	changes.AppendIncrement("/revision", 1)
	_, err = cosmos.Patch(ctx, m.posts, postID, postID, changes, post.ETag)
	return err
}

// mendName gives what a user wrote in one partition the user's name: as a sweep does, which leaves out what bears a revision
// of the user that is no smaller than the present one. That is written over.
func (m mender) mendName(ctx context.Context, postID string, d Drift) error {
	user, _, err := cosmos.Read[schema.UserItem](ctx, m.users, d.item.UserID, d.item.UserID)
	if err != nil {
		return err
	}
	if d.item.AuthorRevision < user.Revision {
		_, err := m.views.SweepPost(ctx, postID, views.Sweep{UserID: user.ID, Username: user.Username, AuthorRevision: user.Revision})
		return err
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/userUsername", user.Username)
	changes.AppendSet("/authorRevision", user.Revision)
	if d.item.Type == schema.TypePost {
		changes.AppendIncrement("/revision", 1)
	}
	_, err = cosmos.Patch(ctx, m.posts, postID, d.ID, changes, d.item.ETag)
	return err
}

// mendExpiry gives a deleted comment its ttl, and takes that of a live item away. A deleted post gets its ttl when all
// that follows from its deletion is done.
func (m mender) mendExpiry(ctx context.Context, postID string, d Drift) error {
	switch {
	case !d.item.Deleted:
		return setProperty(ctx, m.posts, postID, d.ID, "/ttl", nil, d.item.ETag)
	case d.item.isComment():
		return m.views.ExpireComment(ctx, postID, d.ID)
	}
	return nil
}
