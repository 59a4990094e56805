package cosmostest

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/engine"
	"cosmosblog/engine/script"
)

// Options configures an Account. With the zero value, the account is in memory, uses the system's
// clock, and never throttles.
type Options struct {
	// Dir is a folder that keeps the data, so that another account can open it later. It is created
	// if necessary. If Dir is empty, the data is in memory.
	Dir string

	// Key is the master key in base64. If it is empty, the key is random.
	Key string

	// Now is the account's clock: of time to live, of _ts, of Date in scripts, and of throttling. The
	// default is time.Now. See Clock.
	Now func() time.Time

	// Throughput is the throughput of each container in RU/s, divided evenly among its physical
	// ranges. A range that has used up a second's share rejects requests with 429, also those that a
	// Follower answers; with a Leader, its reads have a share of their own. With 0, the account
	// never throttles. The throughput with which a container is created only determines its number of
	// ranges: one for every 10,000 RU/s.
	//
	// What requests at high priority used of a range's last second is kept for them in the current
	// one, and the whole of it if one of them was rejected. Requests with the header
	// x-ms-cosmos-priority-level: Low are rejected if no more than that is left.
	Throughput float64

	// MetadataReads is the number of reads of definitions (the account, databases, containers, feed
	// ranges, offers and scripts) that are answered in five minutes. The service answers 500. Others
	// are rejected with 429. 0 is no limit.
	MetadataReads int

	// ThroughputLimit is the account's limit of its total throughput, in RU/s, as that of the free
	// tier. Creating or raising a throughput beyond it is rejected with 400 and substatus 1028, and so
	// is a container outside of a shared throughput that names none. 0 is no limit.
	ThroughputLimit int

	// EtagsOfShownChanges makes a page of a change feed end at the last change that it shows; a page
	// without changes ends where it began. Otherwise, the last page ends at the state in which it was
	// read, which also moves with changes that no page shows: those of other partitions of the range,
	// deletions, and expirations. What the service does is not documented.
	EtagsOfShownChanges bool

	// Buckets are the percentages of Throughput that the requests of each throughput bucket may use,
	// by the bucket's id from 1 to 5, which is in the header x-ms-cosmos-throughput-bucket. Beyond
	// that, they are rejected with 429 and substatus 3212. A bucket without a percentage has no limit.
	Buckets map[int]float64

	// Follower adds a follower that answers reads and can lag behind. See Account.Follower. Dir must
	// be an empty folder, if it is set. Writes then run one after the other, so Scripts.Before must
	// send none.
	Follower bool

	// Random decides how far the follower lags. The account owns it. By default, it yields the same
	// numbers in each run.
	Random *rand.Rand

	// Leader makes this account the follower of another account, for example in another process. The
	// account sends each write to the Leader first, which throttles. Both must have the same Key and
	// Throughput, and be empty. They differ from the first answer on that is lost between them, and
	// from the first removal of expired items by the Leader; Follower.Diverged reports it. Scripts
	// whose outcome depends on the time need Replay: it changes the body of a write, given the
	// leader's answer to it, before the follower executes the write.
	Leader http.Handler
	Replay func(body, answer []byte) []byte

	// Regions gives the account two regions, one of which writes, and Failover changes which. Clients
	// learn their addresses as those of the service. It applies to transports, and not to Serve.
	Regions bool

	// Consistency is the account's level. Default: Session. With Strong and BoundedStaleness, reads
	// are charged twice, and the follower answers none. With ConsistentPrefix and Eventual, session
	// tokens have no effect: the follower answers all reads. Account.SetConsistency changes it.
	Consistency Consistency

	// WritesInSeveralRegions makes the description of the account say so. It has no further effect.
	WritesInSeveralRegions bool

	// Entra makes the account accept any well-formed Entra ID token as well as its key, for the
	// operations that the service permits with a token.
	Entra bool

	// Scripts observes and disturbs stored procedures and triggers.
	Scripts Scripts
}

