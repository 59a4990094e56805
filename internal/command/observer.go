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

	lags    latest[[]projector.Lag]
	still   standstills // used by one lookup at a time
	letters latest[int]
}

func newSight(ctx context.Context, database *Database, p *projector.Projector, now func() time.Time) *sight {
	s := &sight{database: database, own: p, now: now, still: standstills{}}
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
	observer.Checks = []telemetry.Check{
		{Name: "database", Ready: func(ctx context.Context) (any, error) { return nil, s.database.Ready(ctx) }},
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
