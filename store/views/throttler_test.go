package views_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/storetest"
	"cosmosblog/store/views"
)

// paced is a Pace with nothing behind it, whose clock moves when it sleeps.
type paced struct {
	*views.Throttler
	clock  *storetest.StillClock
	pauses []time.Duration
	pause  func(time.Duration) // called in each pause, where there is one

	throttled int64
	wait      time.Duration
}

func newPaced(most int) *paced {
	p := &paced{clock: storetest.NewStillClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))}
	sleep := func(ctx context.Context, d time.Duration) error {
		p.pauses = append(p.pauses, d)
		p.clock.Advance(d)
		if p.pause != nil {
			p.pause(d)
		}
		return ctx.Err()
	}
	p.Throttler = views.NewTestThrottler(most, p.clock.Now, sleep, func() (int64, time.Duration) { return p.throttled, p.wait })
	return p
}

// refuseSomebody has somebody's request refused.
func (p *paced) refuseSomebody(wait time.Duration) {
	p.throttled++
	p.wait = wait
}

func (p *paced) succeed(t *testing.T, n int) {
	for range n {
		if err := p.Do(t.Context(), func() error { p.clock.Advance(10 * time.Millisecond); return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// A refusal halves the pace and makes it wait for longer than was asked, once for all refusals of that time; successes
// bring everything back, and nothing more.
func TestPaceGivesWayAndHurries(t *testing.T) {
	p := newPaced(8)
	p.succeed(t, 10)
	if len(p.pauses) > 0 || p.Limit() != 8 {
		t.Errorf("without a shortage: pauses %v, limit %v", p.pauses, p.Limit())
	}
	p.refuseSomebody(time.Second)
	p.refuseSomebody(2 * time.Second)
	p.succeed(t, 1)
	if len(p.pauses) != 1 || p.pauses[0] != 3*time.Second || int(p.Limit()) != 4 {
		t.Errorf("after a refusal: pauses %v, limit %v", p.pauses, p.Limit())
	}
	for range 20 {
		p.refuseSomebody(100 * time.Millisecond)
		p.succeed(t, 1)
	}
	if p.Limit() < views.LeastPace || p.Limit() > 2*views.LeastPace {
		t.Errorf("after many: limit %v", p.Limit())
	}
	begun := p.clock.Now()
	p.succeed(t, 16)
	if share := 16 * 10 * time.Millisecond.Seconds() / p.clock.Now().Sub(begun).Seconds(); share > 2.5*views.LeastPace {
		t.Errorf("it works %.2f of the time", share)
	}
	p.succeed(t, 1000)
	if p.Limit() != 8 {
		t.Errorf("after the shortage: limit %v", p.Limit())
	}
}

// Somebody whose requests are refused all the time slows the pace down, and does not hold it up for ever.
func TestPaceComesToAnEndInAShortageThatDoesNotEnd(t *testing.T) {
	p := newPaced(8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.pause = func(time.Duration) {
		p.refuseSomebody(time.Second)
		if len(p.pauses) > 100 {
			cancel()
		}
	}
	p.refuseSomebody(time.Second)
	for range 20 {
		if err := p.Do(ctx, func() error { p.clock.Advance(10 * time.Millisecond); return nil }); err != nil {
			t.Fatalf("%d pauses, and nothing is done: %v", len(p.pauses), err)
		}
	}
	if len(p.pauses) < 20 || p.Limit() > 2*views.LeastPace {
		t.Errorf("pauses %v, limit %v", p.pauses, p.Limit())
	}
}

// What the account refuses is done again until it is done; any other error is given back.
func TestPaceDoesAgainWhatIsRefused(t *testing.T) {
	p := newPaced(2)
	tries, other := 0, errors.New("something else")
	err := p.Do(t.Context(), func() error {
		if tries++; tries < 50 {
			return &blog.Error{Code: blog.Throttled}
		}
		return other
	})
	if err != other || tries != 50 {
		t.Errorf("%d tries, %v", tries, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Do(gone, func() error { return &blog.Error{Code: blog.Throttled} }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up: %v", err)
	}
}

// Who gives up before they begin takes no room from those who come later, however many they are.
func TestPaceIsNotHeldByWhoGaveUp(t *testing.T) {
	p := newPaced(2)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		if err := p.Do(gone, func() error { t.Error("a step was taken"); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("given up, it gives %v", err)
		}
	}
	if p.Running() != 0 {
		t.Fatalf("%d are running", p.Running())
	}
	p.succeed(t, 1)
}

// Never more is done at a time than may be.
func TestPaceBounds(t *testing.T) {
	p := newPaced(3)
	var mu sync.Mutex
	running, most := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		most = max(most, running)
	}
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			_ = p.Do(t.Context(), func() error {
				count(1)
				defer count(-1)
				return nil
			})
		})
	}
	group.Wait()
	if most > 3 || p.Running() != 0 {
		t.Errorf("%d at a time, %d in the end", most, p.Running())
	}
}

// sweptWorld has a user with a comment on each of n posts of somebody else, and their sweep.
func sweptWorld(t *testing.T, n int) (*world, views.Sweep) {
	w := newWorld(t)
	writer := &blog.User{ID: "u_writer", Username: "writer", Revision: 2}
	date := blog.NewDateTime(w.Clock.Now())
	for i := range n {
		_, err := w.WriteThread(t.Context(), bulk.Thread{
			Post:     &blog.Post{ID: fmt.Sprintf("p_%d", i), Author: &blog.User{ID: "u_a", Username: "anna", Revision: 2}, Content: "…", CreationDate: date},
			Comments: []*blog.Comment{{ID: fmt.Sprintf("c_%d", i), Author: writer, Content: "…", CreationDate: date}},
		})
		w.OK(err)
	}
	w.Faults.Set(nil)
	return w, views.Sweep{UserID: writer.ID, Username: "rewriter", AuthorRevision: 4}
}

// executions counts the executions of updateUsernames.
func (w *world) executions() (n int) {
	for _, request := range w.Faults.Requests() {
		if strings.Contains(request.URL.Path, "/sprocs/") {
			n++
		}
	}
	return n
}

// A sweep that is killed in the middle goes on where it was, and finds nothing that is done.
func TestSweepGoesOnAfterADeath(t *testing.T) {
	const n = 350
	w, sweep := sweptWorld(t, n)
	w.Faults.Set(storetest.DeadFrom(200))
	if _, _, err := w.Sweep(t.Context(), sweep, w.NewThrottler(4)); err == nil {
		t.Fatal("it did not die")
	}
	done := n - w.stale(sweep)
	w.Faults.Set(nil)
	updated, more, err := w.Sweep(t.Context(), sweep, w.NewThrottler(4))
	w.OK(err)
	if done < 100 || updated != n-done || w.executions() != n-done || more || w.stale(sweep) != 0 {
		t.Errorf("%d were done, then %d by %d executions, %d are left", done, updated, w.executions(), w.stale(sweep))
	}
}

// stale counts what a sweep has still to do.
func (w *world) stale(sweep views.Sweep) (n int) {
	more, err := w.another().EachSwept(w.Ctx(), sweep, func() { n++ })
	w.OK(err)
	if more {
		w.T.Error("the count was laid down")
	}
	return n
}

// A sweep is laid down after a while, for others, and then goes on.
func TestSweepsTakeTurns(t *testing.T) {
	const n = 350
	w, sweep := sweptWorld(t, n)
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		w.Clock.Advance(30 * time.Millisecond)
		return next.Do(request)
	})
	total := 0
	for rounds := 1; ; rounds++ {
		updated, more, err := w.Sweep(t.Context(), sweep, w.NewThrottler(4))
		w.OK(err)
		total += updated
		if !more {
			if rounds != 3 || total != n {
				t.Errorf("%d rounds, %d updated", rounds, total)
			}
			return
		}
	}
}

// A sweep that finds little and whose query takes longer than a turn comes to its end all the same.
func TestSweepsOfManyRangesTakeTheirTurn(t *testing.T) {
	w := newDividedWorld(t)
	writer := &blog.User{ID: "u_writer", Username: "writer", Revision: 2}
	date := blog.NewDateTime(w.Clock.Now())
	for i := range 8 {
		_, err := w.WriteThread(t.Context(), bulk.Thread{Post: &blog.Post{ID: fmt.Sprintf("p_%d", i), Author: writer, Content: "…", CreationDate: date}})
		w.OK(err)
	}
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		w.Clock.Advance(6 * time.Second)
		return next.Do(request)
	})
	sweep := views.Sweep{UserID: writer.ID, Username: "rewriter", AuthorRevision: 4}
	for turns := 1; ; turns++ {
		_, more, err := w.Sweep(t.Context(), sweep, w.NewThrottler(1))
		w.OK(err)
		if !more {
			return
		}
		if turns == 50 {
			t.Fatalf("after %d turns %d posts are left", turns, w.stale(sweep))
		}
	}
}

// One partition that refuses is no reason to leave the others as they are.
func TestSweepGoesOnAroundWhatIsRefused(t *testing.T) {
	const n = 120
	w, sweep := sweptWorld(t, n)
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get(cosmos.PartitionKeyHeader) == `["p_7"]` {
			return storetest.Refusal(request, http.StatusBadRequest), nil
		}
		return next.Do(request)
	})
	updated, _, err := w.Sweep(t.Context(), sweep, w.NewThrottler(4))
	if !cosmos.IsItemError(err) || updated != n-1 {
		t.Errorf("%d updated, %v", updated, err)
	}
}
