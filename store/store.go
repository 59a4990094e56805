package store

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Store executes the commands and queries of the blog on one database. It may be used concurrently.
// A process makes one: the creation dates that a Store assigns strictly increase.
type Store struct {
	db                            *cosmos.DB
	users, posts, feed, usernames *azcosmos.ContainerClient

	clock *blog.Clock // of creation dates
	ids   blog.IDSource
}

// New returns the Store of a database. It sends nothing.
func New(db *cosmos.DB) *Store {
	return &Store{
		db:        db,
		users:     db.Container(schema.Users),
		posts:     db.Container(schema.Posts),
		feed:      db.Container(schema.Feed),
		usernames: db.Container(schema.Usernames),
		clock:     &blog.Clock{Now: db.Now},
		ids:       blog.IDSource{Random: db.Random()},
	}
}
