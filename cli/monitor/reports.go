package monitor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"cosmosblog/projector"
)

// feedReport is the lag of one feed range in the response of /readyz.
type feedReport struct {
	Container string  `json:"container"`
	Range     string  `json:"range"`
	Changes   int64   `json:"changes"`
	Seconds   float64 `json:"seconds"`
	Held      bool    `json:"held"` // by this process
}

// processReport returns an error once the process shuts down. The process still completes the
// requests in flight, but load balancers should send new ones elsewhere.
func (m *monitor) processReport(context.Context) (any, error) {
	if m.life.Err() != nil {
		return nil, errors.New("the process is shutting down")
	}
	return nil, nil
}

// lagReport returns the lag of all feed ranges whose lag could be looked up. It does not affect
// readiness: a process that lags can answer. The metrics log why a lookup failed.
func (m *monitor) lagReport(ctx context.Context) []feedReport {
	lags, _ := m.lags.get(ctx)
	report := make([]feedReport, 0, len(lags))
	for _, lag := range lags {
		behind := seconds(lag.For(m.databaseNow()))
		report = append(report, feedReport{lag.Container, lag.Range.String(), lag.Changes, behind, lag.Held})
	}
	return report
}

// letterReport returns the number of dead letters. They do not affect readiness.
func (m *monitor) letterReport(ctx context.Context) (any, error) {
	letters, err := m.letters.get(ctx)
	if err != nil {
		return nil, err
	}
	return letters, nil
}

// seconds rounds a duration to milliseconds.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// workReport is the work of a projector in the response of /readyz.
type workReport struct {
	Leases   int   `json:"leases"`
	Retries  int64 `json:"retries"`
	SetAside int64 `json:"setAside"`
	// Missing holds the ids of the scripts that the projector waits for.
	Missing []string `json:"missing,omitempty"`
	// Rebuilds is the reason for which the views are rebuilt, while they are.
	Rebuilds string `json:"rebuilds,omitempty"`
}

// workOf reports the work of a projector. It returns an error if the projector waits for missing
// scripts, and, unless the process also answers queries, while the views are rebuilt.
func workOf(p *projector.Projector, isServer bool) (any, error) {
	report := workReportOf(p.Counts())
	if isRebuilding(p) {
		report.Rebuilds = p.History().Reason
	}
	if missing := p.Missing(); missing != nil {
		report.Missing = missing.Scripts
		return report, missing
	}
	if report.Rebuilds != "" && !isServer {
		return report, fmt.Errorf("the views are rebuilt: %s", report.Rebuilds)
	}
	return report, nil
}

// isRebuilding reports whether the views are rebuilt after the database went back to an earlier
// state, by this projector or another one.
func isRebuilding(p *projector.Projector) bool {
	history := p.History()
	return history.Name != "" && !history.IsRebuilt
}

func workReportOf(counts projector.Counts) workReport {
	report := workReport{Leases: counts.LeasesHeld}
	for _, of := range counts.Projections {
		report.Retries += of.Retries
		report.SetAside += of.SetAside
	}
	return report
}
