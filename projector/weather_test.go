package projector_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// climate is what may become of a request, each of a thousand times. What is left takes its time and is answered.
type climate struct {
	slow       int // takes up to slowest
	refused    int // with one of the statuses that come and go
	unsent     int // the connection is cut before
	unanswered int // and after it was done
	tardy      int // cut, and done up to latest later
	doubled    int // done once more, up to latest later

	slowest, latest time.Duration
}

var (
	calm = climate{}

	// ofProjectors is as bad as it gets: what is late comes when the lease has long been somebody else's.
	ofProjectors = climate{slow: 20, refused: 20, unsent: 15, unanswered: 15, tardy: 10, doubled: 10,
		slowest: 8 * time.Second, latest: time.Minute}

	// ofWriters keeps what commands are held to: what they send is done within CommandDeadline of reading a name.
	ofWriters = climate{slow: 90, refused: 5, unsent: 3, unanswered: 3, tardy: 3, doubled: 3,
		slowest: 8 * time.Second, latest: 8 * time.Second}

	// ofTalkers keeps all that writers send on its way.
	ofTalkers = climate{slow: 1000, slowest: 5 * time.Second}
)

// passing are the statuses that come and go. They are answered at once, and say nothing of the item.
var passing = []int{
	http.StatusRequestTimeout, http.StatusTooManyRequests, 449, http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// weather is the way of one sender's requests to the engine.
type weather struct {
	mu      sync.Mutex // held while what follows is read or changed
	next    policy.Transporter
	random  *rand.Rand
	climate climate
	dead    bool
	left    int           // how many requests are sent until it is; below 0, no number of them
	faulty  time.Time     // until then scripts are refused, as if the fault were theirs
	stopped *stop         // nil where all is sent
	behind  time.Duration // how long its clock stood still
}

// stop is that of a sender who is stopped, and then goes on.
type stop struct {
	left   int           // how many requests are sent until then
	since  time.Time     // from when on its clock stands still; zero where it goes on
	over   chan struct{} // closed when it goes on
	learns chan struct{} // and when its leases are answered again, by which it learns what happened meanwhile
}

func newWeather(next policy.Transporter, random *rand.Rand) *weather {
	return &weather{next: next, random: random, left: -1}
}

// become changes the climate, and the way that it is of.
func (s *weather) become(c climate, next policy.Transporter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.climate, s.next = c, next
}

// dieAfter lets so many requests be sent, and then none.
func (s *weather) dieAfter(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = n
}

// refuseScripts lets no script be run for a while.
func (s *weather) refuseScripts(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faulty = time.Now().Add(d)
}

// stop holds up all that is to be sent after n more requests until it goes on, as a process that is stopped does: also what was
// decided on before, and whatever the time by then. Where its clock stands still meanwhile, as that of a machine does which
// is moved, it cannot tell. It learns that its leases are lost some time after it goes on.
func (s *weather) stop(n int, clockStands bool) (goOn, learn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.goOn()
	at := &stop{left: n, over: make(chan struct{}), learns: make(chan struct{})}
	if clockStands {
		at.since = time.Now()
	}
	s.stopped = at
	goOn = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.stopped == at {
			s.goOn()
		}
	}
	return goOn, func() { close(at.learns) }
}

// goOn ends a stop. s.mu is held.
func (s *weather) goOn() {
	if s.stopped == nil {
		return
	}
	if !s.stopped.since.IsZero() {
		s.behind += time.Since(s.stopped.since)
	}
	close(s.stopped.over)
	s.stopped = nil
}

// now is the time by the sender's own clock.
func (s *weather) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.stopped != nil && !s.stopped.since.IsZero() {
		now = s.stopped.since
	}
	return now.Add(-s.behind)
}

// fate is what becomes of one request.
type fate struct {
	next            policy.Transporter
	dead, cut, done bool          // without an answer; done first
	status          int           // of the answer; 0 for the engine's
	before          time.Duration // it takes until it reaches the engine
	again           time.Duration // until it reaches it once more; 0 for never
}

func (s *weather) Do(request *http.Request) (*http.Response, error) {
	ofItems := isOfItems(request)
	if ofItems {
		s.waitForPassage(request)
	}
	f := s.draw(request, ofItems)
	if f.dead {
		return nil, errCut
	}
	time.Sleep(f.before)
	if f.again > 0 {
		if err := f.later(request); err != nil {
			return nil, err
		}
	}
	switch {
	case f.status != 0:
		return refusal(request, f.status), nil
	case f.cut && !f.done:
		return nil, errCut
	}
	response, err := f.next.Do(request)
	if f.cut {
		return nil, errCut
	}
	return response, err
}

func (s *weather) waitForPassage(request *http.Request) {
	s.mu.Lock()
	at := s.stopped
	if at != nil && at.left > 0 {
		at.left--
		at = nil
	}
	s.mu.Unlock()
	if at == nil {
		return
	}
	<-at.over
	if containerOf(request) == "leases" {
		<-at.learns
	}
}

// isOfItems tells requests to items and scripts from those about containers. azcosmos waits for the answers of these with
// a lock held, so that in a bubble they may take no time.
func isOfItems(request *http.Request) bool {
	return strings.Contains(request.URL.Path, "/docs") || strings.Contains(request.URL.Path, "/sprocs/")
}

func (s *weather) draw(request *http.Request, ofItems bool) fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead = s.dead || s.left == 0; s.dead {
		return fate{dead: true}
	}
	if s.left = max(-1, s.left-1); s.left == 0 && s.random.IntN(2) == 0 {
		return fate{next: s.next, cut: true, done: true}
	}
	if !ofItems {
		return fate{next: s.next}
	}
	f := fate{next: s.next, before: time.Duration(s.random.Int64N(int64(5 * time.Millisecond)))}
	if strings.Contains(request.URL.Path, "/sprocs/") && time.Now().Before(s.faulty) {
		f.status = http.StatusBadRequest
		return f
	}
	c, roll := s.climate, s.random.IntN(1000)
	happens := func(chance int) bool {
		roll -= chance
		return roll < 0 && roll >= -chance
	}
	switch {
	case happens(c.slow):
		f.before = s.upTo(c.slowest)
	case happens(c.refused):
		f.status = passing[s.random.IntN(len(passing))]
	case happens(c.unsent):
		f.cut = true
	case happens(c.unanswered):
		f.cut, f.done = true, true
	case happens(c.tardy):
		f.cut, f.again = true, s.upTo(c.latest)
	case happens(c.doubled):
		f.again = s.upTo(c.latest)
	}
	return f
}

func (s *weather) upTo(most time.Duration) time.Duration {
	return time.Millisecond + time.Duration(s.random.Int64N(int64(most)))
}

// later lets a copy of a request reach the engine later, whoever waits for it.
func (f fate) later(request *http.Request) error {
	copied := request.Clone(context.WithoutCancel(request.Context()))
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return err
		}
		request.Body, copied.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	}
	time.AfterFunc(f.again, func() { _, _ = f.next.Do(copied) })
	return nil
}

// whether is one of two transports.
type whether struct {
	holds     *atomic.Bool
	then, not policy.Transporter
}

func (w whether) Do(request *http.Request) (*http.Response, error) {
	if w.holds.Load() {
		return w.then.Do(request)
	}
	return w.not.Do(request)
}
