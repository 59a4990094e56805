package command

import (
	"context"
	"time"

	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
	"cosmosblog/store"
)

// ObserveServer makes what the server tells its operator, until ctx ends. p is the projector in its process, nil where
// there is none. A server answers from all views: it is ready while none of them is too far behind, whoever projects them.
func ObserveServer(ctx context.Context, task Task, database *Database, p *projector.Projector) telemetry.Observer {
	every := func(projector.Lag) bool { return true }
	return newSight(ctx, database, p, time.Now).observer(task, every)
}

// ObserveProjector makes what a projector tells, until ctx ends. What others project is told too, and is no reason for it
// not to be ready.
func ObserveProjector(ctx context.Context, task Task, database *Database, p *projector.Projector) telemetry.Observer {
	held := func(lag projector.Lag) bool { return lag.Held }
	return newSight(ctx, database, p, time.Now).observer(task, held)
}

// sight is what a process sees of the projectors' work, its own and that of others.
type sight struct {
	database *Database
	own      *projector.Projector // nil where there is none in this process
	now      func() time.Time

	life    context.Context // of the process, until it is told to end
	reads   latest[any]     // whether the database answers; there is nothing to tell of it
	scripts latest[any]     // whether the containers and scripts are there, and those of this version
	lags    latest[[]projector.Lag]
	still   standstills // used by one lookup at a time
	letters latest[int]
}

// scriptsAge is how seldom scripts that were there are looked for: each of them is executed, for an RU or so.
const scriptsAge = 30 * time.Second

func newSight(ctx context.Context, database *Database, p *projector.Projector, now func() time.Time) *sight {
	s := &sight{database: database, own: p, now: now, life: ctx, still: standstills{}}
	s.reads = latest[any]{life: ctx, look: func(ctx context.Context) (any, error) { return nil, database.Ready(ctx) }, now: now}
	s.scripts = latest[any]{life: ctx, look: func(ctx context.Context) (any, error) { return nil, database.Store.Check(ctx) }, now: now, age: scriptsAge}
	s.lags = latest[[]projector.Lag]{life: ctx, look: s.lookForLags, now: now}
	s.letters = latest[int]{life: ctx, look: database.Store.CountDeadLetters, now: now}
	return s
}

func (s *sight) lookForLags(ctx context.Context) ([]projector.Lag, error) {
	var held []store.Lease
	if s.own != nil {
		held = s.own.Feeds()
	}
	lags, err := projector.Lags(ctx, s.database.Store, held...)
	s.still.note(lags, s.now())
	return lags, err
}

// observer tells what is seen. concerns says whether a lag keeps the process from being ready.
func (s *sight) observer(task Task, concerns func(projector.Lag) bool) telemetry.Observer {
	observer := telemetry.Observer{Metrics: telemetry.NewMetrics(), Logger: task.Logger}
	observer.Metrics.Add(s.feedMetrics()...)
	if task.Traffic != nil {
		observer.Metrics.AddTraffic(task.Traffic)
	}
	observer.Checks = []telemetry.Check{
		{Name: "process", Ready: s.processReport},
		{Name: "database", Ready: s.reads.get},
		{Name: "scripts", Ready: s.scripts.get},
		{Name: "lag", Ready: func(ctx context.Context) (any, error) { return s.lagReport(ctx, task.Config.ReadyLag, concerns) }},
		{Name: "deadLetters", Ready: s.letterReport},
	}
	if s.own != nil {
		observer.Metrics.Add(projectorMetrics(s.own)...)
		observer.Checks = append(observer.Checks, telemetry.Check{Name: "projector", Ready: func(context.Context) (any, error) {
			return workOf(s.own)
		}})
	}
	return observer
}
