package projector

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// runner schedules the tasks of one chore while this projector holds the chore's lease. Package
// views provides the passes of the tasks as steps. The runner decides when steps run, how many run
// at a time, and which are retried or set aside.
//
// Tasks run in turn, a few at a time, each for a time slice. Passes stay open between their slices.
// If a pass fails for a reason other than an item, it starts over; items that it already changed
// are not found again.
type runner struct {
	chore     *chore
	throttler *throttler // shared by all chores
	retrier   retrier
	options   Options

	runs map[string]*run // the open passes, by task id
}

// run is an open pass of a task.
type run struct {
	task
	pass   views.Pass
	page   []views.Step  // to be executed before the next page is read
	ended  bool          // finished or set aside
	failed bool          // for another reason than an item: starts again
	meter  *cosmos.Meter // of all requests since the pass was first opened

	mu         sync.Mutex // guards the fields below
	changed    int        // items
	unfinished []views.Step
	refused    views.Refusals
	attempts   int // highest number of attempts of a refused step
}

const (
	// parallelRuns is the number of tasks that run at a time, so that one with many items does not
	// block the others.
	parallelRuns = 4

	// timeSlice is the time after which the next task runs. If throughput is short, the items of one
	// user may take hours.
	timeSlice = 5 * time.Second
)

func (p *Projector) newRunner(c *chore) *runner {
	return &runner{
		chore:     c,
		throttler: p.throttler,
		retrier:   p.newRetrier(),
		options:   p.options,
		runs:      make(map[string]*run),
	}
}

// step gives each due task one time slice. An error in one task does not cancel the others.
func (r *runner) step(ctx context.Context) (stepResult, error) {
	listed := r.options.Now()
	tasks, err := r.chore.list(ctx)
	if err != nil {
		return idle, err
	}
	due := r.due(tasks)
	var group errgroup.Group
	group.SetLimit(parallelRuns)
	for _, run := range due {
		group.Go(func() error {
			// If many are due, the list is old when the last ones begin.
			if r.options.Now().Sub(listed) >= timeSlice && run.isPending != nil {
				if isPending, err := run.isPending(ctx); err != nil || !isPending {
					return err
				}
			}
			return r.runSlice(ctx, run)
		})
	}
	err = group.Wait()
	for _, run := range due {
		switch {
		case run.ended:
			delete(r.runs, run.id)
			delete(r.chore.observations, run.id) // a last pass that is repeated waits again
			r.chore.rest(run.id, run.meter.Charged(), r.options.Now())
		case run.failed:
			r.runs[run.id] = newRun(run.task, run.meter)
		}
	}
	switch {
	case len(due) > 0:
		return more, err
	case len(tasks) > 0:
		return pending, err
	}
	return idle, err
}

// due returns the runs of the tasks that may run now. A last pass may run if its task was observed
// unchanged for the command deadline. If another projector takes the lease, it observes the task
// for the whole deadline again. Other passes may begin if their user does not rest. due drops the
// open passes of tasks that were replaced or deleted.
func (r *runner) due(tasks []task) []*run {
	now := r.options.Now()
	maps.DeleteFunc(r.chore.rests, func(_ string, end time.Time) bool { return !now.Before(end) })
	open := make(map[string]*run, len(tasks))
	last := make(map[string]bool)
	var due []*run
	for _, t := range tasks {
		current := r.runs[t.id]
		if current != nil && current.etag != t.etag {
			r.chore.rest(t.id, current.meter.Charged(), now)
			current = nil
		}
		if t.last {
			last[t.id] = true
			if r.chore.observations.unchangedFor(t.id, t.etag, now) < r.options.SettleTime {
				continue
			}
		}
		if current == nil {
			if _, rests := r.chore.rests[t.id]; rests && !t.last {
				continue
			}
			current = newRun(t, &cosmos.Meter{})
		}
		open[t.id] = current
		due = append(due, current)
	}
	r.runs = open
	r.chore.observations.retain(last)
	return due
}

// newRun opens a pass of a task, whose requests are added to a meter.
func newRun(t task, meter *cosmos.Meter) *run { return &run{task: t, pass: t.open(), meter: meter} }

