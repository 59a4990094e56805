package store

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// DeletedTTL is how long a deleted item stays, once all that follows from its deletion is done. It is far above the time
// for which a worker that lost its lease may go on: a tombstone is still there when such a worker comes with the post as
// it was. And it is above the time in which a client repeats a command with its idempotency key.
const DeletedTTL = 7 * 24 * time.Hour

// ProjectFeedPost brings the short copy of a post in feed up to date, and tells whether it wrote. Nothing is written where
// the copy is as new as the post or newer. The copy of a deleted post is a tombstone. It may run concurrently with itself,
// also for other states of the same post: the newest stays. The post is one of a Change: its author's Revision is where
// its username is from.
//
// A post that is not in the feed comes in only where it is newer than all that were ever trimmed, or RefillFeed is about to
// bring it back; what becomes too many by it is trimmed with the same write. A deleted post leaves a tombstone, whether or not it was in the feed.
// Error: *MissingError where the trigger that does this is not there, which is no fault of the post.
func (s *Store) ProjectFeedPost(ctx context.Context, post *blog.Post) (bool, error) {
	v := s.feedView()
	return v.project(ctx, post, func(ctx context.Context, post *blog.Post, current copyState) (bool, error) {
		if !current.isThere() && !post.Deleted {
			horizon, _, err := s.feedHorizon(ctx)
			if err != nil || !horizon.isBefore(post) && !horizon.isRefilledWith(post) {
				return false, err
			}
		}
		return s.writeFeedCopy(ctx, post, current)
	})
}

// writeFeedCopy is the one way by which a live copy comes into the feed: with the trigger, which finds out whether it belongs there.
// Where there is more to trim than the trigger can do, that is done first.
func (s *Store) writeFeedCopy(ctx context.Context, post *blog.Post, current copyState) (bool, error) {
	v := s.feedView()
	if current.isThere() || post.Deleted {
		return v.write(ctx, post, current)
	}
	err := s.createFeedCopy(ctx, post)
	if isOutOfTime(err) {
		if err = s.shortenFeed(ctx); err == nil {
			err = s.createFeedCopy(ctx, post)
		}
	}
	return err == nil, err
}

func (s *Store) createFeedCopy(ctx context.Context, post *blog.Post) error {
	text, err := itemJSON(copyOf(post))
	if err != nil {
		return asBlogError(err)
	}
	_, err = s.feed.CreateItem(ctx, azcosmos.NewPartitionKeyString(feedPartition), text, namingTruncateFeed())
	return s.unlessTriggerMissing(ctx, asBlogError(err))
}

// namingTruncateFeed are the options of a write that the trigger runs behind.
func namingTruncateFeed() *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{PostTriggers: []string{truncateFeedScript.id}}
}

func (s *Store) feedView() view { return view{s.feed, feedPartition} }

// view is one partition that holds short copies.
type view struct {
	container *azcosmos.ContainerClient
	partition string
}

// copyState is what a copy tells of itself; zero where there is none.
type copyState struct {
	Revision int64       `json:"revision"`
	Deleted  bool        `json:"deleted"`
	ETag     azcore.ETag `json:"_etag"`
}

func (c copyState) isThere() bool { return c.ETag != "" }

// copyWriter writes the copy of a post over the state that it is in.
type copyWriter func(ctx context.Context, post *blog.Post, current copyState) (written bool, err error)

// project has the copy of the post written where there is none, or an older one.
func (v view) project(ctx context.Context, post *blog.Post, write copyWriter) (written bool, err error) {
	err = whileOutrun(func() error {
		current, _, err := read[copyState](ctx, v.container, v.partition, post.ID)
		switch {
		case isNotFound(err):
			current, err = new(copyState), nil
		case err != nil || current.Revision >= post.Revision:
			return err
		}
		written, err = write(ctx, post, *current)
		return err
	})
	return written, err
}

// write creates the copy, or replaces it where it is still in the state that was read.
func (v view) write(ctx context.Context, post *blog.Post, current copyState) (bool, error) {
	var err error
	if current.isThere() {
		_, err = replace(ctx, v.container, v.partition, post.ID, copyOf(post), current.ETag)
	} else {
		_, err = create(ctx, v.container, v.partition, copyOf(post))
	}
	return err == nil, err
}

// tombstoneItem stands in users and feed for the copy of a deleted post.
type tombstoneItem struct {
	ID           string        `json:"id"`
	PostID       string        `json:"postId"`
	UserID       string        `json:"userId"`
	Type         string        `json:"type"`
	CreationDate blog.DateTime `json:"creationDate"`
	Revision     int64         `json:"revision"`
	Deleted      bool          `json:"deleted"`
	TTL          int32         `json:"ttl"`
}

// copyOf gives the item that stands for the post in a view.
func copyOf(post *blog.Post) any {
	if post.Deleted {
		return tombstoneItem{
			ID:           post.ID,
			PostID:       post.ID,
			UserID:       post.Author.ID,
			Type:         typePost,
			CreationDate: post.CreationDate,
			Revision:     post.Revision,
			Deleted:      true,
			TTL:          int32(DeletedTTL.Seconds()),
		}
	}
	return postItem{
		ID:             post.ID,
		PostID:         post.ID,
		UserID:         post.Author.ID,
		Type:           typePost,
		UserUsername:   post.Author.Username,
		AuthorRevision: post.Author.Revision,
		Title:          post.Title,
		Excerpt:        post.Excerpt,
		CommentCount:   post.CommentCount,
		LikeCount:      post.LikeCount,
		CreationDate:   post.CreationDate,
		UpdatedDate:    post.UpdatedDate,
		Version:        post.Version,
		Revision:       post.Revision,
	}
}
