package bulk

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// WriteUser creates a user with a given id and creation date, in the steps of store.CreateUser.
// If the user exists, it changes nothing and returns the stored user, even with another
// username. Errors: BAD_USER_INPUT; USERNAME_TAKEN; CONFLICT if the user is being deleted.
func (w *Writer) WriteUser(ctx context.Context, userID, username string, creationDate blog.DateTime) (user *blog.User, err error) {
	err = w.db.RetryTransient(ctx, func() error {
		if user, err = w.store.User(ctx, userID); !cosmos.IsNotFound(err) {
			return err
		}
		user, err = w.store.CreateUserAt(ctx, userID, username, creationDate)
		return err
	})
	return user, err
}

// WriteUserPosts writes the short copies of posts in their author's partition of users, as
// views.PostView.Project does for each. If none of the copies exists, many are written in one
// transaction, together with the user's post count. posts are results of WriteThread. Deleted
// posts are skipped: only the projector handles them.
func (w *Writer) WriteUserPosts(ctx context.Context, userID string, posts []*blog.Post) error {
	for chunk := range slices.Chunk(withoutDeleted(posts), cosmos.MaxBatchOperations-1) {
		if err := w.writeUserPosts(ctx, userID, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) writeUserPosts(ctx context.Context, userID string, posts []*blog.Post) error {
	batch := w.users.NewTransactionalBatch(azcosmos.NewPartitionKeyString(userID))
	batch.PatchItem(userID, views.IncrementPostCount(int64(len(posts))), nil)
	for _, post := range posts {
		text, err := cosmos.EncodeItem(views.UserCopyOf(post))
		if err != nil {
			return cosmos.ToBlogError(err)
		}
		batch.CreateItem(text, nil)
	}
	err := w.db.RetryTransient(ctx, func() error { return cosmos.ExecuteBatch(ctx, w.users, batch) })
	if !cosmos.IsConflict(err) {
		return err
	}
	for _, post := range posts { // some copies exist: from the projector, or an earlier run
		err := w.db.RetryTransient(ctx, func() error {
			_, err := w.views.UserPostView(post.Author.ID).Project(ctx, post)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteFeedPosts writes posts to the feed, as views.PostView.Project does. To leave the feed as if
// all posts of a data set had passed through it, write only the newest FeedCapacity+1 posts, oldest
// first. The first post then becomes the horizon, and all other posts are below it.
func (w *Writer) WriteFeedPosts(ctx context.Context, posts []*blog.Post) error {
	posts = withoutDeleted(posts)
	for _, post := range posts {
		err := w.db.RetryTransient(ctx, func() error {
			_, err := w.views.FeedView().Project(ctx, post)
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(posts) <= views.FeedCapacity {
		return nil
	}
	return w.db.RetryTransient(ctx, func() error {
		return cosmos.RetryOnConflict(func() error { return w.raiseHorizon(ctx, posts[0]) })
	})
}

// raiseHorizon raises the horizon to a post, unless it is higher. Error: CONFLICT or NOT_FOUND if
// the horizon was written meanwhile.
func (w *Writer) raiseHorizon(ctx context.Context, post *blog.Post) error {
	horizon, etag, err := w.views.ReadHorizon(ctx)
	if err != nil || !horizon.Admits(post) {
		return err
	}
	return w.views.MoveHorizon(ctx, horizon, views.FeedPosition{CreationDate: post.CreationDate, ID: post.ID}, etag)
}

// WriteList writes the entries of posts in the list of a tag or month, as views.ProjectList does.
// The posts must belong to the list. Calls for the same list slow each other down.
func (w *Writer) WriteList(ctx context.Context, list blog.List, posts []*blog.Post) error {
	return w.db.RetryTransient(ctx, func() error { return w.views.ProjectList(ctx, list, withoutDeleted(posts)) })
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
