package command

import (
	"context"

	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
)

// feedMetrics are those of the feed ranges, whoever projects them. docs/operations.md describes them, as those below.
func (s *sight) feedMetrics() []telemetry.Metric {
	each := func(value func(projector.Lag) float64) func() ([]telemetry.Value, error) {
		return func() ([]telemetry.Value, error) {
			lags, err := s.lags.get(context.Background())
			var values []telemetry.Value
			for _, lag := range lags {
				values = append(values, telemetry.Value{Value: value(lag), Labels: []string{lag.Container, lag.Range.String()}})
			}
			return values, err
		}
	}
	labels := []string{"container", "range"}
	return []telemetry.Metric{{
		Name:   "cosmosblog_projector_lag_changes",
		Help:   "Changes of a feed range that are not projected yet, at most.",
		Labels: labels,
		Read:   each(func(lag projector.Lag) float64 { return float64(lag.Changes) }),
	}, {
		Name:   "cosmosblog_projector_lag_seconds",
		Help:   "Age of the oldest change of a feed range that is not projected yet, 0 where there is none.",
		Labels: labels,
		Read:   each(func(lag projector.Lag) float64 { return seconds(lag.For(s.now())) }),
	}, {
		Name: "cosmosblog_projector_dead_letters",
		Help: "Changes that are set aside in deadletters now, 1000 where there are more.",
		Read: func() ([]telemetry.Value, error) {
			letters, err := s.letters.get(context.Background())
			if err != nil {
				return nil, err
			}
			return []telemetry.Value{{Value: float64(letters)}}, nil
		},
	}}
}

// projectorMetrics are those of the projector in this process.
func projectorMetrics(p *projector.Projector) []telemetry.Metric {
	return append(projectionMetrics(p), []telemetry.Metric{
		total("leases_lost", "Leases that another projector took, or that were not renewed in time.",
			one(func() int64 { return p.Counts().LeasesLost })),
		total("sweep_passes", "Passes that brought a new username to all that its user wrote.",
			one(func() int64 { return p.Counts().SweepPasses })),
		total("deletion_passes", "Passes that deleted what a deleted user wrote.",
			one(func() int64 { return p.Counts().DeletionPasses })),
		total("purges", "Deleted posts whose comments and likes were deleted.",
			one(func() int64 { return p.Counts().Purges })),
		{
			Name: "cosmosblog_projector_leases_held",
			Help: "Leases that this projector works on: of feed ranges, and of the three chores.",
			Read: one(func() int64 { return int64(p.Counts().LeasesHeld) }),
		},
	}...)
}

// projectionMetrics are those of each projection of each container.
func projectionMetrics(p *projector.Projector) []telemetry.Metric {
	each := func(has func(projector.ProjectionCounts) bool, value func(projector.ProjectionCounts) int64) func() ([]telemetry.Value, error) {
		return func() ([]telemetry.Value, error) {
			var values []telemetry.Value
			for _, of := range p.Counts().Projections {
				if has(of) {
					values = append(values, telemetry.Value{Value: float64(value(of)), Labels: []string{of.Container, of.Projection}})
				}
			}
			return values, nil
		}
	}
	every := func(projector.ProjectionCounts) bool { return true }
	named := func(of projector.ProjectionCounts) bool { return of.Projection != "" }
	views := func(of projector.ProjectionCounts) bool { return of.Written+of.Unchanged > 0 }
	const container, projection = "container", "projection"
	return []telemetry.Metric{
		total("changes", "Changes that were projected, each time that they came.",
			each(named, func(of projector.ProjectionCounts) int64 { return of.Projected }), container, projection),
		total("views_written", "Views that were written.",
			each(views, func(of projector.ProjectionCounts) int64 { return of.Written }), container, projection),
		total("views_unchanged", "Views that were as new as their change already, or not to be there, and were left as they were.",
			each(views, func(of projector.ProjectionCounts) int64 { return of.Unchanged }), container, projection),
		total("retries", "Times that a change was tried again because of what is wrong with its item.",
			each(named, func(of projector.ProjectionCounts) int64 { return of.Retries }), container, projection),
		total("set_aside", "Changes that could not be projected and were set aside in deadletters; without a projection where the item could not be read.",
			each(every, func(of projector.ProjectionCounts) int64 { return of.SetAside }), container, projection),
	}
}

func total(what, help string, read func() ([]telemetry.Value, error), labels ...string) telemetry.Metric {
	return telemetry.Metric{Name: "cosmosblog_projector_" + what + "_total", Help: help, Counter: true, Labels: labels, Read: read}
}

// one reads a metric without labels.
func one(value func() int64) func() ([]telemetry.Value, error) {
	return func() ([]telemetry.Value, error) {
		return []telemetry.Value{{Value: float64(value())}}, nil
	}
}
