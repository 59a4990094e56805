package projector_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/projector"
	"cosmosblog/store/schema"
)

// isFeedRead reports whether a request reads a copy in the feed, which is the first request to
// that container in the projection of a post.
func isFeedRead(request *http.Request) bool {
	return request.Method == http.MethodGet && containerOf(request) == "feed"
}

// delaySecond delays the selected requests by a second.
func delaySecond(which func(*http.Request) bool) func(*http.Request) int {
	return func(request *http.Request) int {
		if which(request) {
			time.Sleep(time.Second)
		}
		return 0
	}
}

// noAnswer is a transport that does not answer some requests until their context ends.
type noAnswer struct {
	next    policy.Transporter
	selects func(*http.Request) bool
}

func (s noAnswer) Do(request *http.Request) (*http.Response, error) {
	if s.selects(request) {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	return s.next.Do(request)
}

// A missing answer blocks its worker no longer than a crash would, and blocks no other worker.
func TestMissingAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var reads atomic.Int64
		m := w.members(1, w.wakeOnly)[0]
		defer m.stop()
		advanceTime(balance)
		m.wire.dropAnswers(func(request *http.Request) bool {
			return isFeedRead(request) && reads.Add(1) == 1
		})
		post := w.post(w.user())
		advanceTime(expire - 1)
		if w.feedShows(post, 0)() || reads.Load() == 0 {
			t.Fatal("the request was answered")
		}
		advanceTime(time.Second)
		if !w.feedShows(post, 0)() {
			t.Error("the step was not canceled")
		}
	})
}

// The same holds for posts that are projected in groups, which take turns.
func TestMissingAnswerInGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 8)
		const n = 40
		author := w.user()
		for range n {
			w.post(author)
		}
		wire, s := w.wired()
		var groups atomic.Int64
		wire.dropAnswers(func(request *http.Request) bool {
			isGroup := containerOf(request) == "feed" && request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != ""
			return isGroup && groups.Add(1) == 1
		})
		_, stop := w.run(s, withoutTakeOver)
		defer stop()
		shown := func() int {
			page, err := w.store.Feed(t.Context(), blog.PageRequest{First: n})
			if err != nil {
				t.Fatal(err)
			}
			return len(page.Items)
		}
		advanceTime(expire - time.Second)
		if got := shown(); got < n/2 || got == n || groups.Load() < 2 {
			t.Errorf("%d of %d posts are in the feed, after %d groups", got, n, groups.Load())
		}
		advanceTime(2 * time.Second)
		if got := shown(); got != n {
			t.Errorf("%d of %d posts are in the feed after the step was canceled", got, n)
		}
	})
}

// The same holds for a request of a pass, which then starts over.
func TestMissingAnswerInSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		post, ben := w.post(w.user()), w.user()
		w.comment(ben, post)
		var executions atomic.Int64
		m := w.members(1, w.wakeOnly)[0]
		defer m.stop()
		advanceTime(balance)
		m.wire.dropAnswers(func(request *http.Request) bool {
			return strings.HasSuffix(request.URL.Path, schema.UpdateUsernames.ID) && executions.Add(1) == 1
		})
		ben = w.rename(ben)
		advanceTime(expire - time.Second)
		if w.firstCommenter(post) == ben.Username || executions.Load() != 1 {
			t.Fatal("the request was answered")
		}
		advanceTime(3 * time.Second)
		if w.firstCommenter(post) != ben.Username {
			t.Error("the request was not canceled")
		}
	})
}

// The same holds for the list of feed ranges, which azcosmos requests on behalf of all its
// callers.
func TestMissingAnswerAboutRanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.post(w.user())
		m := w.members(1, w.wakeOnly)[0]
		advanceTime(balance)
		var reads atomic.Int64
		m.wire.dropAnswers(func(request *http.Request) bool {
			return strings.HasSuffix(request.URL.Path, "/pkranges") && reads.Add(1) == 1
		})
		w.split(schema.Posts, 0)
		post := w.post(w.user())
		advanceTime(10 * expire)
		if reads.Load() == 0 || !w.feedShows(post, 0)() {
			t.Errorf("the post is not in the feed; the ranges were read %d times", reads.Load())
		}
		m.stop()
	})
}

