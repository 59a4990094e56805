// Package tail follows the change feeds of a database, so that a server knows which partitions have
// changed. It tells the server's cache of reads (store/readcache), on an account and on an engine
// in another process, and all subscriptions. It needs no lease: each server has its own tail, from
// the present on.
//
// The tail counts the changes of each partition. A change counts when the tail has read it in a
// change feed, or when this process has written it. A kept value whose partition's count has not
// changed is therefore at most as old as the tail's last complete poll, plus the lag of the replica
// that answered the poll. If that poll is older than the bound (Options.Staleness), every count
// changes with each call, and so nothing kept is used.
//
// A change feed shows neither deletions nor expirations. Whatever deletes an item must therefore
// write another item of its partition, or its readers must check another item too. A repair by
// audit does neither: the items that it deletes were wrong. So that they disappear, too, nothing is
// kept for longer than maxAge.
//
// A read after a change was counted must not be answered by a replica that lacks the change:
// it would be kept as current. Reads therefore carry the session token of the tail (Join).
package tail

import (
	"context"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// Options configure a Tail.
type Options struct {
	DB         *cosmos.DB
	Containers []string      // that are read through the cache
	Staleness  time.Duration // the greatest age of what is known of the changes; above 0
	Logger     *slog.Logger

	// Wake returns a channel that receives after writes to a container, and a function that stops it.
	// The tail then polls at once. If it is nil, the tail only polls by time.
	Wake func(container string) (written <-chan struct{}, stop func())
}

// Tail counts the changes of a database's partitions. It may be used concurrently.
type Tail struct {
	feeds      *changefeed.Feeds
	staleness  time.Duration
	logger     *slog.Logger
	begun      time.Time
	wake       func(container string) (written <-chan struct{}, stop func())
	containers map[string]*container

	meter cosmos.Meter // of all polls

	seed   maphash.Seed
	counts [1 << 16]atomic.Uint64 // by the hash of container and partition
	unique atomic.Uint64          // the last count that was returned for a container that is late

	watchers watchers
}

// container is what the tail knows of one container.
type container struct {
	name  string
	used  atomic.Int64 // the time of the last call of Changes, about; as Tail.elapsed returns it
	known atomic.Int64 // all changes up to this time are counted; 0: nothing is known
	// knownWall is known by the wall clock, in Unix nanoseconds.
	knownWall atomic.Int64
	epoch     atomic.Uint64 // part of each partition's count: moves on when changes may have been missed
	wake      chan struct{} // receives if the container is read while the tail rests

	// Of follow alone:
	failed     bool   // it failed last
	resourceID string // of the container that it follows

	mu     sync.Mutex          // guards the fields below
	seen   cosmos.SessionToken // of the changes that are counted; sent with reads
	passed cosmos.Reached      // up to here, all changes are counted
}

const (
	// pollsPerStaleness is the number of polls in the time of Options.Staleness, so that a slow or
	// failed poll does not make the tail late.
	pollsPerStaleness = 4

	// restAfter is the time without a read after which a container is no longer polled. Its next read
	// finds nothing kept, and wakes the tail.
	restAfter = 3 * time.Second

	// maxAge is the greatest age of a kept value.
	maxAge = 5 * time.Minute

	// late marks the counts of containers that are late. No other count has it.
	late = 1 << 63
)

// New returns a tail. It counts nothing before Run.
func New(o Options) *Tail {
	t := &Tail{
		feeds:      changefeed.New(o.DB),
		staleness:  o.Staleness,
		logger:     o.Logger,
		begun:      time.Now().Add(-2 * restAfter), // so that no container was used in the last restAfter
		wake:       o.Wake,
		containers: make(map[string]*container, len(o.Containers)),
		seed:       maphash.MakeSeed(),
	}
	for _, name := range o.Containers {
		t.containers[name] = &container{
			name: name, wake: make(chan struct{}, 1), seen: cosmos.SessionToken{},
		}
	}
	o.DB.NotifyWrites(t.wrote)
	return t
}

// Changes returns the number of changes of a partition (readcache.Changes). It takes no lock. If
// the container is late or not followed, the number differs from all others.
func (t *Tail) Changes(name, partition string) uint64 {
	c := t.containers[name]
	if c == nil {
		return late | t.unique.Add(1)
	}
	now := time.Now()
	if elapsed := t.elapsed(now); elapsed-c.used.Load() > int64(time.Second) {
		c.used.Store(elapsed)
		c.wakeUp()
	}
	if t.isLate(c, now) {
		return late | t.unique.Add(1)
	}
	return (t.counts[t.index(name, partition)].Load() + c.epoch.Load()) &^ late
}

// know notes that all changes up to a time are counted.
func (t *Tail) know(c *container, at time.Time) {
	c.knownWall.Store(at.UnixNano())
	c.known.Store(t.elapsed(at))
}

// isLate reports whether the last complete poll is older than the bound, by either clock: the clock
// of elapsed stands still while the machine sleeps, and the wall clock can be set.
func (t *Tail) isLate(c *container, now time.Time) bool {
	wall := now.UnixNano() - c.knownWall.Load()
	return t.elapsed(now)-c.known.Load() > int64(t.staleness) || wall > int64(t.staleness) || wall < 0
}

// elapsed returns the nanoseconds at a time since one before New. In them, the clock of time.Now
// never goes back, even if somebody sets it.
func (t *Tail) elapsed(at time.Time) int64 { return int64(at.Sub(t.begun)) }

func (c *container) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (t *Tail) index(container, partition string) uint16 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	h.WriteString(container)
	h.WriteByte('/') // cannot be part of a name
	h.WriteString(partition)
	return uint16(h.Sum64())
}

