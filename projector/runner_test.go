package projector

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// fakePass is a pass of pages of steps. Each call of Next and each step takes some time.
type fakePass struct {
	*runnerWorld
	pages    int
	pageSize int
	step     views.Step // nil: a step that changes one item
}

// Next implements views.Pass.
func (p *fakePass) Next(context.Context) (page []views.Step, done bool, err error) {
	time.Sleep(p.nextTakes)
	if p.pages == 0 {
		return nil, true, nil
	}
	p.pages--
	for range p.pageSize {
		page = append(page, func(ctx context.Context) (int, bool, error) {
			time.Sleep(p.stepTakes)
			p.executions.Add(1)
			if p.step != nil {
				return p.step(ctx)
			}
			return 1, false, nil
		})
	}
	return page, false, nil
}

// runnerWorld is a runner with fake tasks, for a test in a bubble of synctest.
type runnerWorld struct {
	*runner
	nextTakes, stepTakes time.Duration
	executions           atomic.Int64
	pending              []task

	mu       sync.Mutex     // guards the fields below
	finished map[string]int // changed items by task
	pauses   int
}

func newRunnerWorld() *runnerWorld {
	w := &runnerWorld{finished: map[string]int{}}
	pause := func(ctx context.Context, d time.Duration) error {
		w.mu.Lock()
		w.pauses++
		w.mu.Unlock()
		return cosmos.Sleep(ctx, d)
	}
	limit := newThrottler(Options{Parallel: 4, Now: time.Now, Sleep: pause})
	limit.throttles = func() (int64, time.Duration) { return 0, 0 }
	w.runner = &runner{
		chore: &chore{
			list:         w.list,
			passes:       new(atomic.Int64),
			observations: observations{},
		},
		throttler: limit,
		retrier:   retrier{maxDelay: time.Second, sleep: pause, counts: newCounts()},
		options:   Options{Now: time.Now, SettleTime: 15 * time.Second, Parallel: 4, Logger: slog.New(slog.DiscardHandler)},
		runs:      map[string]*run{},
	}
	return w
}

// list returns the pending tasks. A last pass leaves its task pending.
func (w *runnerWorld) list(context.Context) ([]task, error) {
	return slices.DeleteFunc(slices.Clone(w.pending), func(t task) bool {
		_, finished := w.finished[t.id]
		return finished && !t.last
	}), nil
}

// add adds a task with a pass, or with none if the caller sets open.
func (w *runnerWorld) add(id string, pass *fakePass) {
	if pass != nil {
		pass.runnerWorld = w
	}
	w.pending = append(w.pending, task{
		id: id, etag: "1", change: changefeed.Change{Container: schema.Users, ID: id},
		open: func() views.Pass { return pass },
		finish: func(_ context.Context, ended *run) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.finished[id] = ended.changed
			return nil
		},
	})
}

// turns runs steps until all tasks are finished, and returns their number.
func (w *runnerWorld) turns(t *testing.T) int {
	t.Helper()
	for turns := 1; ; turns++ {
		if result, err := w.step(t.Context()); result == idle || err != nil {
			t.Fatalf("turn %d: result %d, error %v", turns, result, err)
		}
		if len(w.finished) == len(w.pending) {
			return turns
		}
		if turns == 50 {
			t.Fatal("the tasks do not end")
		}
	}
}

// A long pass stops after its time slice, so that others run, and continues in its next turn. No
// step is executed twice.
func TestPassesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		w.stepTakes = 120 * time.Millisecond
		w.add("u_long", &fakePass{pages: 4, pageSize: 88})
		if turns := w.turns(t); turns != 5 || w.finished["u_long"] != 352 || w.executions.Load() != 352 {
			t.Errorf("%d turns, %d items changed, %d executions", turns, w.finished["u_long"], w.executions.Load())
		}
		if n := w.chore.passes.Load(); n != 1 {
			t.Errorf("%d passes are counted", n)
		}
	})
}

