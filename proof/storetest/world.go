// Package storetest is the test harness of store and its subpackages: an account of cosmostest with
// the packages of a server, faults of its scripts, and shortcuts that create and compare items.
package storetest

import (
	"context"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/store"
	"cosmosblog/store/bulk"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// World is an account in memory with the packages of one server. Its clock stands still until a
// test advances it. Tests can make its requests fail. It never sleeps.
type World struct {
	*Database

	T       *testing.T
	Account *cosmostest.Account
	Clock   *StillClock
	Wire    *cosmostest.Transport // of this server
	Sleeps  func(time.Duration)   // called instead of each wait of this server; may be nil
}

// Database is a database with the packages that tests call most.
type Database struct {
	DB *cosmos.DB
	*store.Store
	*changefeed.Feeds
	*views.Views
	*chores.Chores
	*bulk.Writer
}

// Open returns the packages of a database.
func Open(db *cosmos.DB) *Database {
	return &Database{db, store.New(db), changefeed.New(db), views.New(db), chores.New(db), bulk.New(db)}
}

// New opens an account in memory. At the end of the test, it checks the account's consistency.
func New(t *testing.T) *World { return NewWith(t, cosmostest.Options{}) }

// NewWith is New with options of the account.
func NewWith(t *testing.T, options cosmostest.Options) *World {
	t.Helper()
	clock := NewStillClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	options.Now = clock.Now
	w := &World{T: t, Account: cosmostest.New(t, options), Clock: clock}
	CheckScripts(t, w.Account)
	return w.server(w.Account.NewTransport(), clock, nil)
}

// CheckScripts fails the test at its end if an execution of a script took more than the service
// allows. An account blocks a script after some of them.
func CheckScripts(t testing.TB, account *cosmostest.Account) {
	t.Cleanup(func() {
		for _, container := range schema.ContainerNames() {
			if n, err := account.Strikes(cosmos.DefaultDatabase, container); err == nil && n > 0 {
				t.Errorf("%d executions of scripts of %s took more than a script may", n, container)
			}
		}
	})
}

// Another returns a second server on the same account, with its own faults. It reads the latest
// state, even if the account has a follower.
func (w *World) Another() *World {
	w.T.Helper()
	return w.AnotherAt(w.Clock, nil)
}

// AnotherAt is Another with a clock of its own, and cosmos.Options.ClockOff.
func (w *World) AnotherAt(clock *StillClock, off func(time.Duration)) *World {
	w.T.Helper()
	return w.server(w.Account.Latest(), clock, off)
}

// server returns a server with a transport and a clock.
func (w *World) server(wire *cosmostest.Transport, clock *StillClock, off func(time.Duration)) *World {
	w.T.Helper()
	other := &World{T: w.T, Account: w.Account, Clock: clock, Wire: wire}
	db, err := provision.OpenEmbedded(w.T.Context(), w.Account, cosmos.Options{
		Transport: other.Wire,
		Now:       clock.Now,
		ClockOff:  off,
		Sleep: func(ctx context.Context, d time.Duration) error {
			if other.Sleeps != nil {
				other.Sleeps(d)
			}
			return ctx.Err()
		},
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(db.Close)
	other.Database = Open(db)
	return other
}

// Container returns the client of a container.
func (w *World) Container(name string) *azcosmos.ContainerClient { return w.DB.Container(name) }

// On returns the same world for a subtest.
func (w *World) On(t *testing.T) *World {
	part := *w
	part.T = t
	return &part
}

// Ctx returns the context of the test.
func (w *World) Ctx() context.Context { return w.T.Context() }

// AddUser creates the user of an account whose subject is the username.
func (w *World) AddUser(username string) *blog.User {
	w.T.Helper()
	user, err := w.CreateUser(w.Ctx(), Account(username), username)
	w.OK(err)
	return user
}

// Account returns an account of the tests' issuer.
func Account(subject string) blog.Account { return blog.Account{Issuer: "test", Subject: subject} }

// AddPost creates a post.
func (w *World) AddPost(author *blog.User) *blog.Post {
	w.T.Helper()
	post, err := w.CreatePost(w.Ctx(), author, blog.CreatePostInput{Title: "A title", Content: "Some content."})
	w.OK(err)
	return post
}

// AddComment creates a comment.
func (w *World) AddComment(author *blog.User, post *blog.Post) *blog.Comment {
	w.T.Helper()
	comment, err := w.CreateComment(w.Ctx(), author, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
	w.OK(err)
	return comment
}

// HoldsCounts checks that a post has the given numbers of comments and likes, by its counters
// and by its lists.
func (w *World) HoldsCounts(postID string, comments, likes int) {
	w.T.Helper()
	post, err := w.Post(w.Ctx(), postID)
	w.OK(err)
	if post.CommentCount != comments || post.LikeCount != likes {
		w.T.Errorf("the post counts %d comments and %d likes, want %d and %d",
			post.CommentCount, post.LikeCount, comments, likes)
	}
	if n := len(ListAll(w, postID, w.Comments)); n != comments {
		w.T.Errorf("the post has %d comments, want %d", n, comments)
	}
	if n := len(ListAll(w, postID, w.Likes)); n != likes {
		w.T.Errorf("the post has %d likes, want %d", n, likes)
	}
}

// ListAll reads all pages of a list.
func ListAll[T any](w *World, id string, list func(context.Context, string, blog.PageRequest) (blog.Page[T], error)) []T {
	w.T.Helper()
	var all []T
	request := blog.PageRequest{First: 7}
	for {
		page, err := list(w.Ctx(), id, request)
		w.OK(err)
		all = append(all, page.Items...)
		if !page.HasNextPage {
			return all
		}
		request.After = &page.Positions[len(page.Positions)-1]
	}
}

// OK ends the test if err is not nil.
func (w *World) OK(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Fails ends the test unless err has the code.
func (w *World) Fails(err error, code blog.Code) {
	w.T.Helper()
	if err == nil || blog.CodeOf(err) != code {
		w.T.Fatalf("the error is %v, want %s", err, code)
	}
}

// StillClock is a clock that stands still until it is advanced. It may be used concurrently.
type StillClock struct{ *cosmostest.Clock }

// NewStillClock returns a clock that stands at a time.
func NewStillClock(now time.Time) *StillClock { return &StillClock{cosmostest.NewClock(now)} }

// Date returns the time of the clock as a date of the blog.
func (c *StillClock) Date() blog.DateTime { return blog.NewDateTime(c.Now()) }