// Join adds the tail's session token of a container to the session of ctx. Reads of the session are
// then not older than the changes that are counted.
func (t *Tail) Join(ctx context.Context, name string) {
	if c := t.containers[name]; c != nil {
		cosmos.JoinSession(ctx, name, c.token())
	}
}

func (c *container) token() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen.String()
}

// Passed reports whether all changes up to a session token are counted. What is kept may then be
// returned to a session that has seen that state.
func (t *Tail) Passed(name, token string) bool {
	if token == "" {
		return true
	}
	c := t.containers[name]
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed.Covers(token)
}

// wrote counts a write of this process (cosmos.Written).
func (t *Tail) wrote(name string, partitions []string, token string) {
	c := t.containers[name]
	if c == nil {
		return
	}
	t.count(c, partitions, token)
	if len(partitions) == 0 {
		t.moveOn(c)
	}
}

// count counts changes of partitions. The session token comes first: a read that begins after the
// count has moved carries it.
func (t *Tail) count(c *container, partitions []string, token string) {
	c.mu.Lock()
	c.seen.Merge(token)
	c.mu.Unlock()
	for _, partition := range partitions {
		i := t.index(c.name, partition)
		t.counts[i].Add(1)
		t.watchers.signal(i)
	}
}

// moveOn changes all counts of a container, because changes may have been missed.
func (t *Tail) moveOn(c *container) {
	c.epoch.Add(1)
	t.watchers.signalAll(c.name)
}

// Containers returns the names of the containers that the tail follows, sorted.
func (t *Tail) Containers() []string { return slices.Sorted(maps.Keys(t.containers)) }

// Lag returns the age of the last complete poll of a container. ok is false while the container is
// not followed, because it is not read or because following it failed.
func (t *Tail) Lag(name string) (lag time.Duration, ok bool) {
	c := t.containers[name]
	if c == nil {
		return 0, false
	}
	known := c.known.Load()
	return time.Duration(t.elapsed(time.Now()) - known), known != 0
}

// Charge returns the charge of all polls in RU.
func (t *Tail) Charge() float64 { return t.meter.Charged() }
