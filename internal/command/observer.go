package command

import (
	"context"
	"fmt"
	"math"
	"time"

	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
)

// ObserveServer makes what the server tells its operator. p is the projector in its process, nil where there is none. A
// server answers from all views: it is ready while none of them is too far behind, whoever projects them.
func ObserveServer(task Task, database *Database, p *projector.Projector) telemetry.Observer {
	every := func(projector.Lag) bool { return true }
	return observe(task, database, p, every, time.Now)
}

// ObserveProjector makes what a projector tells. What others project is told too, and is no reason for it not to be ready.
func ObserveProjector(task Task, database *Database, p *projector.Projector) telemetry.Observer {
	held := func(lag projector.Lag) bool { return lag.Held }
	return observe(task, database, p, held, time.Now)
}

func observe(task Task, database *Database, p *projector.Projector, concerns func(projector.Lag) bool, now func() time.Time) telemetry.Observer {
	lags := &feedLags{now: now, read: func(ctx context.Context) ([]projector.Lag, error) {
		if p == nil {
			return projector.Lags(ctx, database.Store)
		}
		return projector.Lags(ctx, database.Store, p.Feeds()...)
	}}
	observer := telemetry.Observer{Metrics: telemetry.NewMetrics(), Logger: task.Logger}
	observer.Metrics.Add(lagMetrics(lags)...)
	observer.Checks = []telemetry.Check{
		{Name: "database", Ready: func(ctx context.Context) (any, error) { return nil, database.Ready(ctx) }},
		{Name: "lag", Ready: func(ctx context.Context) (any, error) { return lags.ready(ctx, task.Config.ReadyLag, concerns) }},
	}
	if p != nil {
		observer.Metrics.Add(projectorMetrics(p)...)
		observer.Checks = append(observer.Checks, telemetry.Check{Name: "projector", Ready: func(context.Context) (any, error) {
			return projectorReport(p.Counts()), nil
		}})
	}
	return observer
}

// feedReport is the lag of one feed range in the readiness answer.
type feedReport struct {
	Container string  `json:"container"`
	Range     string  `json:"range"`
	Changes   int64   `json:"changes"`
	Seconds   float64 `json:"seconds"`
	Held      bool    `json:"held"` // by this process
}

// ready tells the lag of all feed ranges. Error: one of those that concern this process is above the bound, where there is one, or a
// lag could not be read.
func (f *feedLags) ready(ctx context.Context, bound time.Duration, concerns func(projector.Lag) bool) ([]feedReport, error) {
	lags, err := f.latest(ctx)
	report := make([]feedReport, 0, len(lags))
	for _, lag := range lags {
		behind := lag.For(f.now())
		report = append(report, feedReport{lag.Container, lag.Range.String(), lag.Changes, seconds(behind), lag.Held})
		if bound > 0 && behind > bound && concerns(lag) && err == nil {
			err = fmt.Errorf("the views are %v behind the changes of %s %s", behind, lag.Container, lag.Range)
		}
	}
	return report, err
}

// seconds gives a duration to the millisecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// workReport is what a projector has done, in the readiness answer.
type workReport struct {
	Leases   int   `json:"leases"`
	Retries  int64 `json:"retries"`
	SetAside int64 `json:"setAside"`
}

func projectorReport(counts projector.Counts) workReport {
	report := workReport{Leases: counts.LeasesHeld}
	for _, of := range counts.Projections {
		report.Retries += of.Retries
		report.SetAside += of.SetAside
	}
	return report
}
