package projector

import (
	"context"
	"slices"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
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

	// Handles should report whether Project has anything to do for the change. It must not send
	// requests.
	Handles(change changefeed.Change) bool

	// Project must apply the change, and must return nil only after all of its writes have
	// succeeded. It must be idempotent, and must not overwrite the result of a newer change. It
	// should not retry: the caller retries errors that concern the item (cosmos.IsItemError) and
	// then sets the change aside. After any other error the whole page is projected again.
	Project(ctx context.Context, change changefeed.Change) error
}

// A Conclusion is a Projection that runs after all others of its container. It does not receive
// changes that another projection has set aside.
type Conclusion interface{ concludes() }

// A Grouping is a Projection that can project several changes of a page with fewer requests.
type Grouping interface {
	// Group must return the name of the group in which a change that Handles accepts can be
	// projected, or "" if it must be projected alone. It must not send requests.
	Group(change changefeed.Change) string

	// ProjectGroup is Project for two or more changes of one group. It must return the ids of those
	// that it has projected. The others are projected alone. If an error concerns an item, it should
	// therefore return nil instead of the error.
	ProjectGroup(ctx context.Context, changes []changefeed.Change) (projected []string, err error)
}

// A Finisher is a Projection with a step that runs once after a group of changes, before the
// checkpoint.
type Finisher interface {
	// Finishes must report whether the step is needed after a change. The answer must not depend on
	// whether the change was projected before, because a crash may have prevented Finish. It must
	// not send requests.
	Finishes(change changefeed.Change) bool

	// Finish must be idempotent.
	Finish(ctx context.Context) error
}

// projections returns the projections of a container's changes, in order. When a post is deleted,
// its copies become tombstones before its own items are deleted.
func (p *Projector) projections(container string) []Projection {
	return projections(p.views, p.pending, container, p.counts, p.refillGate, p.wakeups)
}

func projections(
	v *views.Views, pending *chores.Chores, container string, c *counts, gate *refillGate, wake wakeups,
) []Projection {
	switch container {
	case schema.Users:
		return []Projection{renamedUsers{pending, wake.sweeps}, deletedUsers{pending, wake.deletions}}
	case schema.Posts:
		return []Projection{userPosts{v, c}, feed{v, c, gate}, deletedContent{pending, wake.purges}}
	}
	return nil
}

// inOrder calls project for each projection that handles the change. If project returns false for
// one, the others still run, except those that are a Conclusion. inOrder returns the first error of
// project at once.
func inOrder(
	projections []Projection, change changefeed.Change, project func(Projection) (done bool, err error),
) error {
	complete := true
	for _, projection := range projections {
		if _, ok := projection.(Conclusion); ok && !complete || !projection.Handles(change) {
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

// mayChangeViews reports whether the views of a changed post may need a write. The ttl of
// a deleted post is set only after its views are done.
func mayChangeViews(change changefeed.Change) bool { return change.Post != nil && !change.Expires }

// anyHandles reports whether any projection handles a change.
func anyHandles(projections []Projection, change changefeed.Change) bool {
	return slices.ContainsFunc(projections, func(p Projection) bool { return p.Handles(change) })
}

// anyFinishes reports whether any projection is a Finisher whose step is needed after a change.
func anyFinishes(projections []Projection, change changefeed.Change) bool {
	return slices.ContainsFunc(projections, func(p Projection) bool {
		finisher, ok := p.(Finisher)
		return ok && finisher.Finishes(change)
	})
}

// projectGroup projects a group into a view of posts, and counts what was written.
func projectGroup(
	ctx context.Context, projection Projection, counts *counts, view views.PostView, changes []changefeed.Change,
) (projected []string, err error) {
	posts := make([]*blog.Post, len(changes))
	for i, change := range changes {
		posts[i] = change.Post
	}
	written, err := view.ProjectGroup(ctx, posts)
	for _, change := range changes {
		if wrote, ok := written[change.ID]; ok {
			counts.view(projection, change, wrote)
			projected = append(projected, change.ID)
		}
	}
	return projected, err
}

// sources are the containers whose change feeds are read.
var sources = []string{schema.Users, schema.Posts}
