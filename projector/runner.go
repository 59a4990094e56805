package projector

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
)

// runner works on the tasks of one chore while this projector holds the chore's lease. The pass of
// each task runs in a goroutine of its own, and takes a turn for each request, first among the
// passes of its chore, and then at the throttler. So others wait only for some requests of a long
// pass, and a chore with many tasks leaves the others their share.
//
// If a pass fails for a reason other than an item, it starts over; items that it already changed
// are not found again. Only one goroutine at a time may call step and stop.
type runner struct {
	chore     *chore
	turns     *semaphore.Weighted // of this chore: as many as the throttler's
	throttler *throttler          // shared by all chores
	retrier   retrier
	options   Options
	guard     func(context.Context, func(context.Context) error) error // worker.guard

	runs    map[string]*run // by task id: those that run, and those that start over
	running int
	ended   chan *run // receives each run that has ended
}

const (
	// listInterval is the time after which tasks are listed again although passes run. A pass whose
	// task is not listed for twice that time is stopped.
	listInterval = 5 * time.Second

	// maxRunning is the number of passes of a chore that run at a time.
	maxRunning = 1000
)

func (p *Projector) newRunner(c *chore, guard func(context.Context, func(context.Context) error) error) *runner {
	return &runner{
		chore:     c,
		turns:     semaphore.NewWeighted(int64(p.options.Parallel)),
		throttler: p.throttler,
		retrier:   p.newRetrier(),
		options:   p.options,
		guard:     guard,
		runs:      make(map[string]*run),
		ended:     make(chan *run),
	}
}

// step lists the tasks, and starts a pass for each that is due. It returns when all passes have
// ended, or after listInterval. The others run on until ctx is done, or stop is called. step
// returns the errors of the passes that start over.
func (r *runner) step(ctx context.Context) (stepResult, error) {
	var tasks []chores.Task
	err := r.guard(ctx, func(ctx context.Context) (err error) {
		tasks, err = r.chore.list(ctx)
		return err
	})
	if err != nil {
		return idle, err
	}
	r.stopReplaced(tasks)
	r.start(ctx, tasks)
	switch {
	case r.running > 0:
		return more, r.wait(ctx)
	case len(tasks) > 0:
		return pending, nil
	}
	return idle, nil
}

// stopReplaced stops the passes of tasks that were replaced or deleted.
func (r *runner) stopReplaced(tasks []chores.Task) {
	listed := make(map[string]string, len(tasks))
	for _, t := range tasks {
		listed[t.ID] = t.ETag
	}
	for id, run := range r.runs {
		switch {
		case listed[id] == run.ETag:
			run.confirmed.Reset(2 * listInterval)
		case run.running:
			run.cancel()
		default:
			delete(r.runs, id)
			r.chore.rest(id, run.meter.Charged(), r.options.Now())
		}
	}
}

// start starts the passes of the tasks that are due and do not run yet.
func (r *runner) start(ctx context.Context, tasks []chores.Task) {
	now := r.options.Now()
	maps.DeleteFunc(r.chore.rests, func(_ string, end time.Time) bool { return !now.Before(end) })
	last := make(map[string]bool)
	for _, t := range tasks {
		if t.Last {
			last[t.ID] = true
		}
		before := r.runs[t.ID]
		if !r.isDue(t, before != nil, now) || before != nil && before.running || r.running >= maxRunning {
			continue
		}
		next := &run{runner: r, Task: t, meter: &cosmos.Meter{}, running: true}
		if before != nil {
			next.meter = before.meter
		}
		r.runs[t.ID] = next
		r.running++
		pass, cancel := context.WithCancel(ctx)
		next.cancel, next.confirmed = cancel, time.AfterFunc(2*listInterval, cancel)
		go func() {
			next.done, next.err = next.work(ctx, pass)
			r.ended <- next
		}()
	}
	r.chore.observations.retain(last)
}

