package seed_test

import (
	"context"
	"errors"
	"flag"
	"slices"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/seed"
)

// issuer is the issuer of the accounts in these tests.
const issuer = "test"

func (d *database) write(db *cosmos.DB, set *seed.Set) {
	d.t.Helper()
	if err := set.Write(d.t.Context(), db, nil); err != nil {
		d.t.Fatal(err)
	}
}

// event is one command at a date.
type event struct {
	date blog.DateTime
	do   func() error
}

// runCommands writes the set as its users would: one command at a time, in the order of the
// dates.
func (d *database) runCommands(set *seed.Set, number uint64) *cosmos.DB {
	d.t.Helper()
	ids := &idStream{}
	db := d.open(cosmos.Options{Now: d.clock.Now, Random: ids})
	s := store.New(db)
	ctx := d.t.Context()
	var events []event
	for n, user := range usersOf(set) {
		events = append(events, event{user.CreationDate, func() error {
			account := blog.Account{Issuer: issuer, Subject: seed.Subject(number, set.Users(), n)}
			_, err := s.CreateUser(ctx, account, user.Username)
			return err
		}})
	}
	for _, thread := range threadsOf(set) {
		events = append(events, commandsOf(ctx, s, ids, thread)...)
	}
	slices.SortFunc(events, func(a, b event) int { return a.date.Time().Compare(b.date.Time()) })
	for _, e := range events {
		d.clock.Advance(e.date.Time().Sub(d.clock.Now()))
		if err := e.do(); err != nil {
			d.t.Fatal(err)
		}
	}
	return db
}

func commandsOf(ctx context.Context, s *store.Store, ids *idStream, thread bulk.Thread) []event {
	post := thread.Post
	events := []event{{post.CreationDate, func() error {
		ids.expect(post.ID)
		_, err := s.CreatePost(ctx, post.Author, blog.CreatePostInput{Title: post.Title, Content: post.Content, Tags: post.Tags})
		return err
	}}}
	for _, comment := range thread.Comments {
		events = append(events, event{comment.CreationDate, func() error {
			ids.expect(comment.ID)
			_, err := s.CreateComment(ctx, comment.Author, blog.CreateCommentInput{PostID: post.Ref(), Content: comment.Content})
			return err
		}})
	}
	for _, like := range thread.Likes {
		events = append(events, event{like.CreationDate, func() error {
			_, err := s.LikePost(ctx, like.User, post.ID)
			return err
		}})
	}
	return events
}

// large makes these tests use the data sets of typical seeds. The default sets are those of the
// smallest seeds with the same properties.
var large = flag.Bool("large", false, "use larger data sets")

// newFeedSet returns a set with more posts than the feed holds, and its seed.
func newFeedSet() (*seed.Set, uint64) {
	number, users := uint64(920), 5
	if *large {
		number, users = 1, 9
	}
	return seed.New(issuer, number, users), number
}

// newSmallSet returns a set of two users.
func newSmallSet() *seed.Set {
	number := uint64(754)
	if *large {
		number = 3
	}
	return seed.New(issuer, number, 2)
}

func TestWrittenCountsAllItems(t *testing.T) {
	set := newSmallSet()
	d := newDatabase(t)
	written := make(chan int, 10_000)
	if err := set.Write(t.Context(), d.open(cosmos.Options{}), func(n int) { written <- n }); err != nil {
		t.Fatal(err)
	}
	close(written)
	sum := 0
	for n := range written {
		sum += n
	}
	if _, items := set.Size(); sum != items {
		t.Errorf("Written counted %d items, want %d", sum, items)
	}
}

// TestInterruptedRunResumes interrupts runs at many requests, before or after the engine
// executed the request, and completes them with another run.
func TestInterruptedRunResumes(t *testing.T) {
	t.Parallel()
	set := newSmallSet()
	whole := newDatabase(t)
	counted := &wire{next: inprocess.To(whole.engine)}
	counted.left.Store(1 << 62)
	s := whole.open(cosmos.Options{Transport: counted})
	before := counted.requests.Load()
	whole.write(s, set)
	requests := counted.requests.Load() - before
	want := whole.items()
	for n := int64(0); n < requests; n += 1 + requests/11 {
		d := newDatabase(t)
		interrupted := &wire{next: inprocess.To(d.engine), answerLost: n%2 == 0}
		interrupted.left.Store(1 << 62)
		s := d.open(cosmos.Options{Transport: interrupted})
		interrupted.left.Store(n)
		if err := set.Write(t.Context(), s, nil); err == nil {
			t.Fatalf("the run that lost its connection after %d requests returned no error", n)
		}
		d.write(d.open(cosmos.Options{}), set)
		requireEqual(t, d.items(), want)
	}
}

func TestThrottledRequestsAreRetried(t *testing.T) {
	t.Parallel()
	set := newSmallSet()
	free, throttled := newDatabase(t), newDatabase(t)
	free.write(free.open(cosmos.Options{}), set)
	slow := &wire{next: inprocess.To(throttled.engine)}
	slow.left.Store(1 << 62)
	s := throttled.open(cosmos.Options{Transport: slow})
	begin := slow.requests.Load()
	slow.throttles = func(n int64) bool { return n-begin < 200 || n%3 > 0 } // first all requests, then two of three
	throttled.write(s, set)
	requireEqual(t, throttled.items(), free.items())
}

// TestProjectorMayRun runs a projector during a Write. With -large, the set also fills the feed.
func TestProjectorMayRun(t *testing.T) {
	t.Parallel()
	set := newSmallSet()
	if *large {
		set, _ = newFeedSet()
	}
	quiet, busy := newDatabase(t), newDatabase(t)
	quiet.write(quiet.open(cosmos.Options{}), set)
	s := busy.open(cosmos.Options{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	p := busy.projector(s)
	go func() { ended <- p.Run(ctx) }()
	busy.write(s, set)
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	busy.settle(s)
	requireEqual(t, busy.items(), quiet.items())
}

// TestNamesakes seeds a database in which another user has a username of the set.
func TestNamesakes(t *testing.T) {
	set := seed.New(issuer, 6, 2)
	d := newDatabase(t)
	db := d.open(cosmos.Options{})
	s := store.New(db)
	name := set.User(1).Username
	if _, err := s.CreateUser(t.Context(), blog.Account{Issuer: issuer, Subject: "anna"}, name); err != nil {
		t.Fatal(err)
	}
	d.write(db, set)
	d.write(db, set)
	user, err := s.User(t.Context(), set.User(1).ID)
	if err != nil {
		t.Fatal(err)
	}
	if want := name + "-2"; user.Username != want {
		t.Errorf("the username is %s, want %s", user.Username, want)
	}
	posts, err := s.UserPosts(t.Context(), user.ID, blog.PageRequest{First: 1})
	if err != nil || posts.Items[0].Author.Username != user.Username {
		t.Errorf("%+v, %v", posts, err)
	}
}
