// Package store executes the commands C1–C4 and the queries Q1–Q6 of the blog on Azure Cosmos
// DB.
//
// Commands (files command_*, naming.go) change users, usernames, posts, comments and likes. Queries
// (files query_*) read them, and the views that the projector derives from them. Both return the
// types of package blog, and errors with its codes.
//
// Each of the queries Q1–Q6 reads one partition: Q1 and Q2 by a point read, the lists Q3–Q6 by a
// query that normally gets one page. So do the lists of tags and months, and those of their posts.
// Four kinds of reads reach further:
//
//   - Users, Posts, LikedBy and PostCounts read several ids, each in its own partition, by one read
//     many. azcosmos sends it as one query to each physical partition that has any of them.
//   - The content of a long post is a second point read, in the post's partition.
//   - UserByUsername sends two point reads: of the reservation, then of its user.
//   - PostOfComment queries all partitions. It is for operators only.
//
// docs/design.md has the floors of the packages below store.
//
// This folder is not for other modules: it may change in any version.
package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
)

// Store executes the commands and queries of the blog on one database. It may be used concurrently.
// A server uses one Store for all requests: the creation dates that one Store assigns strictly
// increase, but those of two Stores may be equal.
type Store struct {
	db *cosmos.DB

	users, posts, feed, lists, usernames, leases *azcosmos.ContainerClient

	cache *readcache.Cache // of queries; may be nil
	watch Watcher          // nil if nobody tells of changes
	tail  Tail             // counts the changes for the cache; nil if it keeps nothing, or the engine counts
	clock *blog.Clock      // of creation dates
	ids   blog.IDSource
}

// New returns the Store of a database. It sends nothing. Its queries read the database each time.
func New(db *cosmos.DB) *Store { return NewCached(db, nil, nil) }

// Tail is what the queries need of the tail (store/tail) that counts the changes for their cache.
type Tail interface {
	// Join adds a session token to the session of ctx: reads of the container are then not older than
	// the changes that are counted.
	Join(ctx context.Context, container string)
	// Passed reports whether all changes up to a session token are counted.
	Passed(container, token string) bool
}

// Watcher tells of changes (store/tail).
type Watcher interface {
	// Watch returns a channel that receives after changes of a partition, and a function that stops
	// it.
	Watch(container, partition string) (changed <-chan struct{}, stop func())
	// Signals returns a number that has changed before a channel of Watch receives.
	Signals(container, partition string) uint64
	// Join adds a session token to the session of ctx: reads of the container are then not older than
	// the changes that were told.
	Join(ctx context.Context, container string)
}

// Watched returns a Store of the same database and cache whose streams learn of changes by a
// Watcher.
func (s *Store) Watched(by Watcher) *Store {
	watched := *s
	watched.watch = by
	return &watched
}

// WatchPost returns a channel that receives after changes of a post, its comments or its likes, and
// a function that must be called at the end. Several changes may be received as one, and there may
// be none. A read after the receive, in a context of Follow that was made after it, has the change
// (or see JoinSignals). Without a Watcher, the channel never receives.
func (s *Store) WatchPost(postID string) (changed <-chan struct{}, stop func()) {
	if s.watch == nil {
		return nil, func() {}
	}
	return s.watch.Watch(schema.Posts, postID)
}

// SignalsOfPost returns a number that has changed before a channel of WatchPost receives. A read of
// the post, its comments or its likes that begins after the call, in a context of Follow, has all
// changes that the number counts. It is 0 without a Watcher.
func (s *Store) SignalsOfPost(postID string) uint64 {
	if s.watch == nil {
		return 0
	}
	return s.watch.Signals(schema.Posts, postID)
}

// WatchFeed is WatchPost for the feed.
func (s *Store) WatchFeed() (changed <-chan struct{}, stop func()) {
	if s.watch == nil {
		return nil, func() {}
	}
	return s.watch.Watch(schema.Feed, schema.FeedPartition)
}

// Follow returns a function that prepares the contexts of one reader who follows changes. All have
// one session, so a read is not older than the one before, whichever replica answers it. And each
// read has all changes that WatchPost and WatchFeed had told. If the database goes back to an
// earlier state, another session begins. The function must not be called concurrently.
func (s *Store) Follow() func(context.Context) context.Context {
	if s.isExact() {
		return func(ctx context.Context) context.Context { return ctx }
	}
	session := cosmos.WithSession(context.Background())
	return func(ctx context.Context) context.Context {
		if cosmos.IsSessionLost(session) {
			session = cosmos.WithSession(context.Background())
		}
		ctx = cosmos.InSessionOf(ctx, session)
		s.JoinSignals(ctx)
		return ctx
	}
}

// JoinSignals makes later reads of a context of Follow have all changes that WatchPost and
// WatchFeed have told by now. A reader calls it after each signal that it has waited for with the
// context: otherwise, a replica that lags could answer with the state of before.
func (s *Store) JoinSignals(ctx context.Context) {
	if s.watch != nil && !s.isExact() {
		s.watch.Join(ctx, schema.Posts)
		s.watch.Join(ctx, schema.Feed)
	}
}

// NewCached is New for a Store whose queries use a cache. tail counts the changes for it. It is nil
// if an engine in this process does: a kept value is then never older than an acknowledged write.
// With a tail, each read needs a session (cosmos.WithSession), or begins one of its own.
func NewCached(db *cosmos.DB, cache *readcache.Cache, tail Tail) *Store {
	return &Store{
		db:        db,
		cache:     cache,
		tail:      tail,
		users:     db.Container(schema.Users),
		posts:     db.Container(schema.Posts),
		feed:      db.Container(schema.Feed),
		lists:     db.Container(schema.Lists),
		usernames: db.Container(schema.Usernames),
		leases:    db.Container(schema.Leases),
		clock:     &blog.Clock{Now: db.Now},
		ids:       blog.IDSource{Random: db.Random()},
	}
}
