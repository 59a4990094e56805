package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"cosmosblog/projector"
)

// feedReport is the lag of one feed range in the readiness answer.
type feedReport struct {
	Container string  `json:"container"`
	Range     string  `json:"range"`
	Changes   int64   `json:"changes"`
	Seconds   float64 `json:"seconds"`
	Held      bool    `json:"held"` // by this process
}

// processReport gives an error from when the process was told to end: requests that are under way are still answered, and
// new ones are for others.
func (s *sight) processReport(context.Context) (any, error) {
	if s.life.Err() != nil {
		return nil, errors.New("the process was told to end")
	}
	return nil, nil
}

// lagReport tells the lag of all feed ranges. Error: one of those that concern this process is above the bound, where
// there is one, or a lag could not be looked up.
func (s *sight) lagReport(ctx context.Context, bound time.Duration, concerns func(projector.Lag) bool) ([]feedReport, error) {
	lags, err := s.lags.get(ctx)
	report := make([]feedReport, 0, len(lags))
	for _, lag := range lags {
		behind := lag.For(s.now())
		report = append(report, feedReport{lag.Container, lag.Range.String(), lag.Changes, seconds(behind), lag.Held})
		if bound > 0 && behind > bound && concerns(lag) && err == nil {
			err = fmt.Errorf("the views are %v behind the changes of %s %s", behind, lag.Container, lag.Range)
		}
	}
	return report, err
}

// letterReport tells how many dead letters there are. However many, the process does its work.
func (s *sight) letterReport(ctx context.Context) (any, error) {
	letters, err := s.letters.get(ctx)
	if err != nil {
		return nil, err
	}
	return letters, nil
}

// seconds gives a duration to the millisecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// workReport is what a projector has done, in the readiness answer.
type workReport struct {
	Leases   int   `json:"leases"`
	Retries  int64 `json:"retries"`
	SetAside int64 `json:"setAside"`
	// Missing is what the projector waits for: scripts by their ids.
	Missing []string `json:"missing,omitempty"`
}

// workOf reports what a projector does. Error: it waits for what the database lacks.
func workOf(p *projector.Projector) (any, error) {
	report := workReportOf(p.Counts())
	if missing := p.Missing(); missing != nil {
		report.Missing = missing.Scripts
		return report, missing
	}
	return report, nil
}

func workReportOf(counts projector.Counts) workReport {
	report := workReport{Leases: counts.LeasesHeld}
	for _, of := range counts.Projections {
		report.Retries += of.Retries
		report.SetAside += of.SetAside
	}
	return report
}
