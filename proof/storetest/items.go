package storetest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// AddLike likes a post.
func (w *World) AddLike(user *blog.User, post *blog.Post) {
	w.T.Helper()
	_, err := w.LikePost(w.Ctx(), user, post.ID)
	w.OK(err)
}

// Plant creates an item without a command.
func (w *World) Plant(c *azcosmos.ContainerClient, partition string, item any) {
	w.T.Helper()
	if _, err := cosmos.Create(w.Ctx(), c, partition, item); err != nil {
		w.T.Fatal(err)
	}
}

// SortPositions sorts positions as lists do.
func SortPositions(positions []blog.Position, newestFirst bool) {
	slices.SortFunc(positions, func(a, b blog.Position) int {
		if newestFirst {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.CreationDate, b.CreationDate), cmp.Compare(a.ID, b.ID))
	})
}

// RemovePost deletes a post as its author.
func (w *World) RemovePost(post *blog.Post) {
	w.T.Helper()
	_, err := w.Store.DeletePost(w.Ctx(), post.Author.ID, post.ID)
	w.OK(err)
}

// PendingPurge records the purge of a post and returns it as stored.
func (w *World) PendingPurge(post *blog.Post) chores.Purge {
	w.T.Helper()
	w.OK(w.RecordPurge(w.Ctx(), post.ID))
	purges, err := w.Purges(w.Ctx(), 10)
	w.OK(err)
	for _, purge := range purges {
		if purge.PostID == post.ID {
			return purge
		}
	}
	w.T.Fatalf("pending purges: %v", purges)
	return chores.Purge{}
}

// ReadChange returns the change of an item of posts, as the change feed would return it now.
func (w *World) ReadChange(partitionKey, id string) changefeed.Change {
	w.T.Helper()
	change, err := w.Change(w.Ctx(), schema.Posts, partitionKey, id)
	w.OK(err)
	return change
}

// PlantAll creates items in one partition of posts without commands.
func (w *World) PlantAll(postID string, texts [][]byte) {
	w.T.Helper()
	for len(texts) > 0 {
		batch := w.Container(schema.Posts).NewTransactionalBatch(azcosmos.NewPartitionKeyString(postID))
		n := min(cosmos.MaxBatchOperations, len(texts))
		for _, text := range texts[:n] {
			batch.CreateItem(text, nil)
		}
		w.OK(cosmos.ExecuteBatch(w.Ctx(), w.Container(schema.Posts), batch))
		texts = texts[n:]
	}
}

// Damage sets properties of a post without a command.
func (w *World) Damage(postID string, properties map[string]any) {
	w.T.Helper()
	var changes azcosmos.PatchOperations
	for path, value := range properties {
		changes.AppendSet(path, value)
	}
	_, err := w.Container(schema.Posts).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(postID), postID, changes, nil)
	w.OK(err)
}

// PostAtRevision returns a post in the state of a revision.
func PostAtRevision(id string, date blog.DateTime, revision int64, deleted bool) *blog.Post {
	return &blog.Post{
		ID: id, Author: &blog.User{ID: "u_a", Username: "anna", Revision: 2}, PostHead: blog.PostHead{Title: fmt.Sprint("title of ", revision), Excerpt: "…"},
		LikeCount: int(revision), CreationDate: date, Version: 1, Revision: revision, Deleted: deleted,
	}
}
