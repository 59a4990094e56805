// Package changefeed reads the change feeds of users and posts, and keeps what the projectors need
// for that: leases with checkpoints, and dead letters.
//
// A change feed shows the last state of each created or written item, and no deletions. Each feed
// range of a container has a feed of its own. A continuation is a position in it.
package changefeed

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Feeds are the change feeds of one database, with the leases and dead letters of its projectors. It
// may be used concurrently.
type Feeds struct {
	db                  *cosmos.DB
	leases, deadLetters *azcosmos.ContainerClient
}

// New returns the change feeds of a database. It sends nothing.
func New(db *cosmos.DB) *Feeds {
	return &Feeds{db: db, leases: db.Container(schema.Leases), deadLetters: db.Container(schema.DeadLetters)}
}