// A long step is not canceled while its requests are answered.
func TestLongStepIsNotCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const n = 50
		w.deletions(n)
		wire, s := w.wired()
		wire.refuse = delaySecond(isFeedRead)
		var log bytes.Buffer
		_, stop := w.run(s, withoutTakeOver, func(o *projector.Options) {
			o.Parallel = 1
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		advanceTime(2 * expire)
		if done := wire.writesTo("feed"); done == 0 || done == n {
			t.Errorf("%d of %d deletions projected after %v", done, n, 2*expire)
		}
		advanceTime(expire)
		if done := wire.writesTo("feed"); done != n {
			t.Errorf("%d of %d deletions projected after %v", done, n, 3*expire)
		}
		stop()
		if log.Len() > 0 {
			t.Errorf("the log has\n%s", &log)
		}
	})
}

// A projector releases all of its leases at its end, even if a step never ends.
func TestReleaseWithStuckStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		members := w.members(2, w.wakeOnly)
		m, other := members[0], members[1]
		defer other.stop()
		advanceTime(10 * balance)
		forever, reached := make(chan struct{}), make(chan struct{})
		stuck := sync.OnceFunc(func() {
			close(reached)
			<-forever // even after the request's context ends
		})
		for _, m := range members {
			m.wire.change(func(c *wire) {
				c.refuse = func(request *http.Request) int {
					if isFeedRead(request) {
						stuck()
					}
					return 0
				}
			})
		}
		w.post(w.user())
		<-reached
		m.stop()
		other.stop()
		for id, owner := range w.owners() {
			if owner != "" {
				t.Errorf("%s is still owned by %s", id, owner)
			}
		}
		close(forever)
	})
}

// lateAnswers is a transport that delays some answers by a second, and loses them if their
// context ends meanwhile.
type lateAnswers struct {
	next    policy.Transporter
	selects func(*http.Request) bool
}

func (l lateAnswers) Do(request *http.Request) (*http.Response, error) {
	response, err := l.next.Do(request)
	if !l.selects(request) {
		return response, err
	}
	select {
	case <-time.After(time.Second):
		return response, err
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

// A projector that is stopped releases all of its leases, even those that it is taking,
// renewing or saving at that moment.
func TestReleaseDuringLeaseWrites(t *testing.T) {
	for moment := range 24 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorldOf(t, 2)
			m := w.members(1, w.wakeOnly)[0]
			m.wire.change(func(c *wire) {
				c.next = lateAnswers{c.next, func(request *http.Request) bool { return isWrite(request) && containerOf(request) == "leases" }}
			})
			w.post(w.user())
			advanceTime(time.Duration(moment)*time.Second/2 + time.Second/4)
			m.stop()
			for id, owner := range w.owners() {
				if owner != "" {
					t.Errorf("at %d, %s is still owned by %s", moment, id, owner)
				}
			}
		})
	}
}

// A projector whose heartbeats get no answer stops in time, and loses its leases to another one.
func TestMissingAnswersToHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 4)
		members := w.members(2, w.wakeOnly)
		advanceTime(10 * balance)
		members[0].wire.dropAnswers(func(request *http.Request) bool {
			return isWrite(request) && strings.Contains(request.URL.Path, "/heartbeat.")
		})
		advanceTime(expire + balance)
		before := members[0].wire.writesTo("feed")
		post := w.post(w.user())
		advanceTime(balance)
		if n := members[0].wire.writesTo("feed"); n != before {
			t.Errorf("without heartbeats, it writes: %d", n-before)
		}
		if shares := w.loads(); len(shares) != 1 || !w.feedShows(post, 0)() {
			t.Errorf("the loads are %v", shares)
		}
		for _, m := range members {
			m.stop()
		}
		advanceTime(renew) // for requests without an answer at the end
	})
}

// SettleForTests renews its leases during steps longer than Expire.
func TestSettleRenewsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const n = 50
		w.deletions(n)
		wire, s := w.wired()
		wire.refuse = delaySecond(isFeedRead)
		p := w.projector(s, func(o *projector.Options) { o.Now, o.Sleep, o.Parallel = nil, nil, 1 })
		begun := time.Now()
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Error(err)
		}
		if took, done := time.Since(begun), wire.writesTo("feed"); took < 2*expire || done != n {
			t.Errorf("%d of %d deletions projected in %v", done, n, took)
		}
	})
}
