package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"

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

// changesOf decodes what all items have. Those that cannot be decoded are of no type.
func (r *run) changesOf(container string, items [][]byte) []change {
	changes := make([]change, len(items))
	for i, text := range items {
		changes[i].text = text
		if err := cosmos.Decode(text, &changes[i]); err != nil {
			r.malformed(container, err)
			changes[i].Type = "" // has no rows
		}
	}
	return changes
}

// writeDates writes the rows of changes, one date after the other.
func (r *run) writeDates(container string, changes []change) error {
	for begin := 0; begin < len(changes); {
		end := begin + 1
		for end < len(changes) && changes[end].calendar() == changes[begin].calendar() {
			end++
		}
		if err := r.batch.setDate(changes[begin].calendar()); err != nil {
			return err
		}
		if err := r.writeChanges(container, changes[begin:end]); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// writeChanges writes the rows of changes of one date. It reads up to Options.Parallel posts at a
// time.
func (r *run) writeChanges(container string, changes []change) error {
	group, ctx := errgroup.WithContext(r.session)
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
		r.options.Malformed(fmt.Errorf("an item of %s: %w", container, err))
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
		return add(r.batch, &r.batch.posts, postRow(&item.PostItem, nil, item.changed(), r.sequence.Add(1)))
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
// also returns the later state of the post. A missing content is nil. ok is false if the post is
// deleted meanwhile or changes all the time: the feed then shows it again.
func (r *run) readContent(ctx context.Context, item postItem) (now postItem, content *string, ok bool, err error) {
	for range maxContentReads {
		if item.Deleted || !item.HasContentItem() {
			return item, &item.Content, !item.Deleted, nil
		}
		found, err := read[schema.ContentItem](ctx, r, item.PostID, schema.ContentID)
		if err != nil {
			return item, nil, false, err
		}
		if found != nil && found.Version == item.ContentVersion {
			return item, &found.Content, true, nil
		}
		later, err := read[postItem](ctx, r, item.PostID, item.PostID)
		if err != nil || later == nil {
			return item, nil, false, err
		}
		if later.ContentVersion == item.ContentVersion {
			r.malformed(schema.Posts, fmt.Errorf("the content of the post %s is missing", item.PostID))
			return *later, nil, true, nil
		}
		item = *later
	}
	return item, nil, false, nil
}

// read reads an item of posts. It returns nil if there is none, or if it cannot be decoded.
func read[T any](ctx context.Context, r *run, partition, id string) (*T, error) {
	var text *json.RawMessage
	err := r.db.RetryTransient(ctx, func() (err error) {
		text, _, err = cosmos.Read[json.RawMessage](ctx, r.posts, partition, id)
		return err
	})
	if cosmos.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	item := new(T)
	if err := cosmos.Decode(*text, item); err != nil {
		r.malformed(schema.Posts, err)
		return nil, nil
	}
	return item, nil
}

const (
	likesQuery = `SELECT c.userId, c.creationDate FROM c WHERE c.type = 'like'`
	likesPage  = 1000
)

// writeLikes writes the rows of the likes of a post, and returns their number.
func (r *run) writeLikes(ctx context.Context, postID string) (sequence int64, err error) {
	sequence = r.sequence.Add(1)
	var continuation *string
	for {
		var page []json.RawMessage
		var next *string
		err := r.db.RetryTransient(ctx, func() (err error) {
			pager := r.posts.NewQueryItemsPager(likesQuery, azcosmos.NewPartitionKeyString(postID),
				&azcosmos.QueryOptions{PageSizeHint: likesPage, ContinuationToken: continuation})
			page, next, err = cosmos.NextPage[json.RawMessage](ctx, pager, nil)
			return err
		})
		if err != nil {
			return sequence, err
		}
		rows := make([]Like, 0, len(page))
		for _, text := range page {
			var item schema.LikeItem
			if err := cosmos.Decode(text, &item); err != nil {
				r.malformed(schema.Posts, err)
				continue
			}
			rows = append(rows, likeRow(postID, &item, sequence))
		}
		if err := add(r.batch, &r.batch.likes, rows...); err != nil || next == nil {
			return sequence, err
		}
		continuation = next
	}
}
