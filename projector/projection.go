package projector

import (
	"context"
	"slices"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// A Projection turns the changes of one container into views or pending work.
//
// Its methods must be safe for concurrent use. They are never called concurrently for changes
// of the same item. They may be called many times with the same change, and with an older
// change after a newer one.
type Projection interface {
	// Name must return a constant. It is stored in dead letters and appears in metrics and logs.
	Name() string

	// Wants should report whether Project has anything to do for the change. It must not send
	// requests.
	Wants(change changefeed.Change) bool

	// Project must apply the change, and must return nil only after all of its writes have
	// succeeded. It must be idempotent, and must not overwrite the result of a newer change. It
	// should not retry: the caller retries errors that concern the item (cosmos.IsItemError) and
	// then sets the change aside. After any other error the whole page is projected again.
	Project(ctx context.Context, change changefeed.Change) error
}

// A Conclusion is a Projection that must run after all others of its container. It does not
// receive a change that another projection has set aside.
type Conclusion interface{ concludes() }

// A Finisher is a Projection with a step that runs once after a group of changes, before the
// checkpoint.
type Finisher interface {
	// Finishes must report whether the step is needed after a change, even if the change was
	// projected before: a crash may have prevented Finish. It must not send requests.
	Finishes(change changefeed.Change) bool

	// Finish must be idempotent.
	Finish(ctx context.Context) error
}

// projections returns the projections of a container's changes, in order. The order makes
// deletions of posts safe: copies become tombstones before any source item is gone.
func (p *Projector) projections(container string) []Projection {
	return projections(p.views, container, p.counts, p.refillGate, p.wakeups)
}

func projections(
	v *views.Views, container string, c *counts, gate *refillGate, wake wakeups,
) []Projection {
	switch container {
	case schema.Users:
		return []Projection{renamedUsers{v, wake.sweeps}, deletedUsers{v, wake.deletions}}
	case schema.Posts:
		return []Projection{userPosts{v, c}, feed{v, c, gate}, deletedContent{v, wake.purges}}
	}
	return nil
}

// inOrder calls project for each projection that wants the change. If project returns false for
// one, the others still run, but no Conclusion does. An error of project ends inOrder and is
// returned.
func inOrder(
	projections []Projection, change changefeed.Change, project func(Projection) (done bool, err error),
) error {
	complete := true
	for _, projection := range projections {
		if _, ok := projection.(Conclusion); ok && !complete || !projection.Wants(change) {
			continue
		}
		done, err := project(projection)
		if err != nil {
			return err
		}
		complete = complete && done
	}
	return nil
}

// anyWants reports whether any projection wants a change.
func anyWants(projections []Projection, change changefeed.Change) bool {
	return slices.ContainsFunc(projections, func(p Projection) bool { return p.Wants(change) })
}

// anyFinishes reports whether any projection is a Finisher whose step is needed after a change.
func anyFinishes(projections []Projection, change changefeed.Change) bool {
	return slices.ContainsFunc(projections, func(p Projection) bool {
		finisher, ok := p.(Finisher)
		return ok && finisher.Finishes(change)
	})
}

// sources are the containers whose change feeds are read.
var sources = []string{schema.Users, schema.Posts}
