package projector

import (
	"context"
	"slices"

	"cosmosblog/store"
)

// A Projection turns changes of one container into what follows from them. It may be handed the same change many times,
// and an older one after a newer; it is called concurrently, but never for two changes of one item at once.
type Projection interface {
	// Name is its durable identity, in dead letters and logs.
	Name() string
	// Wants tells whether a change is of any interest. It sends nothing.
	Wants(change store.Change) bool
	// Project does what follows from the change. All of it is done where no error comes back.
	Project(ctx context.Context, change store.Change) error
}

// A Conclusion is a Projection that comes after all others of its container: a change that one of them could not be done
// for does not reach it.
type Conclusion interface{ concludes() }

// A Finisher is a Projection that has something to do after changes of a page are projected, before the checkpoint.
type Finisher interface {
	// Finishes tells whether there is something to do after a change.
	Finishes(change store.Change) bool
	// Finish does it, once for all of them. It may be done many times.
	Finish(ctx context.Context) error
}

// projections are what is made of each container's changes, in order. The order of those of posts is what makes deletions
// safe: copies become tombstones before anything is gone.
func (p *Projector) projections(container string) []Projection {
	return projections(p.options.Store, container, p.counts, p.reserve, p.recorded)
}

func projections(s *store.Store, container string, c *counts, r *reserve, to recorded) []Projection {
	switch container {
	case store.UsersContainer:
		return []Projection{usernames{s, to.sweeps}, deletions{s, to.deletions}}
	case store.PostsContainer:
		return []Projection{userPosts{s, c}, feed{s, c, r}, deleted{s, to.purges}}
	}
	return nil
}

// inOrder has do done for each of the projections that wants a change. What one was not done for still reaches the others, but no
// Conclusion. Error: that of do, which ends it.
func inOrder(projections []Projection, change store.Change, do func(Projection) (done bool, err error)) error {
	complete := true
	for _, projection := range projections {
		if _, ok := projection.(Conclusion); ok && !complete || !projection.Wants(change) {
			continue
		}
		done, err := do(projection)
		if err != nil {
			return err
		}
		complete = complete && done
	}
	return nil
}

// wants tells whether any of the projections wants a change.
func wants(projections []Projection, change store.Change) bool {
	return slices.ContainsFunc(projections, func(p Projection) bool { return p.Wants(change) })
}

// wantsFinish tells whether one of the projections has something to do when a change was projected.
func wantsFinish(projections []Projection, change store.Change) bool {
	return slices.ContainsFunc(projections, func(p Projection) bool {
		finisher, ok := p.(Finisher)
		return ok && finisher.Finishes(change)
	})
}

// sources are the containers whose changes are read.
var sources = []string{store.UsersContainer, store.PostsContainer}
