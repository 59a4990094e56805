package projector

import (
	"context"
	"slices"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// projection turns the changes of one container into views or pending work. Its functions are
// called concurrently, but never for changes of the same item. They may be called many times with
// the same change, and with an older change after a newer one. Only project, projectGroup and
// finish send requests.
type projection struct {
	name string // a constant: it is stored in dead letters, and appears in metrics and logs

	// handles reports whether project has anything to do for a change.
	handles func(changefeed.Change) bool

	// project applies a change, and returns nil only after all of its writes have succeeded. It is
	// idempotent, and does not overwrite the result of a newer change. It does not retry: the caller
	// retries errors that concern the item (cosmos.IsItemError) and then sets the change aside. After
	// any other error the whole page is projected again.
	project func(context.Context, changefeed.Change) error

	// view returns the view that a change is projected into. Changes of a page in the same partition,
	// of posts that are not deleted, are projected together. nil for pending work.
	view func(changefeed.Change) views.PostView

	// finish runs once after a group of changes with one of a deleted post, before the checkpoint,
	// whether or not that was projected before: a crash may have prevented finish. It is idempotent.
	// May be nil.
	finish func(context.Context) error

	// concludes says that it runs after all others of its container, and does not receive changes that
	// another one has set aside.
	concludes bool
}

// finishes reports whether finish is needed after a change.
func (p projection) finishes(change changefeed.Change) bool {
	return p.finish != nil && change.Post != nil && change.Deleted
}

// group returns the partition in which a change is projected together with others; empty if it is
// projected alone. The gate of refills admits deleted posts one by one.
func (p projection) group(change changefeed.Change) string {
	if p.view == nil || change.Deleted {
		return ""
	}
	return p.view(change).Partition
}

// inOrder calls project for each projection that handles the change. If project returns false for
// one, the others still run, except those that conclude. inOrder returns the first error of
// project at once.
func inOrder(
	projections []projection, change changefeed.Change, project func(projection) (done bool, err error),
) error {
	complete := true
	for _, projection := range projections {
		if projection.concludes && !complete || !projection.handles(change) {
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

// anyHandles reports whether any projection handles a change.
func anyHandles(projections []projection, change changefeed.Change) bool {
	return slices.ContainsFunc(projections, func(p projection) bool { return p.handles(change) })
}

// anyFinishes reports whether any projection has to finish after a change.
func anyFinishes(projections []projection, change changefeed.Change) bool {
	return slices.ContainsFunc(projections, func(p projection) bool { return p.finishes(change) })
}

// projectGroup projects two or more changes of one group, and returns the ids of those that it has
// projected. The others are projected alone.
func (p projection) projectGroup(ctx context.Context, c *counts, changes []changefeed.Change) (projected []string, err error) {
	posts := make([]*blog.Post, len(changes))
	for i, change := range changes {
		posts[i] = change.Post
	}
	written, err := p.view(changes[0]).ProjectGroup(ctx, posts)
	for _, change := range changes {
		if wrote, ok := written[change.ID]; ok {
			c.view(p.name, change, wrote)
			projected = append(projected, change.ID)
		}
	}
	return projected, err
}

// sources are the containers whose change feeds are read.
var sources = []string{schema.Users, schema.Posts}
