package changefeed

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Change is one item of a change feed. At most one of User, Post and Comment is set. None is set
// for likes, or for the copies of posts in users.
type Change struct {
	Container    string
	PartitionKey string
	ID           string
	ResourceID   string // of the container; empty if the item itself was read (Feeds.Change)

	User     *blog.User
	Renaming bool       // the user announced another username, and may not have it yet
	Post     *blog.Post // without content; its author's Revision is that of the copied username
	Comment  *blog.Comment
	Deleted  bool // the user, post or comment is marked as deleted
	Expires  bool // the item has a ttl: everything that follows from its deletion is done

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

func changesOf(container string, items [][]byte) []Change {
	changes := make([]Change, len(items))
	for i, item := range items {
		changes[i] = changeOf(container, item)
	}
	return changes
}

func changeOf(container string, item []byte) Change {
	var changed changedItem
	if err := json.Unmarshal(item, &changed); err != nil {
		change := changed.head(container) // the properties that could be decoded
		change.Err = fmt.Errorf("changefeed: decoding an item of %s: %w", container, err)
		return change
	}
	return changed.change(container)
}

// changedItem has the properties of all item types that a Change needs, without the long texts.
type changedItem struct {
	ID              string        `json:"id"`
	Type            string        `json:"type"`
	UserID          string        `json:"userId"`
	PostID          string        `json:"postId"`
	Username        string        `json:"username"`
	PendingUsername string        `json:"pendingUsername"`
	UserUsername    string        `json:"userUsername"`
	AuthorRevision  int64         `json:"authorRevision"`
	Title           string        `json:"title"`
	Excerpt         string        `json:"excerpt"`
	CommentCount    int           `json:"commentCount"`
	LikeCount       int           `json:"likeCount"`
	CreationDate    blog.DateTime `json:"creationDate"`
	UpdatedDate     blog.DateTime `json:"updatedDate"`
	PostCount       int           `json:"postCount"`
	Version         int           `json:"version"`
	Revision        int64         `json:"revision"`
	Deleted         bool          `json:"deleted"`
	TTL             int32         `json:"ttl"`
}

// head returns the part that all changes have.
func (c *changedItem) head(container string) Change {
	change := Change{
		Container:    container,
		PartitionKey: c.PostID,
		ID:           c.ID,
		Deleted:      c.Deleted,
		Expires:      c.TTL > 0,
	}
	if container == schema.Users {
		change.PartitionKey = c.UserID
	}
	return change
}

func (c *changedItem) change(container string) Change {
	change := c.head(container)
	switch {
	case container == schema.Users && c.Type == schema.TypeUser:
		change.User = c.user()
		change.Renaming = c.PendingUsername != ""
	case container == schema.Posts && c.Type == schema.TypePost:
		change.Post = c.post()
	case container == schema.Posts && c.Type == schema.TypeComment:
		change.Comment = &blog.Comment{ID: c.ID, Post: &blog.Post{ID: c.PostID}, Author: c.author(), CreationDate: c.CreationDate}
	}
	return change
}

func (c *changedItem) user() *blog.User {
	return &blog.User{
		ID:           c.ID,
		Username:     c.Username,
		CreationDate: c.CreationDate,
		PostCount:    c.PostCount,
		Revision:     c.Revision,
		Deleted:      c.Deleted,
	}
}

func (c *changedItem) post() *blog.Post {
	return &blog.Post{
		ID:           c.ID,
		Author:       c.author(),
		Title:        c.Title,
		Excerpt:      c.Excerpt,
		CommentCount: c.CommentCount,
		LikeCount:    c.LikeCount,
		CreationDate: c.CreationDate,
		UpdatedDate:  c.UpdatedDate,
		Version:      c.Version,
		Revision:     c.Revision,
		Deleted:      c.Deleted,
	}
}

func (c *changedItem) author() *blog.User {
	return &blog.User{ID: c.UserID, Username: c.UserUsername, Revision: c.AuthorRevision}
}