// Scripts sets how an account runs stored procedures and triggers. Its functions may be called
// concurrently, by the scripts of different partitions.
type Scripts struct {
	// Snapshot runs scripts under snapshot isolation, as the service does: other writes commit
	// meanwhile, and a script whose items have changed is rejected with 449. The account repeats it
	// for up to 30 s, as the service does, unless the request has x-ms-noretry-449: True. Without
	// Snapshot, the scripts of one partition run one after the other.
	Snapshot bool

	// OwnWrites lets the queries of a script see its own writes. The service's documentation does not
	// say whether they do, so a script should be tested both ways.
	OwnWrites bool

	// Before is called before the n-th operation of a script, counted from 1, and once more after the
	// last one. Under Snapshot, it can send other requests to the script's partition.
	Before func(n int)

	// Accept rejects the n-th operation that a script requests by returning false, as the service does
	// if the script has used up its time.
	Accept func(n int) bool

	// Fail makes the n-th operation fail with a number that it returns: 400, 403, 404, 409, 412, 413,
	// 449 or 500. The script's callback gets it as err.number. 0 performs the operation.
	Fail func(n int) (number int)

	// Timeout is the time after which a script is interrupted. The default is the service's 5 seconds.
	// In a bubble of testing/synctest, a script that never ends is not: no time passes meanwhile.
	Timeout time.Duration

	// Strict fails an execution if a rejected promise is not handled. The service ignores the
	// rejection and commits.
	Strict bool
}

// Account is an account for tests. It is the transport of its first client, with that client's
// faults, and an http.Handler of the REST protocol, without faults. It may be used concurrently.
type Account struct {
	// Transport is the first client's way to the account. NewTransport returns ways for others.
	*Transport

	// Follower answers reads, unless their session token names a state that it does not have yet. It
	// is up to date until a test makes it lag. LoseWrites and Restore put it in the leader's place. It
	// is nil without Options.Follower.
	Follower *Replica

	engine   *engine.Engine
	follower *engine.Engine // nil without Options.Follower
	regions  *regions       // nil without Options.Regions
	handler  http.Handler
	closed   atomic.Bool
}

