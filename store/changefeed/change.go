package changefeed

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Change is one item of a change feed. At most one of User, Post and Comment is set. None is set
// for likes, content items, or the copies of posts in users.
type Change struct {
	Container    string
	PartitionKey string
	ID           string
	ResourceID   string // of the container; empty if the item itself was read (Feeds.Change)
	History      string // the name of the history in which it was read, as the reader knows it; or empty

	User     *blog.User
	Renaming bool          // the user announced another username, and may not have it yet
	Post     *blog.Post    // as schema.PostItem.ViewSource returns it
	Comment  *blog.Comment // without content
	Deleted  bool          // the user, post or comment is marked as deleted
	Expires  bool          // the item has a ttl: everything that follows from its deletion is done

	// Err reports why the item could not be decoded. If it is set, only Container is certain to be
	// set.
	Err error
}

// Change reads an item of users or posts and returns it as its change feed would return it now.
// Error: NOT_FOUND.
func (f *Feeds) Change(ctx context.Context, container, partitionKey, id string) (Change, error) {
	response, err := f.db.Container(container).ReadItem(ctx, azcosmos.NewPartitionKeyString(partitionKey), id, nil)
	if err != nil {
		return Change{}, cosmos.ToBlogError(err)
	}
	return changeOf(container, response.Value), nil
}

func changesOf[T ~[]byte](container string, items []T) []Change {
	changes := make([]Change, len(items))
	for i, item := range items {
		changes[i] = changeOf(container, item)
	}
	return changes
}

func changeOf(container string, text []byte) Change {
	var head changedHead
	err := cosmos.Decode(text, &head)
	if err != nil {
		err = json.Unmarshal(text, &head) // also decodes the properties around a malformed one
	}
	change := head.change(container)
	if err == nil {
		err = change.decode(head.Type, text)
	}
	if err != nil {
		change.Err = fmt.Errorf("changefeed: decoding an item of %s: %w", container, err)
	}
	return change
}

// changedHead has the properties that a Change needs of every item, whatever its type.
type changedHead struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	UserID  string `json:"userId"`
	PostID  string `json:"postId"`
	Deleted bool   `json:"deleted"`
	TTL     int32  `json:"ttl"`
}

func (h changedHead) change(container string) Change {
	change := Change{
		Container:    container,
		PartitionKey: h.PostID,
		ID:           h.ID,
		Deleted:      h.Deleted,
		Expires:      h.TTL > 0,
	}
	if container == schema.Users {
		change.PartitionKey = h.UserID
	}
	return change
}

// decode decodes an item by its type, and sets User, Post or Comment. Likes, and the copies of
// posts in users, are decoded only to report malformed ones. A content item changes with its post,
// whose change says everything.
func (c *Change) decode(itemType string, text []byte) error {
	switch {
	case c.Container == schema.Users && itemType == schema.TypeUser:
		var item schema.UserItem
		if err := cosmos.Decode(text, &item); err != nil {
			return err
		}
		c.User, c.Renaming = item.User(), item.PendingUsername != ""
	case itemType == schema.TypePost || c.Container == schema.Users && itemType == schema.TypeTombstone:
		var item postWithoutContent
		if err := cosmos.Decode(text, &item); err != nil {
			return err
		}
		if c.Container == schema.Posts {
			c.Post = item.ViewSource()
		}
	case c.Container == schema.Posts && (itemType == schema.TypeComment || itemType == schema.TypeTombstone):
		var item commentWithoutContent
		if err := cosmos.Decode(text, &item); err != nil {
			return err
		}
		c.Comment = item.Comment(&blog.Post{ID: item.PostID})
	case c.Container == schema.Posts && itemType == schema.TypeLike:
		return cosmos.Decode(text, new(schema.LikeItem))
	}
	return nil
}

// postWithoutContent and commentWithoutContent skip the content of an item, which can be long. The
// outer field hides the one of the item.
type (
	postWithoutContent struct {
		schema.PostItem
		Content skipped `json:"content"`
	}
	commentWithoutContent struct {
		schema.CommentItem
		Content skipped `json:"content"`
	}
)

// skipped is a property of any type whose value is not kept.
type skipped struct{}

// UnmarshalJSON accepts any value.
func (*skipped) UnmarshalJSON([]byte) error { return nil }
