package projector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"cosmosblog/blog"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// runnerWorld is a runner with fake tasks, for a test in a bubble of synctest.
type runnerWorld struct {
	*runner
	stepTakes  time.Duration
	executions atomic.Int64
	listing    error // of the next listings

	mu       sync.Mutex // guards the fields below
	pending  []chores.Task
	finished map[string]time.Time // by task
}

func newRunnerWorld() *runnerWorld {
	w := &runnerWorld{finished: map[string]time.Time{}, stepTakes: time.Second}
	limit := newThrottler(Options{Parallel: 4, Now: time.Now, Sleep: cosmos.Sleep})
	limit.throttles = func() (int64, time.Duration) { return 0, 0 }
	w.runner = &runner{
		chore:     &chore{container: schema.Users, list: w.list, passes: new(atomic.Int64), observations: observations{}},
		turns:     semaphore.NewWeighted(4),
		throttler: limit,
		retrier:   retrier{maxDelay: time.Second, sleep: cosmos.Sleep, counts: newCounts()},
		options:   Options{Now: time.Now, SettleTime: 15 * time.Second, Parallel: 4, Logger: slog.New(slog.DiscardHandler)},
		guard:     func(ctx context.Context, work func(context.Context) error) error { return work(ctx) },
		runs:      map[string]*run{},
		ended:     make(chan *run),
	}
	return w
}

// list returns the pending tasks. A last pass leaves its task pending.
func (w *runnerWorld) list(context.Context) ([]chores.Task, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.pending), func(t chores.Task) bool {
		return !w.finished[t.ID].IsZero() && !t.Last
	}), w.listing
}

// add adds a task.
func (w *runnerWorld) add(id string, pass chores.Pass) {
	w.pending = append(w.pending, chores.Task{
		ID: id, ETag: "1", Pass: pass,
		Finish: func(context.Context, *chores.Progress, float64) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.finished[id] = time.Now()
			return nil
		},
	})
}

// steps returns a pass of n steps.
func (w *runnerWorld) steps(n int) chores.Pass {
	return func(ctx context.Context, p *chores.Progress) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(p.Parallel)
		for range n {
			group.Go(func() error {
				return p.Turn(ctx, func(ctx context.Context) error {
					w.executions.Add(1)
					return cosmos.Sleep(ctx, w.stepTakes)
				})
			})
		}
		return group.Wait()
	}
}

// run makes steps until no task is pending, or some time has passed. It returns how long that took.
func (w *runnerWorld) run(t *testing.T, most time.Duration) time.Duration {
	t.Helper()
	begun := time.Now()
	for time.Since(begun) < most {
		result, err := w.step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if result == idle {
			break
		}
	}
	return time.Since(begun)
}

// A long pass runs on while tasks are listed again. No step is executed twice.
func TestLongPassIsStartedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		w.add("u_long", w.steps(100))
		took := w.run(t, time.Hour)
		if n := w.executions.Load(); n != 100 || took != 50*time.Second {
			t.Errorf("%d executions in %v", n, took)
		}
		if n := w.chore.passes.Load(); n != 1 || len(w.runs) > 0 {
			t.Errorf("%d passes are counted, %d are kept", n, len(w.runs))
		}
	})
}

// For its step and for its end, a short pass waits only for two steps of each long one. If it is
// recorded meanwhile, it also waits for the next listing. The long ones share the throttler.
func TestLongPassesLeaveOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const long = 8
		const most = 9 * time.Second // two waits for the 16 steps of the long ones, of which 4 run at a time; and a step
		w := newRunnerWorld()
		defer w.stop()
		for i := range long {
			w.add(fmt.Sprintf("u_long%d", i), w.steps(100))
		}
		w.add("u_short", w.steps(1))
		begun := time.Now()
		w.run(t, 3*listInterval)
		if took := w.finished["u_short"].Sub(begun); took <= 0 || took > most {
			t.Errorf("a short pass took %v", took)
		}
		time.Sleep(time.Second)
		w.add("u_later", w.steps(1))
		begun = time.Now()
		w.run(t, 4*listInterval)
		if took := w.finished["u_later"].Sub(begun); took <= 0 || took > listInterval+most {
			t.Errorf("a later short pass took %v", took)
		}
		w.run(t, time.Hour)
		for i := range long {
			if apart := time.Since(w.finished[fmt.Sprintf("u_long%d", i)]); apart > 10*time.Second {
				t.Errorf("a long pass ended %v before the last", apart)
			}
		}
	})
}