// New opens an account. At the end of the test, it checks the consistency of the stored data and
// closes the account. It ends the test if the account cannot be opened.
func New(t testing.TB, options Options) *Account {
	t.Helper()
	a, err := open(t, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// Open is New outside a test, for TestMain and for programs. The caller calls Close. Methods of the
// account that would end a test panic.
func Open(options Options) (*Account, error) { return open(nil, options) }

func open(t testing.TB, options Options) (*Account, error) {
	clock := &replayClock{now: options.Now}
	if clock.now == nil {
		clock.now = time.Now
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	decisions := new(decisions)
	leader, err := engine.Open(options.engine(clock, decisions.recorded(options.Scripts, options.Follower)))
	if err != nil {
		return nil, err
	}
	a := &Account{engine: leader, handler: leader}
	switch {
	case options.Leader != nil:
		a.Follower = newReplica(options.Leader, leader.Unthrottled(), leader, leader.Consistency, clock, options) // the leader throttles writes
	case options.Follower:
		settings := options.engine(clock, decisions.repeated(options.Scripts))
		settings.Dir, settings.Key = "", leader.Key()
		if a.follower, err = engine.Open(settings); err != nil {
			return nil, errors.Join(err, leader.Close())
		}
		a.Follower = newReplica(leader, a.follower.Unthrottled(), a.follower.ThrottledBy(leader), leader.Consistency, clock, options)
		a.Follower.pair = &pair{leader, a.follower, decisions}
	}
	if a.Follower != nil {
		a.handler = a.Follower
	}
	if options.Regions {
		a.regions = new(regions)
	}
	a.Transport = a.transportOf(t, a)
	return a, nil
}

// check returns an error for options that contradict each other.
func (o Options) check() error {
	switch {
	case o.Consistency != "" && !o.Consistency.IsValid():
		return errors.New("cosmostest: there is no consistency level " + string(o.Consistency))
	case o.Leader != nil && o.Follower:
		return errors.New("cosmostest: an account with Options.Leader is a follower itself, and has none")
	case o.Leader != nil && o.Key == "":
		return errors.New("cosmostest: Options.Leader needs its account's Key")
	case !o.Follower || o.Dir == "":
		return nil
	}
	entries, err := os.ReadDir(o.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return errors.New("cosmostest: Options.Follower needs an empty folder, because the follower starts empty")
	}
	return nil
}

func newReplica(leader, follower, reader http.Handler, level func() Consistency, clock *replayClock, options Options) *Replica {
	random := options.Random
	if random == nil {
		random = rand.New(rand.NewPCG(1, 1))
	}
	return &Replica{leader: leader, follower: follower, reader: reader, level: level, clock: clock, rewrite: options.Replay, random: random}
}

// engine returns the options of an engine with a clock and hooks of scripts.
func (o Options) engine(clock *replayClock, hooks Scripts) engine.Options {
	settings := engine.Options{
		Dir:                 o.Dir,
		Key:                 o.Key,
		Entra:               o.Entra,
		Consistency:         o.Consistency,
		Now:                 clock.Now,
		Throughput:          o.Throughput,
		Buckets:             o.Buckets,
		MetadataReads:       o.MetadataReads,
		ThroughputLimit:     o.ThroughputLimit,
		EtagsOfShownChanges: o.EtagsOfShownChanges,
		KeepExpired:         o.Follower || o.Leader != nil,
		QueriesSeeOwnWrites: o.Scripts.OwnWrites,
		SnapshotScripts:     o.Scripts.Snapshot,

		WritesInSeveralRegions: o.WritesInSeveralRegions,

		Script: script.Options{
			Before:  hooks.Before,
			Accept:  hooks.Accept,
			Timeout: o.Scripts.Timeout,
			Strict:  o.Scripts.Strict,
		},
	}
	if hooks.Fail != nil {
		settings.Script.Fail = func(n int) *script.OperationError {
			if number := hooks.Fail(n); number != 0 {
				return &script.OperationError{Number: number, Message: "injected"}
			}
			return nil
		}
	}
	return settings
}

// Close checks the consistency of the stored data, and closes the account. With Options.Follower,
// it also checks that both hold the same items, and with Options.Leader, that the follower answered
// each write as the leader did. After LoseWrites and Restore, there is nothing to compare. Closing
// again does nothing. New calls it at the end of the test.
func (a *Account) Close() error {
	if a.closed.Swap(true) {
		return nil
	}
	var err error
	if a.Follower != nil {
		err = a.checkFollower()
	}
	err = errors.Join(err, a.Check())
	if a.follower != nil {
		err = errors.Join(err, a.follower.Close())
	}
	return errors.Join(err, a.engine.Close())
}

func (a *Account) checkFollower() error {
	a.Follower.CatchUp()
	if diverged := a.Follower.Diverged(); diverged != "" {
		return errors.New("the follower diverged: " + diverged)
	}
	// Without a follower of its own, the leader belongs to another account, and may be gone.
	if a.follower == nil || a.Follower.successor.Load() != nil {
		return nil
	}
	var err error
	a.Follower.stopped(func() { // so that no item expires between the two
		leader, follower := newTransport(nil, a.engine.Unthrottled(), a.Key()), newTransport(nil, a.follower, a.Key())
		err = compare(context.Background(), leader, follower)
	})
	return errors.Join(err, a.follower.Check())
}

// Check checks the consistency of the stored data, beside requests: every item, index entry and
// change. It returns all faults joined.
func (a *Account) Check() error { return a.present().Check() }

// present returns the engine that has all writes.
func (a *Account) present() *engine.Engine {
	if a.Follower != nil {
		if successor := a.Follower.successor.Load(); successor != nil {
			return successor
		}
	}
	return a.engine
}

// Key returns the master key in base64.
func (a *Account) Key() string { return a.engine.Key() }

// SetKey replaces the master key, which is in base64. Requests that are signed with the former one
// get 401, as those of clients on the service that still use a regenerated key. Transports that
// exist already sign their own requests (Send) with the former one. Error: the key is malformed.
func (a *Account) SetKey(key string) error {
	if a.follower != nil {
		if err := a.follower.SetKey(key); err != nil {
			return err
		}
	}
	return a.engine.SetKey(key)
}

// ServeHTTP answers a request of the REST protocol, without faults. Serve also listens on a port.
func (a *Account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	gateway{a.handler}.ServeHTTP(w, r)
}

// NewTransport returns another client's way to the account, with faults of its own.
func (a *Account) NewTransport() *Transport { return a.transportOf(a.t, a) }

// transportOf returns a client's way to a handler of the account.
func (a *Account) transportOf(t testing.TB, handler http.Handler) *Transport {
	transport := newTransport(t, handler, a.Key())
	if a.regions != nil {
		transport.next = &regionWay{regions: a.regions, next: transport.next}
	}
	return transport
}

// Latest is NewTransport for reads that are never late: the leader answers them.
func (a *Account) Latest() *Transport {
	if a.Follower == nil {
		return a.NewTransport()
	}
	return a.transportOf(a.t, a.Follower.latest())
}

// Split divides a physical range of a container into two, as the service does when a range grows.
// rangeID is an id such as "0". Requests for that id then get status 410; SDKs refresh their ranges
// and repeat them. Session tokens and continuations stay valid. It returns an error if there is no
// such range, or if the container's partition key has version 1, the service's default: set
// PartitionKeyDefinition.Version to 2, as Container does.
//
// A follower first catches up, also one that Hold holds back. With Options.Leader, only the
// follower is split: the leader is to be split by its own account, next.
func (a *Account) Split(database, container, rangeID string) error {
	return a.divide(func(e *engine.Engine) error { return e.Split(database, container, rangeID) })
}

// MergeRanges merges a physical range of a container and the next one, which Split has made of one,
// as the service does if an operator merges partitions. Requests for the ids of both then get
// status 410. Session tokens and continuations stay valid. It returns an error if there is no such
// range, or if the two were not one before. Followers and leaders are as for Split.
func (a *Account) MergeRanges(database, container, rangeID string) error {
	return a.divide(func(e *engine.Engine) error { return e.MergeRanges(database, container, rangeID) })
}

// divide changes the ranges of the engine, and those of its follower.
func (a *Account) divide(change func(*engine.Engine) error) (err error) {
	if a.Follower == nil {
		return change(a.engine)
	}
	a.Follower.together(func() {
		present := a.present()
		err = change(present)
		if err == nil && a.follower != nil && present != a.follower {
			err = change(a.follower)
		}
	})
	return err
}

// Watch returns a channel that receives after writes to a container, so that a test need not poll.
// Several writes may cause one receive. stop releases the channel. It returns an error if there is
// no such container.
func (a *Account) Watch(database, container string) (written <-chan struct{}, stop func(), err error) {
	return a.present().Watch(database, container)
}

// Strikes returns the number of executions of a container's stored procedures and triggers that ran
// out of time, or were charged more than two seconds of the container's throughput. After three of
// one script, the account answers 403, until the script is deleted and created again. It returns an
// error if there is no such container.
func (a *Account) Strikes(database, container string) (int, error) {
	return a.present().Strikes(database, container)
}

// Changes returns a number that increases with every write of a logical partition, before the write
// is acknowledged. It may also increase for other reasons. The partition key is a string.
func (a *Account) Changes(database, container, partitionKey string) uint64 {
	present := a.present()
	n := present.Changes(database, container, partitionKey)
	if present != a.engine {
		n += successorChanges
	}
	return n
}
