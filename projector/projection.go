package projector

import (
	"context"

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

// A Finisher is a Projection that has something to do after all changes of a page are projected, before the checkpoint.
type Finisher interface {
	Finish(ctx context.Context, page []store.Change) error
}

// projections are what is made of each container's changes, in order: a change that one of them refuses does not reach
// the next. The order of those of posts is what makes deletions safe: copies become tombstones before anything is gone.
func (p *Projector) projections(container string) []Projection {
	switch container {
	case store.UsersContainer:
		return []Projection{usernames{p.options.Store, p.sweepRecorded}, deletions{p.options.Store, p.deletionRecorded}}
	case store.PostsContainer:
		return []Projection{userPosts{p.options.Store}, feed{p.options.Store}, deleted{p.options.Store}}
	}
	return nil
}

// sources are the containers whose changes are read.
var sources = []string{store.UsersContainer, store.PostsContainer}
