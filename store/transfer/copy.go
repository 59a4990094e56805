// Package transfer copies one database into another: users, usernames and posts with their
// comments and likes. The target's projector builds the views.
package transfer

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"golang.org/x/sync/errgroup"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// Options configure a copy. Source is required.
type Options struct {
	// Source identifies the source from one run to the next: a folder, or an endpoint with its
	// database.
	Source string
	// Progress is called once at the beginning, unless there is nothing to copy, and after every page,
	// from one goroutine. May be nil.
	Progress func(follow.Progress, Copied)

	pageSize int // changes; defaultPageSize if 0
}

// Copied counts the items that a copy wrote.
type Copied struct{ Users, Usernames, Posts, Comments, Likes int64 }

const (
	parallel = 8 // partitions that are copied at a time
	// defaultPageSize is the number of changes in a page. The service returns fewer if they exceed 4
	// MB.
	defaultPageSize = 1000
)

// EmptyTargetError is the error of a copy that only an empty target can take. Another run would
// fail in the same way.
type EmptyTargetError struct{ reason string }

func (e *EmptyTargetError) Error() string {
	return e.reason + ": copy into an empty database or folder"
}

var _ cosmos.DefiniteError = (*EmptyTargetError)(nil)

// IsDefinite implements cosmos.DefiniteError.
func (*EmptyTargetError) IsDefinite() {}

var (
	errNotEmpty = &EmptyTargetError{"the target has items that were not copied from this source"}
	errWentBack = &EmptyTargetError{"the source went back to an earlier state since it was copied, and the target may have states that it lost"}
	errReplaced = &EmptyTargetError{"a container of the source was deleted and created again since it was copied"}
)

// copiedContainers are the containers that are copied, in this order.
var copiedContainers = []string{schema.Usernames, schema.Users, schema.Posts}

// Copy copies users, usernames, and posts with comments and likes from one database into another,
// which is empty, or has what earlier copies from the same source wrote. Nobody but copies and
// projectors may write there until the last copy is done. The source may be in use. Copy writes no
// views, because the target's projector builds them. It returns the number of items that it wrote,
// even if it fails. It waits if an account throttles it. Errors: *EmptyTargetError; otherwise the
// first error of a database.
//
// The change feeds of the source list what exists, from the beginning. If they do not show all
// items, because the source was restored (changefeed.History), a query lists them first. The feeds
// are read twice (follow.Follow), so that the copy has all changes that were made before its second
// half. The target keeps the positions. A copy may therefore be interrupted anywhere, and another
// one goes on there: it copies what has changed since.
func Copy(ctx context.Context, from, to *cosmos.DB, options Options) (Copied, error) {
	c := &copyRun{from: open(from), to: open(to), options: options}
	err := c.run(ctx)
	return c.copied(), err
}

type copyRun struct {
	from, to *database
	options  Options

	authors sync.Map // ids of users who exist in the target

	users, usernames, posts, comments, likes atomic.Int64
}

func (c *copyRun) copied() Copied {
	return Copied{c.users.Load(), c.usernames.Load(), c.posts.Load(), c.comments.Load(), c.likes.Load()}
}

func (c *copyRun) run(ctx context.Context) error {
	// No page shows an earlier state than the pages before, and reads of threads show what pages show.
	from := cosmos.WithSession(ctx)
	err := c.copy(ctx, from)
	switch age, isOld := errors.AsType[*follow.AgeError](err); {
	case isOld:
		return &EmptyTargetError{age.Error()}
	case errors.Is(err, follow.ErrContainerReplaced):
		return errReplaced
	case errors.Is(err, follow.ErrWentBack), cosmos.IsLostIn(from, err):
		return errWentBack
	}
	return err
}

