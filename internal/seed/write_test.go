package seed_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/seed"
	"cosmosblog/store"
)

// issuer is that of the accounts in these tests.
const issuer = "test"

func (d *database) write(s *store.Store, set *seed.Set) {
	d.t.Helper()
	if err := set.Write(d.t.Context(), s, seed.Options{}); err != nil {
		d.t.Fatal(err)
	}
}

// event is one command, at its time.
type event struct {
	date blog.DateTime
	do   func() error
}

// command writes the set as its users would: command by command, in the order of time.
func (d *database) command(set *seed.Set, number uint64) *store.Store {
	d.t.Helper()
	var now time.Time
	ids := &idStream{}
	s := d.open(store.Options{Now: func() time.Time { return now }, IDs: blog.IDSource{Random: ids}})
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
		now = e.date.Time()
		if err := e.do(); err != nil {
			d.t.Fatal(err)
		}
	}
	return s
}

func commandsOf(ctx context.Context, s *store.Store, ids *idStream, thread store.Thread) []event {
	post := thread.Post
	events := []event{{post.CreationDate, func() error {
		ids.expect(post.ID)
		_, err := s.CreatePost(ctx, post.Author, blog.PostInput{Title: post.Title, Content: post.Content})
		return err
	}}}
	for _, comment := range thread.Comments {
		events = append(events, event{comment.CreationDate, func() error {
			ids.expect(comment.ID)
			_, err := s.CreateComment(ctx, comment.Author, blog.CommentInput{PostID: post.ID, Content: comment.Content})
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

// TestItemsAreThoseOfTheCommands writes a set once by commands and the projector, and once in batches with the views, and
// compares all items: enough posts that some are too old for the feed.
func TestItemsAreThoseOfTheCommands(t *testing.T) {
	const number = 1
	set := seed.New(issuer, number, 9)
	if posts, _ := set.Size(); posts <= store.FeedCapacity {
		t.Fatalf("%d posts do not fill the feed", posts)
	}
	byCommands, inBatches := newDatabase(t), newDatabase(t)
	byCommands.settle(byCommands.command(set, number))
	s := inBatches.open(store.Options{})
	inBatches.write(s, set)
	want := byCommands.items()
	same(t, inBatches.items(), want)

	inBatches.settle(s) // the projector finds nothing to do
	same(t, inBatches.items(), want)
	inBatches.write(s, set) // and neither does who seeds again
	same(t, inBatches.items(), want)
}

func TestEverythingIsToldOf(t *testing.T) {
	set := seed.New(issuer, 2, 5)
	d := newDatabase(t)
	told := make(chan int, 10_000)
	if err := set.Write(t.Context(), d.open(store.Options{}), seed.Options{Parallel: 3, Written: func(n int) { told <- n }}); err != nil {
		t.Fatal(err)
	}
	close(told)
	sum := 0
	for n := range told {
		sum += n
	}
	if _, items := set.Size(); sum != items {
		t.Errorf("told of %d items, not %d", sum, items)
	}
}

// TestABrokenRunGoesOn breaks runs off at many requests, once before and once after the request was heard, and has another
// run end them.
func TestABrokenRunGoesOn(t *testing.T) {
	set := seed.New(issuer, 3, 2)
	whole := newDatabase(t)
	counted := &wire{next: store.InProcess(whole.engine)}
	counted.left.Store(1 << 62)
	s := whole.open(store.Options{Transport: counted})
	before := counted.requests.Load()
	whole.write(s, set)
	requests := counted.requests.Load() - before
	want := whole.items()
	for n := int64(0); n < requests; n += 1 + requests/11 {
		d := newDatabase(t)
		broken := &wire{next: store.InProcess(d.engine), answerLost: n%2 == 0}
		broken.left.Store(1 << 62)
		s := d.open(store.Options{Transport: broken})
		broken.left.Store(n)
		if err := set.Write(t.Context(), s, seed.Options{Parallel: 4}); err == nil {
			t.Fatalf("the run that was cut after %d requests did not notice", n)
		}
		d.write(d.open(store.Options{}), set)
		same(t, d.items(), want)
	}
}

func TestThrottledRequestsAreWaitedFor(t *testing.T) {
	set := seed.New(issuer, 4, 2)
	free, throttled := newDatabase(t), newDatabase(t)
	free.write(free.open(store.Options{}), set)
	slow := &wire{next: store.InProcess(throttled.engine)}
	slow.left.Store(1 << 62)
	s := throttled.open(store.Options{Transport: slow})
	begin := slow.requests.Load()
	slow.refuse = func(n int64) bool { return n-begin < 200 || n%3 > 0 } // nothing for long, and then one of three
	throttled.write(s, set)
	same(t, throttled.items(), free.items())
}

// TestAProjectorMayRun has a projector work on what is being written.
func TestAProjectorMayRun(t *testing.T) {
	set := seed.New(issuer, 5, 8)
	quiet, busy := newDatabase(t), newDatabase(t)
	quiet.write(quiet.open(store.Options{}), set)
	s := busy.open(store.Options{})
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
	same(t, busy.items(), quiet.items())
}

// TestNamesakes seeds where somebody bears a name of the set already.
func TestNamesakes(t *testing.T) {
	set := seed.New(issuer, 6, 2)
	d := newDatabase(t)
	s := d.open(store.Options{})
	name := set.User(1).Username
	if _, err := s.CreateUser(t.Context(), blog.Account{Issuer: issuer, Subject: "anna"}, name); err != nil {
		t.Fatal(err)
	}
	d.write(s, set)
	d.write(s, set)
	user, err := s.User(t.Context(), set.User(1).ID)
	if err != nil {
		t.Fatal(err)
	}
	if want := name + "-2"; user.Username != want {
		t.Errorf("the namesake is called %s, not %s", user.Username, want)
	}
	posts, err := s.UserPosts(t.Context(), user.ID, blog.PageRequest{First: 1})
	if err != nil || posts.Items[0].Author.Username != user.Username {
		t.Errorf("%+v, %v", posts, err)
	}
}
