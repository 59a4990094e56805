package monitor

import (
	"context"

	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
)

// docs/operations.md lists all metrics.

// feedMetrics returns the metrics of all feed ranges, including those that other processes project.
func (m *monitor) feedMetrics() []telemetry.Metric {
	each := func(value func(projector.Lag) float64) func() ([]telemetry.Value, error) {
		return func() ([]telemetry.Value, error) {
			lags, err := m.lags.get(context.Background())
			var values []telemetry.Value
			for _, lag := range lags {
				labels := []string{lag.Container, lag.Range.String()}
				values = append(values, telemetry.Value{Value: value(lag), Labels: labels})
			}
			return values, err
		}
	}
	labels := []string{"container", "range"}
	return []telemetry.Metric{{
		Name:   "cosmosblog_projector_lag_changes",
		Help:   "Upper bound of the changes of a feed range that are not projected yet.",
		Labels: labels,
		Read:   each(func(lag projector.Lag) float64 { return float64(lag.Changes) }),
	}, {
		Name:   "cosmosblog_projector_lag_seconds",
		Help:   "Age of the oldest change of a feed range that is not projected yet, 0 if there is none.",
		Labels: labels,
		Read:   each(func(lag projector.Lag) float64 { return seconds(lag.For(m.databaseNow())) }),
	}, {
		Name: "cosmosblog_projector_dead_letters",
		Help: "Items in the container deadletters, at most 1000.",
		Read: func() ([]telemetry.Value, error) {
			letters, err := m.letters.get(context.Background())
			if err != nil {
				return nil, err
			}
			return []telemetry.Value{{Value: float64(letters)}}, nil
		},
	}}
}

// clockMetric returns the difference of the clocks of this machine and the database.
func (m *monitor) clockMetric() telemetry.Metric {
	return telemetry.Metric{
		Name: "cosmosblog_clock_offset_seconds",
		Help: "Time to add to the clock of this machine to get the database's, 0 if they agree within a second.",
		Read: func() ([]telemetry.Value, error) {
			return []telemetry.Value{{Value: m.DB.ClockOffset().Seconds()}}, nil
		},
	}
}

// projectorMetrics returns the metrics of the projector in this process.
func projectorMetrics(p *projector.Projector) []telemetry.Metric {
	return append(projectionMetrics(p), []telemetry.Metric{
		total("leases_lost", "Leases that another projector took, or that were not renewed in time.",
			one(func() int64 { return p.Counts().LeasesLost })),
		total("sweep_passes", "Passes that wrote a new username to the items of its user.",
			one(func() int64 { return p.Counts().SweepPasses })),
		total("deletion_passes", "Passes that deleted the items of a deleted user.",
			one(func() int64 { return p.Counts().DeletionPasses })),
		total("purges", "Deleted posts whose comments and likes were deleted.",
			one(func() int64 { return p.Counts().Purges })),
		{
			Name: "cosmosblog_projector_leases_held",
			Help: "Leases that this projector holds: those of feed ranges and of the three chores.",
			Read: one(func() int64 { return int64(p.Counts().LeasesHeld) }),
		},
		{
			Name: "cosmosblog_projector_rebuilding",
			Help: "1 while the views are rebuilt, by any projector, after the database went back to an earlier state, otherwise 0.",
			Read: one(func() int64 {
				if isRebuilding(p) {
					return 1
				}
				return 0
			}),
		},
	}...)
}

// projectionMetrics returns the metrics of each projection of each container.
func projectionMetrics(p *projector.Projector) []telemetry.Metric {
	type counts = projector.ProjectionCounts
	each := func(has func(counts) bool, value func(counts) int64) func() ([]telemetry.Value, error) {
		return func() ([]telemetry.Value, error) {
			var values []telemetry.Value
			for _, c := range p.Counts().Projections {
				if has(c) {
					labels := []string{c.Container, c.Projection}
					values = append(values, telemetry.Value{Value: float64(value(c)), Labels: labels})
				}
			}
			return values, nil
		}
	}
	every := func(counts) bool { return true }
	named := func(c counts) bool { return c.Projection != "" }
	views := func(c counts) bool { return c.Written+c.Unchanged > 0 }
	const container, projection = "container", "projection"
	return []telemetry.Metric{
		total("changes", "Changes that were projected; a change that is read again counts again.",
			each(named, func(c counts) int64 { return c.Projected }), container, projection),
		total("views_written", "View items that were written.",
			each(views, func(c counts) int64 { return c.Written }), container, projection),
		total("views_unchanged",
			"View items that were left alone, because they were as new as the change or do not belong in the view.",
			each(views, func(c counts) int64 { return c.Unchanged }), container, projection),
		total("retries", "Retries of changes that failed because of their item.",
			each(named, func(c counts) int64 { return c.Retries }), container, projection),
		total("set_aside",
			"Changes that could not be projected and were written to deadletters; "+
				"projection is empty if the item could not be read.",
			each(every, func(c counts) int64 { return c.SetAside }), container, projection),
	}
}

func total(name, help string, read func() ([]telemetry.Value, error), labels ...string) telemetry.Metric {
	return telemetry.Metric{
		Name:    "cosmosblog_projector_" + name + "_total",
		Help:    help,
		Counter: true,
		Labels:  labels,
		Read:    read,
	}
}

// one reads a metric without labels.
func one(value func() int64) func() ([]telemetry.Value, error) {
	return func() ([]telemetry.Value, error) {
		return []telemetry.Value{{Value: float64(value())}}, nil
	}
}
