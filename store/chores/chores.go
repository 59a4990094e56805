// Package chores has the long work that follows from renames and deletions: sweeps, deletions and
// purges. It stores them as pending items in the container leases, and has their passes. A pass may
// be interrupted anywhere and run again, also concurrently. The projector runs the passes; repairs
// use the same steps.
package chores

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// Chores are the chores of one database. They may be used concurrently.
type Chores struct {
	db    *cosmos.DB
	store *store.Store // executes the commands that delete items of users
	feeds *changefeed.Feeds
	views *views.Views

	users, posts, usernames, leases *azcosmos.ContainerClient
}

// New returns the chores of a database. It sends nothing.
func New(db *cosmos.DB) *Chores {
	return &Chores{
		db:        db,
		store:     store.New(db),
		feeds:     changefeed.New(db),
		views:     views.New(db),
		users:     db.Container(schema.Users),
		posts:     db.Container(schema.Posts),
		usernames: db.Container(schema.Usernames),
		leases:    db.Container(schema.Leases),
	}
}
