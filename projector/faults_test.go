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

// faultProfile is the probability of each fault of a request, in thousandths. Other requests
// are answered after a few milliseconds.
type faultProfile struct {
	slow       int // takes up to maxLatency
	slowNames  int // takes up to maxTrail; instead of slow if the request reads usernames, unless it is 0
	refused    int // with one of transientStatuses
	unsent     int // the connection is cut before the request reaches the engine
	unanswered int // the connection is cut after the request is done
	late       int // the connection is cut, and the request is done up to maxDelay later
	repeated   int // the request is done once more, up to maxDelay later

	maxLatency, maxDelay time.Duration
}

var (
	noFaults = faultProfile{}

	// projectorFaults is the worst case: late requests arrive long after the lease has another
	// owner.
	projectorFaults = faultProfile{slow: 20, refused: 20, unsent: 15, unanswered: 15, late: 10, repeated: 10,
		maxLatency: 8 * time.Second, maxDelay: time.Minute}

	// writerFaults is as bad: late requests arrive up to a minute after their client gave up, by when
	// both passes of a sweep or deletion may be over.
	writerFaults = faultProfile{slow: 90, slowNames: 500, refused: 5, unsent: 3, unanswered: 3, late: 10, repeated: 10,
		maxLatency: 8 * time.Second, maxDelay: time.Minute}

	// slowRequests keeps all requests of writers under way. Some arrive after their client gave up, up
	// to a minute later.
	slowRequests = faultProfile{slow: 700, late: 300, maxLatency: 5 * time.Second, maxDelay: time.Minute}
)

// transientStatuses are answered at once and do not depend on the item.
var transientStatuses = []int{
	http.StatusRequestTimeout, http.StatusTooManyRequests, 449,
	http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// faultyTransport sends the requests of one client to the engine, with faults.
type faultyTransport struct {
	mu                sync.Mutex // guards the fields below
	next              policy.Transporter
	random            *rand.Rand
	profile           faultProfile
	dead              bool
	left              int           // requests until the client dies; unlimited below 0
	scriptsFailBefore time.Time     // until then scripts are refused with 400, as if they were faulty
	suspended         *suspension   // nil if the client runs
	clockDelay        time.Duration // the total time for which the client's clock stood still
}

// suspension suspends a client for a while.
type suspension struct {
	left         int           // requests until it begins
	clockStopped time.Time     // when the client's clock stopped; zero if it keeps running
	over         chan struct{} // closed at its end
	leasesOpen   chan struct{} // closed when requests to leases are answered again
}

func newFaultyTransport(next policy.Transporter, random *rand.Rand) *faultyTransport {
	return &faultyTransport{next: next, random: random, left: -1}
}

func (t *faultyTransport) setProfile(profile faultProfile, next policy.Transporter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.profile, t.next = profile, next
}

// dieAfter kills the client after n more requests.
func (t *faultyTransport) dieAfter(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = n
}

// refuseScripts refuses all scripts for a while.
func (t *faultyTransport) refuseScripts(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scriptsFailBefore = time.Now().Add(d)
}

// suspend suspends the client after n more requests until resume is called, like a stopped
// process. All its requests wait, even those decided on before, and are sent then regardless of
// the time. If stopClock is set, the client's clock stops too, like that of a machine during a
// migration, so the client cannot notice. Requests to leases wait until openLeases is called.
func (t *faultyTransport) suspend(n int, stopClock bool) (resume, openLeases func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resume()
	s := &suspension{left: n, over: make(chan struct{}), leasesOpen: make(chan struct{})}
	if stopClock {
		s.clockStopped = time.Now()
	}
	t.suspended = s
	resume = func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.suspended == s {
			t.resume()
		}
	}
	return resume, func() { close(s.leasesOpen) }
}

// resume ends a suspension. The caller holds t.mu.
func (t *faultyTransport) resume() {
	if t.suspended == nil {
		return
	}
	if !t.suspended.clockStopped.IsZero() {
		t.clockDelay += time.Since(t.suspended.clockStopped)
	}
	close(t.suspended.over)
	t.suspended = nil
}

