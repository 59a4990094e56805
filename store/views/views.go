// Package views applies the results of projections: the short copies of posts in users and feed,
// the entries of posts in lists, the usernames on posts, comments and likes, and the passes of
// sweeps, deletions and purges. A view is written only if its source has a greater revision than
// the copy, and only if the copy is still in the state that was read. Everything may therefore be
// interrupted anywhere and run again, also concurrently.
package views

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Views are the views of one database. They may be used concurrently.
type Views struct {
	db    *cosmos.DB
	store *store.Store // executes the commands that delete items of users
	feeds *changefeed.Feeds

	users, posts, feed, lists, usernames, leases *azcosmos.ContainerClient

	feedGroup *turn // of groups of the feed
}

// New returns the views of a database. It sends nothing.
func New(db *cosmos.DB) *Views {
	return &Views{
		db:        db,
		store:     store.New(db),
		feeds:     changefeed.New(db),
		users:     db.Container(schema.Users),
		posts:     db.Container(schema.Posts),
		feed:      db.Container(schema.Feed),
		lists:     db.Container(schema.Lists),
		usernames: db.Container(schema.Usernames),
		leases:    db.Container(schema.Leases),
		feedGroup: newTurn(maxTurn),
	}
}
