package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/projector"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
)

const (
	// catchUpInterval is the interval at which catchUp polls the remaining work. A projector writes
	// its last checkpoint when it finds no more changes, after about a second. Its heartbeats are
	// catchUpRenew apart, or less if leases expire soon.
	catchUpInterval = 200 * time.Millisecond
	catchUpRenew    = time.Second

	catchUpPage = 1000 // changes; most are of comments and likes, which need no projection
)

// projectAll runs a projector until the views contain everything that exists when it starts. It
// prints the remaining work every few seconds. Other projectors may share the work. It does not
// wait for later writes.
func projectAll(ctx context.Context, task Task, database *datafolder.Database) error {
	p, err := projector.New(catchUpOptions(database, task))
	if err != nil {
		return err
	}
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		r.Go("projector", p.Run)
		return newCatchUp(database.DB, task.Stderr).all(r.Context())
	})
}

// catchUpOptions returns the options of a projector with short periods. SettleTime keeps its
// default, because other processes may use the data folder through its owner, and may have read a
// username before its rename.
func catchUpOptions(database *datafolder.Database, task Task) projector.Options {
	options := projectorOptions(database, task)
	options.Temporary = true
	options.Renew = catchUpRenew
	if options.Expire > 0 {
		options.Renew = min(options.Renew, options.Expire/3)
	}
	options.PageSize = catchUpPage
	return options
}

// catchUp waits for the projectors of a database, in any process.
type catchUp struct {
	changes *changefeed.Feeds
	pending *chores.Chores
	to      io.Writer // for a line every lineInterval
}

func newCatchUp(db *cosmos.DB, to io.Writer) *catchUp {
	return &catchUp{changefeed.New(db), chores.New(db), to}
}

// all waits until the current changes are projected. It then waits for the sweeps, deletions and
// purges recorded by then, and last for the projection of the changes that these wrote.
func (c *catchUp) all(ctx context.Context) error {
	if err := c.feeds(ctx); err != nil {
		return err
	}
	recorded, err := c.recorded(ctx)
	if err != nil || len(recorded) == 0 {
		return err
	}
	if err := c.chores(ctx, recorded); err != nil {
		return err
	}
	return c.feeds(ctx)
}

// until calls left every catchUpInterval until it returns 0. unit names what it counts. done
// returns more to print.
func (c *catchUp) until(ctx context.Context, unit string, left func() (int, error), done func() string) error {
	for printed := time.Now(); ; {
		n, err := left()
		if n == 0 || err != nil {
			return err
		}
		if now := time.Now(); now.Sub(printed) >= lineInterval {
			printed = now
			fmt.Fprintf(c.to, "building the views: %d %s left%s\n", n, unit, done())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(catchUpInterval):
		}
	}
}

// feeds waits until every checkpoint has passed the current end of its feed.
func (c *catchUp) feeds(ctx context.Context) error {
	ends, err := c.changes.ReadEnds(ctx)
	if err != nil {
		return err
	}
	left := func() (int, error) { return c.changes.CountBehind(ctx, ends) }
	return c.until(ctx, "change feeds", left, func() string {
		leases, err := c.changes.Leases(ctx)
		if done := changefeed.ProjectedOf(leases, ends); err == nil && done.Total > 0 {
			return fmt.Sprintf(", %d %% read", 100*done.Done/done.Total)
		}
		return ""
	})
}

// chore is a recorded sweep, deletion or purge. It ends when it is done or a later one replaces it.
type chore struct {
	kind     string
	id       string // of the user or post
	revision int64
}

// stalledPolls is the number of polls without progress after which chores checks for dead
// letters. A deletion may be blocked by a dead letter until that is retried. The time is three
// times the interval between two passes of a deletion.
const stalledPolls = int(45 * time.Second / catchUpInterval)

// chores waits until the recorded chores are done. It stops waiting if they make no progress and
// there are dead letters.
func (c *catchUp) chores(ctx context.Context, recorded map[chore]bool) error {
	before, polls := 0, 0
	return c.until(ctx, "renames and deletions", func() (n int, err error) {
		now, err := c.recorded(ctx)
		for chore := range now {
			if recorded[chore] {
				n++
			}
		}
		if polls++; n != before {
			before, polls = n, 0
		}
		if n == 0 || err != nil || polls < stalledPolls {
			return n, err
		}
		polls = 0
		letters, err := c.changes.CountDeadLetters(ctx)
		if letters == 0 || err != nil {
			return n, err
		}
		fmt.Fprintf(c.to, "not waiting for %d renames and deletions any longer, "+
			"because there are dead letters: run deadletters to list them\n", n)
		return 0, nil
	}, func() string { return "" })
}

// recorded returns the recorded chores that are not done.
func (c *catchUp) recorded(ctx context.Context) (map[chore]bool, error) {
	sweeps, err := c.pending.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	deletions, err := c.pending.Deletions(ctx)
	if err != nil {
		return nil, err
	}
	purges, err := c.pending.Purges(ctx, math.MaxInt)
	recorded := map[chore]bool{}
	for _, sweep := range sweeps {
		recorded[chore{"sweep", sweep.UserID, sweep.AuthorRevision}] = true
	}
	for _, deletion := range deletions {
		recorded[chore{"deletion", deletion.UserID, deletion.Revision}] = true
	}
	for _, purge := range purges {
		recorded[chore{kind: "purge", id: purge.PostID}] = true
	}
	return recorded, err
}
