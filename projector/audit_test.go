package projector_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/audit"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// audit audits the world. At each wait of the audit, another projector projects all pending
// changes.
func (w *world) audit(change ...func(*auditing)) (drifts []string, audited audit.Result) {
	w.Helper()
	drifts, audited, err := w.tryAudit(change...)
	if err != nil {
		w.Fatalf("audit: %v", err)
	}
	return drifts, audited
}

// auditing is an audit of a database.
type auditing struct {
	audit.Options
	Store *storetest.Database
	Sleep sleeper
}

func (w *world) tryAudit(change ...func(*auditing)) (drifts []string, audited audit.Result, err error) {
	a := &auditing{Store: w.store, Sleep: func(ctx context.Context, _ time.Duration) error {
		w.clock.Advance(time.Minute)
		return w.projector(w.store).SettleForTests(ctx)
	}}
	a.Found = func(d audit.Drift, _ bool) { drifts = append(drifts, driftText(d)) }
	for _, f := range change {
		f(a)
	}
	audited, err = audit.Run(withSleep(w.Context(), a.Sleep), a.Store.DB, a.Options)
	slices.Sort(drifts)
	return drifts, audited, err
}

func driftText(d audit.Drift) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", d.Kind, d.Container, d.ID, d.Field))
}

// wantNoDrift fails the test if an audit finds drift.
func (w *world) wantNoDrift() {
	w.Helper()
	drifts, audited := w.audit()
	if len(drifts) != 0 || audited.Drifts != 0 || audited.Unstable != 0 || audited.Stalled {
		w.Errorf("%+v: %s", audited, strings.Join(drifts[:min(10, len(drifts))], "; "))
	}
}

// Beside writers and a running projector, an audit reports no drift, and writes nothing even if
// it may repair. At the end it agrees with the comparison through the API.
func TestAuditBesideARunningSystem(t *testing.T) {
	seed := testseed.Of(t)
	for _, ranges := range someOf(t, rangeCounts, 1) {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			w := newWorldOf(t, ranges)
			p, stop := w.run(w.store, func(o *projector.Options) {
				o.Wake = w.wake
				o.Renew, o.Balance, o.Expire = 10*time.Millisecond, 50*time.Millisecond, 2*time.Second
			})
			simulate(w, seed, 40)
			turns, written := w.writeInTurns(seed)
			wire, s := w.wired()
			// The slower the machine, the more often an audit asks while it waits for the projector. If
			// each request brought a write, a slow projector would never catch up.
			var left atomic.Int64
			give := func(n int) {
				if left.Add(-int64(n)) >= 0 {
					turns(n)
				}
			}
			wire.refuse = func(*http.Request) int { give(1); return 0 }
			for _, repair := range []bool{false, true} {
				left.Store(400)
				drifts, audited := w.audit(func(a *auditing) {
					a.Store, a.Repair, a.PageSize = s, repair, 20
					a.Sleep = func(ctx context.Context, d time.Duration) error {
						give(2)
						return cmp.Or(w.untilProgress(ctx, p), w.untilSaved(ctx, p))
					}
				})
				if len(drifts) > 0 {
					t.Errorf("%+v: %s", audited, strings.Join(drifts, "; "))
				}
			}
			if n := written(); n == 0 || len(wire.writes) != 0 {
				t.Errorf("during %d operations the audit wrote %v", n, wire.writes)
			}
			stop()
			w.settle()
			w.wantNoDrift()
			w.wantViewsEqualSource()
		})
	}
}

// writeInTurns starts writers that write when turns is called, so that the number of operations
// depends on the requests of the caller and not on the speed of the machine. Turns that no
// writer is ready for are dropped. written stops the writers and returns the number of
// operations.
func (w *world) writeInTurns(seed uint64) (turns func(n int), written func() int64) {
	w.Helper()
	given, pool := make(chan struct{}), w.newPool()
	var group sync.WaitGroup
	var count atomic.Int64
	for i := range uint64(4) {
		group.Go(func() {
			writer := &writer{world: w, pool: pool, Rand: rand.New(rand.NewPCG(seed, i)), store: w.store}
			for range given {
				count.Add(1)
				if did, err := writer.write(w.Context(), everyday); err != nil && !isRefusal(err) {
					w.Errorf("%s: %v", did, err)
				}
			}
		})
	}
	turns = func(n int) {
		for range n {
			select {
			case given <- struct{}{}:
			default:
			}
		}
	}
	return turns, func() int64 { close(given); group.Wait(); return count.Load() }
}

