package export

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// change is an item of a page of a change feed.
type change struct {
	Type      string `json:"type"`
	Timestamp int64  `json:"_ts"` // of the write, in seconds since 1970

	text []byte
}

func (c change) date() time.Time  { return time.Unix(c.Timestamp, 0).UTC() }
func (c change) changed() int64   { return c.date().UnixMicro() }
func (c change) calendar() string { return c.date().Format(time.DateOnly) }

// writePage writes the rows of a page, one date after the other, and returns its changes. from is
// the context for further reads.
func (r *run) writePage(from context.Context, container string, page changefeed.Page) ([]change, error) {
	changes := make([]change, len(page.Items))
	for i, text := range page.Items {
		changes[i].text = text
		if err := cosmos.Decode(text, &changes[i]); err != nil {
			r.malformed(container, err)
			changes[i].Type = "" // has no rows
		}
	}
	for begin := 0; begin < len(changes); {
		end := begin + 1
		for end < len(changes) && changes[end].calendar() == changes[begin].calendar() {
			end++
		}
		if err := r.batch.setDate(changes[begin].calendar()); err != nil {
			return nil, err
		}
		if err := r.writeChanges(from, container, changes[begin:end]); err != nil {
			return nil, err
		}
		begin = end
	}
	return changes, nil
}

// writeChanges writes the rows of changes of one date. It reads up to Options.Parallel posts at a
// time.
func (r *run) writeChanges(from context.Context, container string, changes []change) error {
	group, ctx := errgroup.WithContext(from)
	group.SetLimit(r.options.Parallel)
	for _, c := range changes {
		var err error
		switch {
		case container == schema.Users && c.Type == schema.TypeUser:
			err = r.writeUser(c)
		case container == schema.Posts && c.Type == schema.TypePost:
			group.Go(func() error { return r.writePost(ctx, c) })
		case container == schema.Posts && (c.Type == schema.TypeComment || c.Type == schema.TypeTombstone):
			err = r.writeComment(c)
		}
		if err != nil {
			return errors.Join(err, group.Wait())
		}
	}
	return group.Wait()
}

func (r *run) malformed(container string, err error) {
	if r.options.Malformed != nil {
		r.options.Malformed(fmt.Errorf("an item of %s cannot be decoded: %w", container, err))
	}
}

func (r *run) writeUser(c change) error {
	var item schema.UserItem
	if err := cosmos.Decode(c.text, &item); err != nil {
		r.malformed(schema.Users, err)
		return nil
	}
	row, ok := userRow(&item, c.changed(), r.sequence.Add(1))
	if !ok {
		return nil
	}
	return add(r.batch, &r.batch.users, row)
}

func (r *run) writeComment(c change) error {
	var item schema.CommentItem
	if err := cosmos.Decode(c.text, &item); err != nil {
		r.malformed(schema.Posts, err)
		return nil
	}
	return add(r.batch, &r.batch.comments, commentRow(&item, c.changed(), r.sequence.Add(1)))
}

// writePost writes the rows of a post with its tags and likes.
func (r *run) writePost(ctx context.Context, c change) error {
	var item postItem
	if err := cosmos.Decode(c.text, &item); err != nil {
		r.malformed(schema.Posts, err)
		return nil
	}
	if item.Deleted {
		sequence := r.sequence.Add(1)
		return add(r.batch, &r.batch.posts, postRow(&item.PostItem, "", item.changed(), sequence))
	}
	item, content, ok, err := r.readContent(ctx, item)
	if err != nil || !ok {
		return err
	}
	sequence, err := r.writeLikes(ctx, item.PostID)
	if err != nil {
		return err
	}
	tags := make([]Tag, len(item.Tags))
	for i, name := range item.Tags {
		tags[i] = Tag{item.PostID, name, sequence}
	}
	if err := add(r.batch, &r.batch.tags, tags...); err != nil {
		return err
	}
	return add(r.batch, &r.batch.posts, postRow(&item.PostItem, content, item.changed(), sequence))
}

// postItem is a post with the date of its last write.
type postItem struct {
	schema.PostItem
	Timestamp int64 `json:"_ts"`
}

func (i *postItem) changed() int64 { return change{Timestamp: i.Timestamp}.changed() }

// maxContentReads is the number of reads of a post that changes while its content is read.
const maxContentReads = 5

// readContent returns the content of a post. If that is an item of its own, and of a later edit, it
// also returns the later state of the post. ok is false if the post is deleted meanwhile or changes
// all the time: the feed then shows it again.
func (r *run) readContent(ctx context.Context, item postItem) (now postItem, content string, ok bool, err error) {
	for range maxContentReads {
		if !item.HasContentItem() {
			return item, item.Content, !item.Deleted, nil
		}
		found, err := read[schema.ContentItem](ctx, r, item.PostID, schema.ContentID)
		if err == nil && found.Version == item.ContentVersion {
			return item, found.Content, true, nil
		}
		if err != nil && !cosmos.IsNotFound(err) {
			return item, "", false, err
		}
		later, err := read[postItem](ctx, r, item.PostID, item.PostID)
		if cosmos.IsNotFound(err) {
			return item, "", false, nil
		}
		if err != nil {
			return item, "", false, err
		}
		if item = *later; item.Deleted {
			return item, "", false, nil
		}
	}
	return item, "", false, nil
}

// read reads an item of posts.
func read[T any](ctx context.Context, r *run, partition, id string) (item *T, err error) {
	err = r.db.RetryTransient(ctx, func() (err error) {
		item, _, err = cosmos.Read[T](ctx, r.posts, partition, id)
		return err
	})
	return item, err
}

const likesQuery = `SELECT c.userId, c.creationDate FROM c WHERE c.type = 'like'`

// writeLikes writes the rows of the likes of a post, and returns their number. If a read fails, it
// writes all of them again with another number. The rows of before then belong to no state.
func (r *run) writeLikes(ctx context.Context, postID string) (sequence int64, err error) {
	var failed error // of the disk, after which nothing is tried again
	err = r.db.RetryTransient(ctx, func() error {
		sequence = r.sequence.Add(1)
		key := azcosmos.NewPartitionKeyString(postID)
		for page, err := range cosmos.Pages[schema.LikeItem](ctx, r.posts, key, likesQuery, 0) {
			if err != nil {
				return err
			}
			rows := make([]Like, len(page))
			for i := range page {
				rows[i] = likeRow(postID, &page[i], sequence)
			}
			if failed = add(r.batch, &r.batch.likes, rows...); failed != nil {
				return nil
			}
		}
		return nil
	})
	return sequence, errors.Join(err, failed)
}
