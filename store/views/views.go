// Package views applies the results of projections: the short copies of posts in users and feed,
// and the entries of posts in lists. A view is written only if its source has a greater revision
// than the copy, and only if the copy is still in the state that was read. Every step may therefore
// be interrupted anywhere and run again, also concurrently.
package views

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Views are the views of one database. They may be used concurrently.
type Views struct {
	db    *cosmos.DB
	feeds *changefeed.Feeds

	users, posts, feed, lists *azcosmos.ContainerClient

	feedGroup *turn // of groups of the feed
}

// New returns the views of a database. It sends nothing.
func New(db *cosmos.DB) *Views {
	return &Views{
		db:        db,
		feeds:     changefeed.New(db),
		users:     db.Container(schema.Users),
		posts:     db.Container(schema.Posts),
		feed:      db.Container(schema.Feed),
		lists:     db.Container(schema.Lists),
		feedGroup: newTurn(maxTurn),
	}
}
