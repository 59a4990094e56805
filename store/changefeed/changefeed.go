// Package changefeed reads the change feeds of users and posts, and stores the state of the
// projectors that process them: leases with checkpoints, and dead letters.
//
// A change feed returns the latest state of each item that was created or written, and no
// deletions. Each feed range of a container has its own change feed. A continuation is a
// position in it. In this package, a feed is always a change feed, never the container feed.
package changefeed

import (
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Feeds are the change feeds of one database, with the leases and dead letters of its
// projectors. Feeds may be used concurrently.
type Feeds struct {
	db                  *cosmos.DB
	leases, deadLetters *azcosmos.ContainerClient
	layouts             layouts

	mu     sync.Mutex
	quiet  map[string]quietEnd // by Feed.Name
	places map[string]place    // by Feed.Name
}

// New returns the change feeds of a database. It sends nothing.
func New(db *cosmos.DB) *Feeds {
	return &Feeds{
		db: db, leases: db.Container(schema.Leases), deadLetters: db.Container(schema.DeadLetters),
		layouts: layouts{kept: map[string]keptLayout{}},
		quiet:   map[string]quietEnd{},
		places:  map[string]place{},
	}
}