// A pass ends even if each of its pages takes longer than a time slice, whether or not the pages
// have steps.
func TestPassWithSlowPagesEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, pageSize := range []int{0, 2} {
			w := newRunnerWorld()
			w.nextTakes, w.stepTakes = timeSlice+time.Second, timeSlice+time.Second
			w.add("u_slow", &fakePass{pages: 8, pageSize: pageSize})
			if w.turns(t); w.finished["u_slow"] != 8*pageSize {
				t.Errorf("%d items changed, want %d", w.finished["u_slow"], 8*pageSize)
			}
		}
	})
}

// A short pass ends while a long one takes its turns. The throttler lets every step run at once:
// steps that wait for it run in any order.
func TestLongPassDoesNotBlockOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		w.throttler.max = float64(parallelRuns * w.options.Parallel)
		w.throttler.limit = w.throttler.max
		w.stepTakes = time.Second
		for i := range 2 * parallelRuns {
			w.add(fmt.Sprintf("u_long%d", i), &fakePass{pages: 1, pageSize: 100})
		}
		w.add("u_short", &fakePass{pages: 1, pageSize: 1})
		if _, err := w.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if changed, ok := w.finished["u_short"]; !ok || changed != 1 || len(w.finished) != 1 {
			t.Errorf("finished after one turn: %v", w.finished)
		}
	})
}

// A step that needs several executions is executed until it has no more to do, with a pause after
// each one that changed nothing.
func TestStepsAreExecutedToTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		executions := 0
		w.add("u_1", &fakePass{pages: 1, pageSize: 1, step: func(context.Context) (int, bool, error) {
			executions++
			return executions % 2, executions < 20, nil
		}})
		if w.turns(t); w.finished["u_1"] != 10 || executions != 20 || w.pauses != 9 {
			t.Errorf("%d items changed by %d executions, %d pauses", w.finished["u_1"], executions, w.pauses)
		}
	})
}

// A step that needs many executions continues in the next time slice, so that others run meanwhile.
func TestLongStepTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		executions := 0
		w.add("u_long", &fakePass{pages: 1, pageSize: 1, step: func(context.Context) (int, bool, error) {
			executions++
			time.Sleep(time.Second)
			return 1, executions < 12, nil
		}})
		if turns := w.turns(t); turns != 3 || w.finished["u_long"] != 12 || executions != 12 {
			t.Errorf("%d turns, %d items changed by %d executions", turns, w.finished["u_long"], executions)
		}
	})
}

// A step without progress fails for a reason of its items, after a limited number of executions and
// attempts.
func TestStepWithoutProgressFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		current := &run{task: task{change: changefeed.Change{Container: schema.Users}}}
		executions := 0
		err := w.execute(t.Context(), current, func(context.Context) (int, bool, error) {
			executions++
			return 0, true, nil
		}, time.Now())
		if err != nil || len(current.refused) != 1 || current.attempts != attemptsIfRefused ||
			executions != attemptsIfRefused*views.MaxIdleExecutions {
			t.Errorf("%d executions, %d attempts, refused %v, error %v", executions, current.attempts, current.refused, err)
		}
	})
}

// A last pass starts when its task was observed unchanged for the command deadline, and waits again
// after each pass that leaves the task pending.
func TestLastPassWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunnerWorld()
		w.add("u_1", nil)
		w.pending[0].last = true
		w.pending[0].open = func() views.Pass { return &fakePass{runnerWorld: w, pages: 1, pageSize: 1} }
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
		w.pending[0].etag = "2"
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
		opened := 0
		w.add("u_failing", nil)
		w.pending[0].open = func() views.Pass {
			opened++
			return &fakePass{runnerWorld: w, pages: 1, pageSize: 1, step: func(context.Context) (int, bool, error) {
				if opened < 3 {
					return 0, false, &blog.Error{Code: blog.Internal, Err: context.DeadlineExceeded}
				}
				return 1, false, nil
			}}
		}
		w.add("u_other", &fakePass{pages: 1, pageSize: 1})
		for range 2 {
			if _, err := w.step(t.Context()); err == nil {
				t.Error("the failure was not returned")
			}
		}
		if _, err := w.step(t.Context()); err != nil || w.finished["u_failing"] != 1 || w.finished["u_other"] != 1 || opened != 3 {
			t.Errorf("opened %d times, finished %v, error %v", opened, w.finished, err)
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
