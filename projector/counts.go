package projector

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"cosmosblog/store"
)

// Counts are what a projector has done since it was made.
type Counts struct {
	Projections    []ProjectionCounts // in the order of their containers and names
	LeasesHeld     int                // now, those of chores too
	LeasesLost     int64              // that somebody else took, or that were not renewed in time
	SweepPasses    int64              // through what a renamed user wrote
	DeletionPasses int64              // through what a deleted user wrote
	Purges         int64              // of deleted posts
}

// ProjectionCounts are those of one projection.
type ProjectionCounts struct {
	Container  string
	Projection string // empty for what could not be read
	Projected  int64  // changes, each time that they came
	Written    int64  // views
	Unchanged  int64  // views that were as new as the change already, or are not to be there
	Retries    int64  // changes that were tried again, because of what is wrong with the item
	SetAside   int64  // changes
}

// Counts gives what the projector has done so far. It may be called at any time.
func (p *Projector) Counts() Counts {
	return Counts{
		Projections:    p.counts.all(),
		LeasesHeld:     len(p.sorted()),
		LeasesLost:     p.counts.leasesLost.Load(),
		SweepPasses:    p.counts.sweepPasses.Load(),
		DeletionPasses: p.counts.deletionPasses.Load(),
		Purges:         p.counts.purges.Load(),
	}
}

// counts are those of a projector at work. They may be used concurrently.
type counts struct {
	leasesLost, sweepPasses, deletionPasses, purges atomic.Int64

	mu            sync.Mutex // held while the map is read or changed
	ofProjections map[stage]*projectionCounts
}

// stage is a projection of a container's changes.
type stage struct{ container, projection string }

type projectionCounts struct{ projected, written, unchanged, retries, setAside atomic.Int64 }

// newCounts begins with the projections that there are, so that what did not happen yet is told as nothing.
func newCounts() *counts {
	c := &counts{ofProjections: make(map[stage]*projectionCounts)}
	for _, container := range sources {
		c.of(container, "")
		for _, projection := range projections(nil, container, c, nil, recorded{}) {
			c.of(container, projection.Name())
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

// view counts a change's view, that was written or left as it was.
func (c *counts) view(projection Projection, change store.Change, written bool) {
	of := c.of(change.Container, projection.Name())
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
