// Package bulk writes a whole data set, in far fewer requests than the commands and the
// projector would need for it.
//
// Every function is idempotent: it may be interrupted and run again, even after it succeeded. It
// recognizes and keeps existing items. If the account throttles requests, it waits as long as
// necessary (cosmos.DB.RetryTransient).
package bulk

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// Writer writes data sets into one database. It may be used concurrently.
type Writer struct {
	db    *cosmos.DB
	store *store.Store
	views *views.Views

	users, posts *azcosmos.ContainerClient
}

// New returns the Writer of a database. It sends nothing.
func New(db *cosmos.DB) *Writer {
	return &Writer{
		db:    db,
		store: store.New(db),
		views: views.New(db),
		users: db.Container(schema.Users),
		posts: db.Container(schema.Posts),
	}
}