// isDue reports whether the pass of a task may begin. A last pass may begin if its task was
// observed unchanged for the command deadline. If another projector takes the lease, it observes
// the task for the whole deadline again. Other passes may begin if their user does not rest, or if
// they start over.
func (r *runner) isDue(t chores.Task, isBegun bool, now time.Time) bool {
	if t.Last {
		return r.chore.observations.unchangedFor(t.ID, t.ETag, now) >= r.options.SettleTime
	}
	_, rests := r.chore.rests[t.ID]
	return isBegun || !rests
}

// wait waits until all passes have ended, or for listInterval. It returns the errors of those that
// start over.
func (r *runner) wait(ctx context.Context) error {
	timer := time.NewTimer(listInterval)
	defer timer.Stop()
	var failed []error
	for r.running > 0 {
		select {
		case run := <-r.ended:
			r.leave(run)
			failed = append(failed, run.err)
		case <-timer.C:
			return errors.Join(failed...)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.Join(failed...)
}

// leave notes that a pass has ended.
func (r *runner) leave(run *run) {
	r.running--
	run.running = false
	run.confirmed.Stop()
	run.cancel()
	if run.done {
		delete(r.runs, run.ID)
		delete(r.chore.observations, run.ID) // a last pass that is repeated waits again
		r.chore.rest(run.ID, run.meter.Charged(), r.options.Now())
	}
}

// stop stops all passes, and returns when they have ended.
func (r *runner) stop() {
	for _, run := range r.runs {
		run.cancel()
	}
	for r.running > 0 {
		r.leave(<-r.ended)
	}
}

// run is the pass of a task. It implements chores.Pace.
type run struct {
	*runner
	chores.Task
	meter     *cosmos.Meter // of all requests since the pass was first started
	running   bool
	cancel    func()      // of the pass, but not of what follows it
	confirmed *time.Timer // cancels the pass

	// What work has returned.
	done bool
	err  error

	mu       sync.Mutex // guards attempts
	attempts int        // highest number of attempts of what has failed
}

// work runs the pass in one context, and what follows it in another. It returns true if the task is
// finished or set aside. Otherwise the pass was stopped, or has failed for another reason than an
// item.
func (r *run) work(ctx, pass context.Context) (done bool, err error) {
	ctx, pass = cosmos.WithMeter(ctx, r.meter), cosmos.WithMeter(pass, r.meter)
	progress := &chores.Progress{Pace: r, Parallel: max(1, r.options.Parallel/2)} // others begin steps meanwhile
	err = r.Pass(pass, progress)
	if pass.Err() != nil {
		return false, nil
	}
	if err == nil {
		err = r.Retry(ctx, func() error {
			return r.Turn(ctx, func(ctx context.Context) error { return r.Finish(ctx, progress, r.meter.Charged()) })
		})
	}
	switch {
	case err == nil:
		r.chore.passes.Add(1)
		r.options.Logger.Debug("pass finished", "projection", r.chore.projection, "id", r.ID, "last", r.Last, "items", progress.Changed())
	case concernsItem(ctx, err):
		err = r.guard(ctx, func(ctx context.Context) error { return r.setAside(ctx, err) })
	}
	return err == nil, err
}

// Retry makes the attempts of the retrier.
func (r *run) Retry(ctx context.Context, attempt func() error) error {
	n, err := r.retrier.attempt(ctx, r.chore.projection, r.chore.container, attempt)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.attempts = max(r.attempts, n)
	}
	return err
}

// Turn executes a request or a step under the throttler.
func (r *run) Turn(ctx context.Context, execute func(context.Context) error) error {
	if err := r.turns.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.turns.Release(1)
	return r.throttler.do(ctx, func() error { return r.guard(ctx, execute) })
}

// Pause waits for as long as after a throttled request.
func (r *run) Pause(ctx context.Context) error { return r.retrier.sleep(ctx, cosmos.DefaultRetryAfter) }

// setAside writes a dead letter for the task, under the change of the user or post, and forgets the
// task.
func (r *run) setAside(ctx context.Context, reason error) error {
	change := changefeed.Change{Container: r.chore.container, PartitionKey: r.ID, ID: r.ID}
	err := r.retrier.setAside(ctx, r.chore.projection, change, r.attempts, reason)
	if err == nil {
		err = r.chore.forget(ctx, r.Task)
	}
	return err
}