// runSlice works on a task until its pass ends or its time slice is over.
func (r *runner) runSlice(ctx context.Context, run *run) (err error) {
	ctx = cosmos.WithMeter(ctx, run.meter)
	defer func() { run.failed = err != nil }()
	for end := r.options.Now().Add(timeSlice); r.options.Now().Before(end); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(run.page) == 0 {
			done, err := r.nextPage(ctx, run)
			if done || err != nil {
				return err
			}
		}
		if err := r.executePage(ctx, run, end); err != nil {
			return err
		}
	}
	return nil
}

// nextPage reads the next page of a pass, or ends the task if there is none.
func (r *runner) nextPage(ctx context.Context, run *run) (done bool, err error) {
	attempts, err := r.attempt(ctx, run, func() (err error) {
		run.page, done, err = run.pass.Next(ctx)
		return err
	})
	switch {
	case err != nil && concernsItem(ctx, err):
		return true, r.setAside(ctx, run, attempts, err)
	case err != nil || !done:
		return false, err
	case len(run.refused) > 0:
		return true, r.setAside(ctx, run, run.attempts, errors.Join(run.refused...))
	}
	return true, r.finish(ctx, run)
}

// executePage executes the steps of a page concurrently, half as many as the throttler allows, so
// that other tasks never wait for this one. At the end of the time slice it leaves the rest of the
// page.
func (r *runner) executePage(ctx context.Context, run *run, end time.Time) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, r.options.Parallel/2))
	for len(run.page) > 0 && r.options.Now().Before(end) && ctx.Err() == nil {
		step := run.page[0]
		run.page = run.page[1:]
		group.Go(func() error { return r.execute(ctx, run, step, end) })
	}
	err := group.Wait()
	run.page, run.unfinished = append(run.unfinished, run.page...), nil
	return err
}

// execute executes a step until it has no more to do. At the end of the time slice it leaves the
// rest of the step, unless the step makes no progress. If the step is refused, execute records the
// error: the task is set aside after all other steps have ended.
func (r *runner) execute(ctx context.Context, run *run, step views.Step, end time.Time) error {
	changed, isUnfinished := 0, false
	inSlice := views.Step(func(ctx context.Context) (n int, more bool, err error) {
		err = r.throttler.do(ctx, func() (err error) {
			n, more, err = step(ctx)
			return err
		})
		isUnfinished = err == nil && more && n > 0 && !r.options.Now().Before(end)
		return n, more && !isUnfinished, err
	})
	attempts, err := r.retrier.attempt(ctx, r.chore.projection, run.change.Container, func() error {
		n, err := inSlice.Run(ctx, r.pause)
		changed += n
		return err
	})
	if err != nil && !concernsItem(ctx, err) {
		return err
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	run.changed += changed
	if isUnfinished {
		run.unfinished = append(run.unfinished, step)
	}
	if err != nil {
		run.attempts = max(run.attempts, attempts)
		run.refused.Add(err)
	}
	return nil
}

// pause waits after an execution of a step that changed nothing.
func (r *runner) pause(ctx context.Context) error {
	return r.retrier.sleep(ctx, cosmos.DefaultRetryAfter)
}

// attempt runs a request of a task under the throttler, with the retries of the retrier.
func (r *runner) attempt(ctx context.Context, run *run, request func() error) (attempts int, err error) {
	return r.retrier.attempt(ctx, r.chore.projection, run.change.Container, func() error {
		return r.throttler.do(ctx, request)
	})
}

// finish ends a pass of which every step succeeded.
func (r *runner) finish(ctx context.Context, run *run) error {
	attempts, err := r.attempt(ctx, run, func() error { return run.finish(ctx, run) })
	switch {
	case err != nil && concernsItem(ctx, err):
		return r.setAside(ctx, run, attempts, err)
	case err != nil:
		return err
	}
	run.ended = true
	r.chore.passes.Add(1)
	r.options.Logger.Debug("pass finished", "chore", r.chore.leaseID, "id", run.id, "last", run.last, "items", run.changed)
	return nil
}

// setAside writes a dead letter for a task and forgets the task.
func (r *runner) setAside(ctx context.Context, run *run, attempts int, reason error) error {
	run.ended = true
	err := r.retrier.setAside(ctx, r.chore.projection, run.change, attempts, reason)
	if err != nil {
		return err
	}
	return run.forget(ctx)
}
