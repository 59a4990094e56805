package transfer

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// database is the source or the target of a copy.
type database struct {
	db    *cosmos.DB
	feeds *changefeed.Feeds

	users, posts, usernames, leases *azcosmos.ContainerClient
}

func open(db *cosmos.DB) *database {
	return &database{
		db:        db,
		feeds:     changefeed.New(db),
		users:     db.Container(schema.Users),
		posts:     db.Container(schema.Posts),
		usernames: db.Container(schema.Usernames),
		leases:    db.Container(schema.Leases),
	}
}
