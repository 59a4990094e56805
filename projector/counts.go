package projector

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"cosmosblog/store/changefeed"
)

// Counts are the totals of a projector since New.
type Counts struct {
	Projections    []ProjectionCounts // ordered by container and name
	LeasesHeld     int                // currently, including those of chores
	LeasesLost     int64              // taken by other projectors, or not renewed in time
	SweepPasses    int64              // over the items of renamed users
	DeletionPasses int64              // over the items of deleted users
	Purges         int64              // of deleted posts
}

// ProjectionCounts are the totals of one projection.
type ProjectionCounts struct {
	Container  string
	Projection string // empty for changes that could not be read
	Projected  int64  // changes, counted each time they are projected
	Written    int64  // views
	Unchanged  int64  // views that were already up to date, or posts that do not belong in them
	Retries    int64  // attempts after the first one, because of errors that concern an item
	SetAside   int64  // changes
}

// Counts returns the totals so far. It is safe for concurrent use.
func (p *Projector) Counts() Counts {
	return Counts{
		Projections:    p.counts.all(),
		LeasesHeld:     len(p.sortedWorkers()),
		LeasesLost:     p.counts.leasesLost.Load(),
		SweepPasses:    p.counts.sweepPasses.Load(),
		DeletionPasses: p.counts.deletionPasses.Load(),
		Purges:         p.counts.purges.Load(),
	}
}

// counts are the counters behind Counts. They are safe for concurrent use.
type counts struct {
	leasesLost, sweepPasses, deletionPasses, purges atomic.Int64

	mu            sync.Mutex // guards the map
	ofProjections map[stage]*projectionCounts
}

// stage identifies a projection of one container's changes.
type stage struct{ container, projection string }

type projectionCounts struct{ projected, written, unchanged, retries, setAside atomic.Int64 }

// newCounts creates the counters of all projections, so that their zeros are reported too.
func newCounts() *counts {
	c := &counts{ofProjections: make(map[stage]*projectionCounts)}
	for _, container := range sources {
		c.of(container, "")
		for _, projection := range projections(nil, nil, container, c, nil, wakeups{}) {
			c.of(container, projection.name)
		}
	}
	return c
}

func (c *counts) of(container, projection string) *projectionCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := stage{container, projection}
	if c.ofProjections[s] == nil {
		c.ofProjections[s] = new(projectionCounts)
	}
	return c.ofProjections[s]
}

// view counts a view as written or unchanged.
func (c *counts) view(projection string, change changefeed.Change, written bool) {
	of := c.of(change.Container, projection)
	if written {
		of.written.Add(1)
	} else {
		of.unchanged.Add(1)
	}
}

func (c *counts) all() []ProjectionCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []ProjectionCounts
	for s, of := range c.ofProjections {
		all = append(all, ProjectionCounts{
			Container:  s.container,
			Projection: s.projection,
			Projected:  of.projected.Load(),
			Written:    of.written.Load(),
			Unchanged:  of.unchanged.Load(),
			Retries:    of.retries.Load(),
			SetAside:   of.setAside.Load(),
		})
	}
	slices.SortFunc(all, func(a, b ProjectionCounts) int {
		return cmp.Or(cmp.Compare(a.Container, b.Container), cmp.Compare(a.Projection, b.Projection))
	})
	return all
}
