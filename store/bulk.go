package store

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// The functions of this file and of bulk_thread.go write what the commands and the projector would, in far fewer
// requests, for data that is there already as a whole: a data set. Each can be broken off and begun again at any time,
// and again after it was done: what is there is recognised and stays. All take as long as the account makes them: a
// throttled request is no failure, it is waited for.

// WriteUser makes a user with a given id and creation date, in the steps of CreateUser. Where the user is there, under
// whatever name, it is given as it stands. Errors: BAD_USER_INPUT, USERNAME_TAKEN; CONFLICT where the user is being
// deleted.
func (s *Store) WriteUser(ctx context.Context, userID, username string, creationDate blog.DateTime) (user *blog.User, err error) {
	err = s.persist(ctx, func() error {
		if user, err = s.User(ctx, userID); !isNotFound(err) {
			return err
		}
		user, err = s.takeUsername(ctx, &naming{userID: userID, username: username, creating: true, created: creationDate})
		return err
	})
	return user, err
}

// WriteUserPosts writes the short copies of posts in their author's partition of users, as ProjectUserPost does for each:
// in one transaction for many, with the user's count of them, where none of them is there yet. The posts are as
// WriteThread gave them; those that were deleted since are the projector's alone.
func (s *Store) WriteUserPosts(ctx context.Context, userID string, posts []*blog.Post) error {
	for chunk := range slices.Chunk(withoutDeleted(posts), maxBatch-1) {
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

func (s *Store) writeUserPosts(ctx context.Context, userID string, posts []*blog.Post) error {
	batch := s.users.NewTransactionalBatch(azcosmos.NewPartitionKeyString(userID))
	batch.PatchItem(userID, countingPosts(int64(len(posts))), nil)
	for _, post := range posts {
		text, err := itemJSON(copyOf(post))
		if err != nil {
			return asBlogError(err)
		}
		batch.CreateItem(text, nil)
	}
	err := s.persist(ctx, func() error { return executeBatch(ctx, s.users, batch) })
	if !isConflict(err) {
		return err
	}
	for _, post := range posts { // the projector was faster, or an earlier run
		err := s.persist(ctx, func() error {
			_, err := s.ProjectUserPost(ctx, post)
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
func (s *Store) WriteFeedPosts(ctx context.Context, posts []*blog.Post) error {
	for _, post := range withoutDeleted(posts) {
		err := s.persist(ctx, func() error {
			_, err := s.ProjectFeedPost(ctx, post)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// FeedCapacity is how many posts feed keeps, by the trigger truncateFeed: those it shows, and a reserve.
const FeedCapacity = 200

// executeBatch executes a transactional batch. Error: CONFLICT where one of its operations found another state than the
// batch was made for; then nothing of it was done.
func executeBatch(ctx context.Context, c *azcosmos.ContainerClient, batch azcosmos.TransactionalBatch) error {
	response, err := c.ExecuteTransactionalBatch(ctx, batch, nil)
	if err != nil || response.Success {
		return asBlogError(err)
	}
	return batchRefusal(response)
}

var errNotAsTheyWere = blog.Errorf(blog.Conflict, "The items are not as they were.")

// batchRefusal is the error of a batch of which nothing was done because of one of its operations.
func batchRefusal(response azcosmos.TransactionalBatchResponse) error {
	for _, result := range response.OperationResults {
		switch result.StatusCode {
		case http.StatusFailedDependency:
		case http.StatusConflict, http.StatusPreconditionFailed, http.StatusNotFound:
			return errNotAsTheyWere
		case http.StatusTooManyRequests, statusRetryWith:
			return &blog.Error{Code: blog.Throttled, Message: tooMany, RetryAfter: defaultRetryAfter}
		default:
			return blog.Errorf(blog.Internal, "An operation of a batch was refused with %d.", result.StatusCode)
		}
	}
	return nil
}

// What fails with an unknown outcome is tried again at most this often, and the delays between two tries double from the
// first to the last: enough for a service that is moved to other machines.
const (
	persistTries      = 10
	firstPersistDelay = 100 * time.Millisecond
	lastPersistDelay  = 10 * time.Second
)

// persist takes a step until it is done or refused for good. The step must be safe to take again after it was done.
func (s *Store) persist(ctx context.Context, step func() error) error {
	delay := firstPersistDelay
	for failures := 0; ; {
		err := step()
		switch {
		case err == nil:
			return nil
		case blog.CodeOf(err) == blog.Throttled:
			wait := retryAfter(err)
			if s.again.sleep(ctx, wait+rand.N(wait)) != nil { // those who met part
				return err
			}
		case outcomeUnknown(ctx, err):
			if failures++; failures == persistTries || s.again.sleep(ctx, delay) != nil {
				return err
			}
			delay = min(2*delay, lastPersistDelay)
		default:
			return err
		}
	}
}