// now returns the time by the client's clock.
func (t *faultyTransport) now() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.suspended != nil && !t.suspended.clockStopped.IsZero() {
		now = t.suspended.clockStopped
	}
	return now.Add(-t.clockDelay)
}

// fault is the fault of one request.
type fault struct {
	next        policy.Transporter
	dead        bool          // no answer
	cut, done   bool          // the connection is cut; the request is done before that
	status      int           // of the answer; 0 for the engine's
	latency     time.Duration // until the request reaches the engine
	repeatAfter time.Duration // until it reaches the engine once more; 0 for never
}

func (t *faultyTransport) Do(request *http.Request) (*http.Response, error) {
	ofItem := isOfItem(request)
	if ofItem {
		t.waitWhileSuspended(request)
	}
	f := t.drawFault(request, ofItem)
	if f.dead {
		return nil, errCut
	}
	time.Sleep(f.latency)
	if f.repeatAfter > 0 {
		if err := f.repeat(request); err != nil {
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

func (t *faultyTransport) waitWhileSuspended(request *http.Request) {
	t.mu.Lock()
	s := t.suspended
	if s != nil && s.left > 0 {
		s.left--
		s = nil
	}
	t.mu.Unlock()
	if s == nil {
		return
	}
	<-s.over
	if containerOf(request) == "leases" {
		<-s.leasesOpen
	}
}

// isOfItem reports whether a request is for an item or script. Requests about containers must
// not take time in a synctest bubble, because azcosmos waits for their answers with a lock
// held.
func isOfItem(request *http.Request) bool {
	return strings.Contains(request.URL.Path, "/docs") || strings.Contains(request.URL.Path, "/sprocs/")
}

func (t *faultyTransport) drawFault(request *http.Request, ofItem bool) fault {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead = t.dead || t.left == 0; t.dead {
		return fault{dead: true}
	}
	if t.left = max(-1, t.left-1); t.left == 0 && t.random.IntN(2) == 0 {
		return fault{next: t.next, cut: true, done: true}
	}
	if !ofItem {
		return fault{next: t.next}
	}
	f := fault{next: t.next, latency: time.Duration(t.random.Int64N(int64(5 * time.Millisecond)))}
	if strings.Contains(request.URL.Path, "/sprocs/") && time.Now().Before(t.scriptsFailBefore) {
		f.status = http.StatusBadRequest
		return f
	}
	p, roll := t.profile, t.random.IntN(1000)
	if p.slowNames > 0 && containerOf(request) == "usernames" && !isWrite(request) {
		p.slow, p.maxLatency = p.slowNames, min(p.maxLatency, maxTrail)
	}
	drawn := func(chance int) bool {
		roll -= chance
		return roll < 0 && roll >= -chance
	}
	switch {
	case drawn(p.slow):
		f.latency = t.upTo(p.maxLatency)
	case drawn(p.refused):
		f.status = transientStatuses[t.random.IntN(len(transientStatuses))]
	case drawn(p.unsent):
		f.cut = true
	case drawn(p.unanswered):
		f.cut, f.done = true, true
	case drawn(p.late):
		f.cut, f.repeatAfter = true, t.upTo(p.maxDelay)
	case drawn(p.repeated):
		f.repeatAfter = t.upTo(p.maxDelay)
	}
	return f
}

func (t *faultyTransport) upTo(limit time.Duration) time.Duration {
	return time.Millisecond + time.Duration(t.random.Int64N(int64(limit)))
}

// repeat sends a copy of a request to the engine later, even if the request is canceled by
// then.
func (f fault) repeat(request *http.Request) error {
	copied := request.Clone(context.WithoutCancel(request.Context()))
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return err
		}
		request.Body, copied.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	}
	time.AfterFunc(f.repeatAfter, func() { _, _ = f.next.Do(copied) })
	return nil
}

// switchTransport sends requests by one of two transports.
type switchTransport struct {
	on          *atomic.Bool
	ifOn, ifOff policy.Transporter
}

func (s switchTransport) Do(request *http.Request) (*http.Response, error) {
	if s.on.Load() {
		return s.ifOn.Do(request)
	}
	return s.ifOff.Do(request)
}
