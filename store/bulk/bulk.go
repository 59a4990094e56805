package bulk

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// requests, for data that is there already as a whole: a data set. Each can be broken off and begun again at any time,
// and again after it was done: what is there is recognised and stays. All take as long as the account makes them: a
// throttled request is no failure, it is waited for.

// WriteUser makes a user with a given id and creation date, in the steps of CreateUser. Where the user is there, under
// whatever name, it is given as it stands. Errors: BAD_USER_INPUT, USERNAME_TAKEN; CONFLICT where the user is being
// deleted.
func (s *Writer) WriteUser(ctx context.Context, userID, username string, creationDate blog.DateTime) (user *blog.User, err error) {
	err = s.db.Persist(ctx, func() error {
		if user, err = s.store.User(ctx, userID); !cosmos.IsNotFound(err) {
			return err
		}
		user, err = s.store.CreateUserAt(ctx, userID, username, creationDate)
		return err
	})
	return user, err
}

// WriteUserPosts writes the short copies of posts in their author's partition of users, as ProjectUserPost does for each:
// in one transaction for many, with the user's count of them, where none of them is there yet. The posts are as
// WriteThread gave them; those that were deleted since are the projector's alone.
func (s *Writer) WriteUserPosts(ctx context.Context, userID string, posts []*blog.Post) error {
	for chunk := range slices.Chunk(withoutDeleted(posts), cosmos.MaxBatchOperations-1) {
		if err := s.writeUserPosts(ctx, userID, chunk); err != nil {
			return err
		}
	}
	return nil
}

func withoutDeleted(posts []*blog.Post) []*blog.Post {
	live := make([]*blog.Post, 0, len(posts))
	for _, post := range posts {
		if !post.Deleted {
			live = append(live, post)
		}
	}
	return live
}

func (s *Writer) writeUserPosts(ctx context.Context, userID string, posts []*blog.Post) error {
	batch := s.users.NewTransactionalBatch(azcosmos.NewPartitionKeyString(userID))
	batch.PatchItem(userID, views.CountingPosts(int64(len(posts))), nil)
	for _, post := range posts {
		text, err := cosmos.EncodeItem(views.CopyOf(post))
		if err != nil {
			return cosmos.ToBlogError(err)
		}
		batch.CreateItem(text, nil)
	}
	err := s.db.Persist(ctx, func() error { return cosmos.ExecuteBatch(ctx, s.users, batch) })
	if !cosmos.IsConflict(err) {
		return err
	}
	for _, post := range posts { // the projector was faster, or an earlier run
		err := s.db.Persist(ctx, func() error {
			_, err := s.views.ProjectUserPost(ctx, post)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteFeedPosts brings posts into the feed, as ProjectFeedPost does. To leave the feed as if all posts of a data set had
// come through it, its FeedCapacity+1 newest are enough, the oldest of them first: the first one is trimmed by the last
// and so becomes the horizon, below which the others are.
func (s *Writer) WriteFeedPosts(ctx context.Context, posts []*blog.Post) error {
	for _, post := range withoutDeleted(posts) {
		err := s.db.Persist(ctx, func() error {
			_, err := s.views.ProjectFeedPost(ctx, post)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
