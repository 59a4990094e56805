// Package cosmos is the Azure Cosmos DB client of the packages of store. A DB is one database.
// Functions read and write its items as Go types, and execute its stored procedures. The package
// also covers sessions, retries and request charges. It has no notion of posts or users, and
// returns errors with the codes of package blog.
//
// azcosmos sends all requests, except those for which it has no call (rest.go). Both go through the
// same pipeline.
package cosmos

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Options configure a DB. They need an Endpoint, and a Key or a Credential. Tests replace the
// transport, the clock, the waits and the randomness.
type Options struct {
	Endpoint   string                 // of the account, http or https
	Key        string                 // the account's master key; if empty, Credential is used
	Credential azcore.TokenCredential // Entra ID

	// ReadKey returns the account's master key again, after the account rejected the present one
	// (401), so that keys can be rotated. An error leaves the present one. If it is nil, the key never
	// changes. It is not called concurrently.
	ReadKey func() (string, error)

	Database  string             // DefaultDatabase if empty
	Transport policy.Transporter // net/http's if nil
	Recorder  Recorder           // records every request of the DB; none if nil

	// BackgroundBucket is the throughput bucket of background work, 1 to 5, or 0 for none. The account
	// limits each bucket to a percentage of a container's throughput.
	BackgroundBucket int

	// ClockOff is called when the clock of this machine begins to differ from the database's by more
	// than MaxClockOffset, and with 0 when it agrees again. It must not block. offset is the time to
	// add to this machine's. If ClockOff is nil, nobody is told.
	ClockOff func(offset time.Duration)

	Now    func() time.Time                                 // time.Now if nil
	Sleep  func(ctx context.Context, d time.Duration) error // waits before a retry; a timer if nil
	Random io.Reader                                        // source of new ids; crypto/rand if nil
}

// DefaultDatabase is the name of the database if Options name none.
const DefaultDatabase = "cosmosblog"

// DB is one database of an account. It may be used concurrently.
type DB struct {
	name      string
	client    *azcosmos.Client
	rest      *restClient
	clock     *databaseClock
	backoff   backoff
	random    io.Reader
	throttles *throttleMonitor
	writes    *writeObservers
	regions   *accountRegions
	hasKey    bool

	mu         sync.Mutex
	containers map[string]*azcosmos.ContainerClient // by name
}

// New returns the database that the options name. It sends nothing. Error: the endpoint or the key
// is malformed.
func New(options Options) (*DB, error) {
	options = options.withDefaults()
	throttles, clock := new(throttleMonitor), &databaseClock{local: options.Now, off: options.ClockOff}
	writes := new(writeObservers)
	regions, err := newAccountRegions(options.Endpoint, options.Transport)
	if err != nil {
		return nil, err
	}
	clientOptions, err := options.pipeline(regions, throttles, clock, writes)
	if err != nil {
		return nil, err
	}
	client, err := newClient(options, clientOptions)
	if err != nil {
		return nil, err
	}
	rest, err := newRESTClient(options, clientOptions)
	if err != nil {
		return nil, err
	}
	regions.read = rest.readAccount
	return &DB{
		name:       options.Database,
		client:     client,
		rest:       rest,
		clock:      clock,
		backoff:    backoff{options.Sleep},
		random:     options.Random,
		throttles:  throttles,
		writes:     writes,
		regions:    regions,
		hasKey:     options.Key != "",
		containers: map[string]*azcosmos.ContainerClient{},
	}, nil
}

// HasKey reports whether requests are authorized by the account's key, and not by Entra ID.
func (db *DB) HasKey() bool { return db.hasKey }

func (o Options) withDefaults() Options {
	if o.Database == "" {
		o.Database = DefaultDatabase
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	return o
}

// Close releases what azcosmos caches for this client in the whole process. It sends nothing.
func (db *DB) Close() { db.client.Close() }

// Name returns the name of the database.
func (db *DB) Name() string { return db.name }

// Client returns azcosmos's client, which reads and creates the database and its containers.
func (db *DB) Client() *azcosmos.Client { return db.client }

// Container returns the client of a container, whether or not the container exists.
func (db *DB) Container(name string) *azcosmos.ContainerClient {
	db.mu.Lock()
	defer db.mu.Unlock()
	c, ok := db.containers[name]
	if !ok {
		var err error
		if c, err = db.client.NewContainer(db.name, name); err != nil {
			panic("cosmos: " + err.Error()) // azcosmos rejects only an empty name
		}
		db.containers[name] = c
	}
	return c
}

// Now returns the database's time, by the answers so far and the clock of this machine. It is
// accurate to a second and a round trip. Before the first answer, it is this machine's time. It may
// step back.
func (db *DB) Now() time.Time { return db.clock.now() }

// EarliestNow returns the earliest time that it may be at the database now.
func (db *DB) EarliestNow() time.Time { return db.clock.earliestNow() }

// ClockOffset returns the time to add to the clock of this machine to get the database's: 0 if the
// answers so far are consistent with the machine's clock.
func (db *DB) ClockOffset() time.Duration { return db.clock.offset() }

// Sleep waits for d. It returns ctx's error if ctx is done first.
func (db *DB) Sleep(ctx context.Context, d time.Duration) error { return db.backoff.sleep(ctx, d) }

// Random returns the source of random ids; nil means crypto/rand.
func (db *DB) Random() io.Reader { return db.random }

// BackOff waits before a command is tried again: about 10, 20, 40 and 80 ms. try is the number of
// tries that failed. BackOff returns false if there must be no further try: after the fifth, or if
// ctx is done.
func (db *DB) BackOff(ctx context.Context, try int) bool { return db.backoff.wait(ctx, try) }

// Throttles returns the number of 429 responses to this DB so far, and the wait that the last of
// them requested.
func (db *DB) Throttles() (count int64, wait time.Duration) { return db.throttles.read() }