// untilProgress waits until the projector has projected something or has nothing to project. To an
// audit whose waits take no time, one that the machine does not let run would have stalled.
func (w *world) untilProgress(ctx context.Context, p *projector.Projector) error {
	before := p.Feeds()
	ends, err := w.store.ReadEnds(ctx)
	w.until(func() bool {
		var leases []changefeed.Lease
		if err == nil {
			leases, err = w.store.Leases(ctx)
		}
		passed := true
		for f, end := range ends {
			if passed && err == nil {
				passed, err = w.store.Passed(ctx, f, end, leases)
			}
		}
		return passed || err != nil || !slices.Equal(before, p.Feeds())
	})
	return err
}

// untilSaved waits until every checkpoint has what the projector has projected so far, or was
// written since.
func (w *world) untilSaved(ctx context.Context, p *projector.Projector) error {
	projected := p.Feeds()
	var err error
	w.until(func() bool {
		var now map[string]changefeed.Lease
		if err == nil {
			now, err = w.leasesByID(ctx)
		}
		for _, feed := range projected {
			stored := now[feed.ID]
			if stored.Continuation != feed.Continuation && stored.ETag == feed.ETag {
				return err != nil
			}
		}
		return true
	})
	return cmp.Or(err, ctx.Err())
}

func (w *world) leasesByID(ctx context.Context) (map[string]changefeed.Lease, error) {
	leases, err := w.store.Leases(ctx)
	byID := map[string]changefeed.Lease{}
	for _, lease := range leases {
		byID[lease.ID] = lease
	}
	return byID, err
}

// An audit waits for changes that are not projected yet. It reports them as drift only if no
// projector makes progress.
func TestAuditWaitsForTheProjector(t *testing.T) {
	w := newWorld(t)
	w.posts(w.user(), 3)
	w.wantNoDrift()

	post := w.post(w.user())
	slept := 0
	drifts, audited := w.audit(func(a *auditing) {
		a.Sleep = func(ctx context.Context, _ time.Duration) error { slept++; return ctx.Err() }
	})
	want := []string{"missing feed " + post.ID, "missing lists " + post.ID, "missing lists " + post.ID, "missing users " + post.ID}
	if !slices.Equal(drifts, want) || !audited.Stalled || slept < 10 {
		t.Errorf("after %d intervals: %v, %+v", slept, drifts, audited)
	}
	w.wantNoDrift()
}

// An audit of an idle database writes nothing and reports monotonic progress, on one feed range
// and on many.
func TestAuditWritesNothing(t *testing.T) {
	for _, ranges := range someOf(t, rangeCounts, 1) {
		w := newWorldOf(t, ranges)
		simulate(w, testseed.Of(t), *operationsFlag)
		w.settle()
		wire, s := w.wired()
		var last follow.Progress
		_, audited := w.audit(func(a *auditing) {
			a.Store, a.Repair = s, true
			a.Progress = func(p follow.Progress) {
				if p.Done < last.Done || p.Total < last.Total || p.Done > p.Total {
					t.Errorf("progress %+v after %+v", p, last)
				}
				last = p
			}
		})
		if audited.Posts == 0 || audited.Users == 0 || audited.Usernames == 0 || audited.Drifts+audited.Unstable != 0 || last.Done != last.Total {
			t.Errorf("%+v, %+v", audited, last)
		}
		if len(wire.writes) != 0 {
			t.Errorf("the audit wrote %v", wire.writes)
		}
	}
}

// A repair that is interrupted at any request leaves nothing that the next repair does not fix.
// Each run tests a random selection of damages, or all of them if -stride is 1.
func TestInterruptedRepairs(t *testing.T) {
	random := rand.New(rand.NewPCG(testseed.Of(t), 0))
	for _, name := range someOf(t, slices.Sorted(maps.Keys(damages)), 4) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, damages[name].posts)
			damages[name].plant(s)
			wire, cut := s.wiredWithoutDelays()
			wire.answerLost = random.IntN(2) == 0
			wire.left.Store(random.Int64N(90))
			_, _, err := s.tryAudit(func(a *auditing) { a.Store, a.Repair = cut, true })
			s.audit(func(a *auditing) { a.Repair = true })
			s.wantNoDrift()
			s.wantViewsEqualSource()
			t.Logf("interrupted: %v", err != nil)
		})
	}
}

// wiredWithoutDelays is wired with a client that does not wait between retries.
func (w *world) wiredWithoutDelays() (*wire, *storetest.Database) {
	w.Helper()
	wire := &wire{next: inprocess.To(w.engine)}
	wire.left.Store(1 << 62)
	return wire, w.openWith(cosmos.Options{Transport: wire, Sleep: noSleep})
}
