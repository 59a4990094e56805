package projector_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/projector"
	"cosmosblog/store"
)

// isFeedRead tells a read of the feed's copies, the first request of a post's projection to that container.
func isFeedRead(request *http.Request) bool {
	return request.Method == http.MethodGet && containerOf(request) == "feed"
}

// slowly lets requests be answered a second late.
func slowly(which func(*http.Request) bool) func(*http.Request) int {
	return func(request *http.Request) int {
		if which(request) {
			time.Sleep(time.Second)
		}
		return 0
	}
}

// silence is a transport that gives some requests no answer until their sender gives up.
type silence struct {
	next policy.Transporter
	of   func(*http.Request) bool
}

func (s silence) Do(request *http.Request) (*http.Response, error) {
	if s.of(request) {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	return s.next.Do(request)
}

// An answer that never comes holds up what waits for it for as long as a death would, and no longer; and nothing else.
func TestAnAnswerThatNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var reads atomic.Int64
		m := w.members(1, w.wakeOnly)[0]
		defer m.stop()
		pass(balance)
		m.wire.silence(func(request *http.Request) bool {
			return isFeedRead(request) && reads.Add(1) == 1
		})
		post := w.post(w.user())
		pass(expire - 1)
		if w.feedShows(post, 0)() || reads.Load() == 0 {
			t.Fatal("the request was answered")
		}
		pass(time.Second)
		if !w.feedShows(post, 0)() {
			t.Error("the step was not given up")
		}
	})
}

// Nor does an answer about how a container is divided, for which azcosmos waits on behalf of all of its callers.
func TestAnAnswerAboutRangesThatNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.post(w.user())
		m := w.members(1, w.wakeOnly)[0]
		pass(balance)
		var asked atomic.Int64
		m.wire.silence(func(request *http.Request) bool {
			return strings.HasSuffix(request.URL.Path, "/pkranges") && asked.Add(1) == 1
		})
		w.split(store.PostsContainer, 0)
		post := w.post(w.user())
		pass(10 * expire)
		if asked.Load() == 0 || !w.feedShows(post, 0)() {
			t.Errorf("the post is not in the feed; the ranges were read %d times", asked.Load())
		}
		m.stop()
	})
}

// A long step is not given up while its requests are answered.
func TestALongStepIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		posts := w.posts(w.user(), 50)
		members := w.members(1, func(o *projector.Options) { o.Parallel = 1 })
		m := members[0]
		defer m.stop()
		m.wire.change(func(c *wire) { c.refuse = slowly(isFeedRead) })
		pass(3 * time.Minute)
		if !w.feedShows(posts[len(posts)-1], 0)() {
			t.Error("the last post is not in the feed")
		}
	})
}

// A projector that ends gives all of its leases up, though one of its steps never ends.
func TestAtItsEndAProjectorDoesNotWaitForAStuckStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		members := w.members(2, w.wakeOnly)
		m, other := members[0], members[1]
		defer other.stop()
		pass(10 * balance)
		forever, reached := make(chan struct{}), make(chan struct{})
		stuck := sync.OnceFunc(func() {
			close(reached)
			<-forever // whatever becomes of the request's context
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
				t.Errorf("%s still belongs to %s", id, owner)
			}
		}
		close(forever)
	})
}

// late is a transport by which some answers take a second, and are lost where their sender gives up meanwhile.
type late struct {
	next policy.Transporter
	of   func(*http.Request) bool
}

func (l late) Do(request *http.Request) (*http.Response, error) {
	response, err := l.next.Do(request)
	if !l.of(request) {
		return response, err
	}
	select {
	case <-time.After(time.Second):
		return response, err
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

// A projector that is told to end gives all of its leases up, whatever it does at that moment: also where it is taking,
// renewing or saving one.
func TestAtItsEndAProjectorGivesUpWhatItIsWriting(t *testing.T) {
	for moment := range 24 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorldOf(t, 2)
			m := w.members(1, w.wakeOnly)[0]
			m.wire.change(func(c *wire) {
				c.next = late{c.next, func(request *http.Request) bool { return isWrite(request) && containerOf(request) == "leases" }}
			})
			w.post(w.user())
			pass(time.Duration(moment)*time.Second/2 + time.Second/4)
			m.stop()
			for id, owner := range w.owners() {
				if owner != "" {
					t.Errorf("at %d, %s still belongs to %s", moment, id, owner)
				}
			}
		})
	}
}

// A renewal without an answer loses its lease to somebody else, and no other lease is held up by it.
func TestARenewalThatIsNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 4)
		members := w.members(2, w.wakeOnly)
		pass(10 * balance)
		before := w.owners()
		lost := w.leasesOf(store.PostsContainer)[0].ID
		for _, m := range members {
			if !slices.ContainsFunc(m.Feeds(), func(lease store.Lease) bool { return lease.ID == lost }) {
				continue
			}
			m.wire.silence(func(request *http.Request) bool {
				return isWrite(request) && strings.HasSuffix(request.URL.Path, "/"+lost)
			})
		}
		pass(expire + 2*balance)
		if shares := w.shares(); w.owners()[lost] == before[lost] || len(shares) != 2 || shares[0] < 4 {
			t.Errorf("%s belongs to %s, and did to %s; they share as %v", lost, w.owners()[lost], before[lost], shares)
		}
		for _, m := range members {
			m.stop()
		}
		pass(renew) // for what was not answered by the end
	})
}

// Leases are renewed while Settle does something that takes longer than they live.
func TestSettleRenewsItsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.posts(w.user(), 50)
		wire, s := w.wired()
		wire.refuse = slowly(isFeedRead)
		p := w.projector(s, func(o *projector.Options) { o.Now, o.Sleep, o.Parallel = nil, nil, 1 })
		if err := p.Settle(t.Context()); err != nil {
			t.Error(err)
		}
		w.check()
	})
}
