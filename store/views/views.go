// Package views writes what the projector derives from the change feeds: the short copies of
// posts in users and feed, the usernames on posts, comments and likes, and what follows from
// deletions.
//
// A view is written under guards: only by a greater revision of its source, and only over the
// state that was read. Every step may therefore be interrupted anywhere and run again, also
// concurrently. Chores (sweeps, deletions and purges) are offered here in steps; the projector
// schedules them.
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
	store *store.Store // deletes as the user would have
	feeds *changefeed.Feeds

	users, posts, feed, usernames, leases *azcosmos.ContainerClient
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
		usernames: db.Container(schema.Usernames),
		leases:    db.Container(schema.Leases),
	}
}
