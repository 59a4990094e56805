package store

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// Options says which database to use, and injects what tests hold still.
type Options struct {
	Endpoint   string                 // of the account: http or https
	Key        string                 // the account's master key; where empty, Credential is used
	Credential azcore.TokenCredential // Entra ID
	Database   string                 // DefaultDatabase where empty
	Transport  policy.Transporter     // net/http's where nil
	Throughput Throughputs            // what Provision gives the containers
	Recorder   Recorder               // is told of every request of the Store; nobody where nil

	Now   func() time.Time                                 // time.Now where nil
	Sleep func(ctx context.Context, d time.Duration) error // waits before a request is tried again; a timer where nil
	IDs   blog.IDSource

	shortage *shortage // of the Store that these make
}

// DefaultDatabase is the database that is used where Options name none.
const DefaultDatabase = "cosmosblog"

// Store is one database of an account.
type Store struct {
	database   string
	client     *azcosmos.Client
	procedures *procedureClient
	containers map[string]*azcosmos.ContainerClient // of all containers in definitions, by name

	users, posts, feed, usernames *azcosmos.ContainerClient

	now   func() time.Time
	clock *blog.Clock // of creation dates
	ids   blog.IDSource
	again patience

	shortage *shortage
}

// Open makes a Store and reads the account and every container, so that later requests need no metadata.
// Errors: those of Check.
func Open(ctx context.Context, options Options) (*Store, error) {
	s, err := newStore(options)
	if err != nil {
		return nil, err
	}
	if err := s.Check(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the use of the client's shared caches. It sends nothing.
func (s *Store) Close() { s.client.Close() }

func newStore(options Options) (*Store, error) {
	options = options.withDefaults()
	client, err := newClient(options)
	if err != nil {
		return nil, err
	}
	procedures, err := newProcedureClient(options)
	if err != nil {
		return nil, err
	}
	s := &Store{
		database:   options.Database,
		client:     client,
		procedures: procedures,
		now:        options.Now,
		clock:      &blog.Clock{Now: options.Now},
		ids:        options.IDs,
		again:      patience{sleep: options.Sleep},
		shortage:   options.shortage,
	}
	return s, s.openContainers()
}

func (s *Store) openContainers() error {
	s.containers = make(map[string]*azcosmos.ContainerClient, len(definitions))
	for _, d := range definitions {
		c, err := s.client.NewContainer(s.database, d.name)
		if err != nil {
			return err
		}
		s.containers[d.name] = c
	}
	s.users, s.posts = s.containers[usersContainer], s.containers[postsContainer]
	s.feed, s.usernames = s.containers[feedContainer], s.containers[usernamesContainer]
	return nil
}

func (o Options) withDefaults() Options {
	if o.Database == "" {
		o.Database = DefaultDatabase
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	o.shortage = new(shortage)
	return o
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
