package audit

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// database is the database that an audit reads and repairs.
type database struct {
	db     *cosmos.DB
	store  *store.Store
	feeds  *changefeed.Feeds
	views  *views.Views
	chores *chores.Chores

	users, posts, feed, lists, usernames, leases *azcosmos.ContainerClient
}

func open(db *cosmos.DB) *database {
	return &database{
		db:        db,
		store:     store.New(db),
		feeds:     changefeed.New(db),
		views:     views.New(db),
		chores:    chores.New(db),
		users:     db.Container(schema.Users),
		posts:     db.Container(schema.Posts),
		feed:      db.Container(schema.Feed),
		lists:     db.Container(schema.Lists),
		usernames: db.Container(schema.Usernames),
		leases:    db.Container(schema.Leases),
	}
}
