// Package store executes the commands C1–C4 and the queries Q1–Q6 of the blog on Azure Cosmos
// DB. The resolvers use no other package of store.
//
// Commands change the source of truth (files command_*). Queries read, each in one request to one
// partition (files query_*). Both return the types of package blog, and errors with its codes.
//
// The packages below store/ are layers: each imports only those above it in this list.
//
//	cosmos      the client: verbs, procedures, sessions, retries, charges
//	schema      containers, items, scripts
//	store       commands and queries
//	changefeed  changes, leases, dead letters
//	views       copies of posts, the feed, and the steps of chores
//	audit       audit, repair, rebuild
//	transfer    copies one database into another
//	provision   creates what a database lacks
//	bulk        writes whole data sets
//
// The embedded engine (embedded) imports none of them.
package store

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Store executes the commands and queries of the blog on one database. It may be used
// concurrently. A process needs one Store, because the creation dates that a Store assigns
// strictly increase.
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