// copy copies everything that is behind the positions of the last copy. from is a context for reads
// of the source.
func (c *copyRun) copy(ctx, from context.Context) error {
	history, err := cosmos.Retried(from, c.from.db, c.from.feeds.History)
	if err != nil {
		return err
	}
	saved, err := c.openCheckpoint(ctx, from, history)
	if err != nil {
		return err
	}
	follower := c.from.feeds.Follower(cmp.Or(c.options.pageSize, defaultPageSize))
	if c.options.Progress != nil {
		if saved.item.Positions, err = follower.Measure(from, saved.item.Positions); err != nil {
			return err
		}
		if progress := follow.ProgressOf(saved.item.Positions); progress.Done < progress.Total {
			c.options.Progress(progress, c.copied())
		}
	}
	for step, err := range follower.Follow(from, saved.item.Positions) {
		if err == nil {
			err = follow.CheckAges(saved.item.Positions, c.from.db.Now())
		}
		if err == nil {
			err = c.copyPage(ctx, from, step)
		}
		if err != nil {
			return err
		}
		if saved.item.Positions = step.Positions; len(step.Items) == 0 {
			continue
		}
		if c.options.Progress != nil {
			c.options.Progress(follow.ProgressOf(step.Positions), c.copied())
		}
		if err := saved.save(ctx); err != nil {
			return err
		}
	}
	now, err := cosmos.Retried(from, c.from.db, c.from.feeds.History)
	if err == nil && now.Name != history.Name {
		err = errWentBack // the pages since then may lack changes
	}
	if err != nil {
		return err
	}
	return saved.save(ctx)
}

// copyPage copies the items of a page, in several goroutines.
func (c *copyRun) copyPage(ctx, from context.Context, page follow.Step) error {
	items, err := storedItems(page.Items)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, item := range items {
		step := c.step(page.Feed.Container, item)
		if step == nil {
			continue
		}
		group.Go(func() error {
			to := cosmos.WithSession(ctx)
			return c.to.db.RetryTransient(to, func() error {
				return cosmos.RetryOnConflict(func() error { return step(from, to) })
			})
		})
	}
	return group.Wait()
}

// step returns the function that copies an item, or nil if there is none. It is executed again if
// it loses a race with a projector, or if its outcome is unknown.
func (c *copyRun) step(container string, item storedItem) func(from, to context.Context) error {
	switch {
	case container == schema.Usernames:
		return func(_, to context.Context) error { return c.copyReservation(to, item) }
	case item.Type == schema.TypeUser:
		return func(_, to context.Context) error { return c.copyUser(to, item) }
	case item.Type == schema.TypePost:
		return func(from, to context.Context) error { return c.copyThread(from, to, item) }
	case item.Type == schema.TypeComment && item.UpdatedDate != "":
		return func(_, to context.Context) error { return c.copyEdit(to, item) }
	}
	return nil
}

// copyReservation copies the reservation of a username. Former usernames of a user stay reserved
// until the target's projector has noticed the rename.
func (c *copyRun) copyReservation(to context.Context, item storedItem) error {
	text, err := item.text()
	if err != nil {
		return err
	}
	if _, err := c.to.usernames.UpsertItem(to, azcosmos.NewPartitionKeyString(item.ID), text, nil); err != nil {
		return cosmos.ToBlogError(err)
	}
	c.usernames.Add(1)
	return nil
}

// ensureAuthor copies the author of a post before the post: the target's projector counts a user's
// posts only if the user exists.
func (c *copyRun) ensureAuthor(from, to context.Context, userID string) error {
	if _, ok := c.authors.Load(userID); ok {
		return nil
	}
	_, _, err := readStored(to, c.to.users, userID, userID)
	if cosmos.IsNotFound(err) {
		var user storedItem
		if user, _, err = readStored(from, c.from.users, userID, userID); err == nil {
			err = c.copyUser(to, user)
		}
	}
	if err == nil || cosmos.IsNotFound(err) { // nobody has the deleted user's name any more
		c.authors.Store(userID, nil)
		return nil
	}
	return err
}

// copyUser copies a user. It copies a tombstone only if the user exists in the target. The
// tombstone keeps the target's username, whose reservation the target's projector still has to
// delete.
func (c *copyRun) copyUser(to context.Context, item storedItem) error {
	isTombstone := item.Deleted && item.Username == ""
	current, etag, err := readStored(to, c.to.users, item.ID, item.ID)
	switch {
	case cosmos.IsNotFound(err) && isTombstone:
		return nil
	case cosmos.IsNotFound(err):
		_, err = cosmos.Create(to, c.to.users, item.ID, item.with(zeroCounters, userCounters...).properties)
	case err != nil:
		return err
	default:
		user := item.with(current, userCounters...)
		if isTombstone {
			user = user.with(current, "username")
		}
		if user.isStateOf(current) {
			return nil
		}
		_, err = cosmos.Replace(to, c.to.users, item.ID, item.ID, user.asSuccessorOf(current).properties, etag)
	}
	if err == nil {
		c.users.Add(1)
	}
	return err
}