// A chore with very many tasks leaves the others their share of the throttler.
func TestChoresShareThrottler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many, one := newRunnerWorld(), newRunnerWorld()
		one.throttler = many.throttler
		for i := range 500 {
			many.add(fmt.Sprintf("p_%d", i), many.steps(10))
		}
		one.add("u_1", one.steps(100))
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			for ctx.Err() == nil {
				_, _ = many.step(ctx)
			}
			many.stop()
		})
		took := one.run(t, time.Hour)
		stop()
		group.Wait()
		if share := 100 / (took.Seconds() * 4); share < 0.2 || share > 0.7 { // two of six callers
			t.Errorf("a chore with one task has %.2f of the turns", share)
		}
	})
}

// A last pass starts when its task was observed unchanged for the command deadline, and waits again
// after each pass that leaves the task pending.
func TestLastPassWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		w.add("u_1", w.steps(1))
		w.pending[0].Last = true
		busy := func() bool {
			t.Helper()
			result, err := w.step(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return result != pending
		}
		for round := range 3 {
			if busy() {
				t.Fatalf("round %d: the pass did not wait", round)
			}
			time.Sleep(w.options.SettleTime - 1)
			if busy() {
				t.Fatalf("round %d: the pass did not wait for the whole time", round)
			}
			time.Sleep(1)
			if !busy() {
				t.Fatalf("round %d: the pass did not start", round)
			}
		}
		w.pending[0].ETag = "2"
		time.Sleep(time.Hour)
		if busy() {
			t.Error("a changed task did not wait")
		}
	})
}

// A pass that fails for another reason than an item starts again. Other tasks finish meanwhile.
func TestFailedPassStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		started := 0
		w.add("u_failing", func(ctx context.Context, p *chores.Progress) error {
			if started++; started < 3 {
				return p.Turn(ctx, func(context.Context) error { return &blog.Error{Code: blog.Internal, Err: context.DeadlineExceeded} })
			}
			return nil
		})
		w.add("u_other", w.steps(1))
		for range 2 {
			if _, err := w.step(t.Context()); err == nil {
				t.Error("the failure was not returned")
			}
		}
		if _, err := w.step(t.Context()); err != nil || len(w.finished) != 2 || started != 3 || w.executions.Load() != 1 {
			t.Errorf("started %d times, finished %v, error %v", started, w.finished, err)
		}
	})
}

// A pass whose task was replaced or deleted stops at the next listing. If no listing succeeds, it
// stops too.
func TestPassWithoutTaskStops(t *testing.T) {
	for name, change := range map[string]func(*runnerWorld){
		"replaced": func(w *runnerWorld) { w.pending[0].ETag, w.pending[0].Pass = "2", w.steps(0) },
		"deleted":  func(w *runnerWorld) { w.pending = nil },
		"unknown":  func(w *runnerWorld) { w.listing = errors.New("no answer") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newRunnerWorld()
				defer w.stop()
				w.add("u_long", w.steps(1000))
				w.run(t, listInterval)
				change(w)
				for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(time.Second) {
					_, _ = w.step(t.Context())
				}
				seconds := int64(listInterval / time.Second)
				if name == "unknown" {
					seconds *= 2
				}
				if n := w.executions.Load(); n > 2*(seconds+1) {
					t.Errorf("%d executions", n)
				}
				if isReplaced := name == "replaced"; (len(w.finished) == 1) != isReplaced {
					t.Errorf("finished: %v", w.finished)
				}
			})
		})
	}
}

// When stop returns, no pass is running.
func TestStopEndsPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		stopped := make(chan struct{})
		w.add("u_slow", func(ctx context.Context, p *chores.Progress) error {
			<-ctx.Done()
			time.Sleep(time.Minute)
			close(stopped)
			return ctx.Err()
		})
		w.add("u_long", w.steps(1000))
		w.run(t, listInterval)
		w.stop()
		select {
		case <-stopped:
		default:
			t.Error("a pass is running")
		}
		if n := w.executions.Load(); n > 2*6 || w.running > 0 || len(w.finished) > 0 {
			t.Errorf("%d executions, %d passes are running, finished: %v", n, w.running, w.finished)
		}
	})
}

// A rest grows with the charge of the pass, within limits. A longer one that has begun stays. Only
// sweeps rest.
func TestRest(t *testing.T) {
	now := time.Now()
	c := &chore{rests: map[string]time.Time{}}
	for _, pass := range []struct {
		charge float64 // RU
		after  time.Duration
		rest   time.Duration // until this time
	}{{0, 0, 2 * time.Second}, {1500, 0, 15 * time.Second}, {30, 10 * time.Second, 15 * time.Second}, {1e6, 20 * time.Second, 320 * time.Second}} {
		c.rest("u_1", pass.charge, now.Add(pass.after))
		if got := c.rests["u_1"].Sub(now); got != pass.rest {
			t.Errorf("after %v RU, the user rests until %v instead of %v", pass.charge, got, pass.rest)
		}
	}
	new(chore).rest("u_1", 1500, now)
}
