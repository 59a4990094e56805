// Package export keeps a columnar copy of a blog for analysis: Parquet files of users, posts, tags,
// comments and likes, which follow the change feeds.
package export

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Options configure an export. Folder and Source are required.
type Options struct {
	Folder string // of the files; created if it does not exist
	// Source identifies the database from one run to the next. Another database must have another one.
	Source string
	// Parallel is the maximum number of posts whose likes are read at a time; 8 if 0.
	Parallel int
	// PageSize is the number of changes in a page; 1000 if 0. The service returns fewer if they
	// exceed 4 MB.
	PageSize int
	// BatchRows is the number of rows after which a batch is committed; 500,000 if 0. A batch also
	// ends after 256 MiB of rows, and with the first rows after five minutes.
	BatchRows int64

	// Progress is called once at the beginning and after every page, from one goroutine. While items
	// are read by query, Done counts them, and Total is 0, because nobody knows their number. May be
	// nil.
	Progress func(follow.Progress)
	// StartsAgain is called when the export reads everything again, with the reason, which is a
	// sentence without a capital or full stop. May be nil.
	StartsAgain func(reason string)
	// Malformed is called for each item that cannot be decoded, which has no row, and for each post
	// whose content is missing. May be nil, and may be called concurrently.
	Malformed func(error)

	before func(step string) error // folder.before
}

// Result is what a run wrote.
type Result struct {
	Users, Posts, Tags, Comments, Likes int64 // rows
	// UpTo is the time at which the run began, by the database's clock. The files have all changes up
	// to it, except for those of the last seconds that a replica of an account had not received yet.
	UpTo time.Time
}

const (
	defaultParallel  = 8
	defaultPageSize  = 1000
	defaultBatchRows = 500_000
	maxBatchBytes    = 256 << 20
	maxBatchTime     = 5 * time.Minute
)

// Run writes what has changed since the last run into the folder, or everything in the first run.
// It writes nothing to the database, which may be in use. It waits if an account throttles it.
//
// Each row has a number, Sequence, and the row with the greatest one is the latest state of its
// key. A row stays until the export starts again, so the files also have the states between.
// Deleted users, posts and comments get a row that says so. No change feed shows a deleted like:
// all likes of a post are read again whenever the post changes, and their rows have the number of
// the post's row. Comments and likes of a deleted post get no further rows.
//
// Run may be killed at any time. What was committed stays, and the next run continues there. It
// starts again if a position is older than six days or in the future, if a container was deleted
// and created again, or if the database went back to an earlier state: if the history of the
// positions has ended (changefeed.History), or a position is beyond the end of its feed for a
// minute. A database that has as many changes again before anything has noticed its reset, Run does
// not notice. The files of before stay until the end of that run.
//
// A run without positions reads the feeds from their beginning. If they may not show all items, it
// takes their present positions, reads all items by query, and then follows the feeds from there.
//
// Errors: *InUseError; *FolderError if the folder has other files, or another source's export, or
// if other users own it or can write in it; *LateError; those of the database or of the disk. After
// an error, Result is not complete.
func Run(ctx context.Context, db *cosmos.DB, options Options) (Result, error) {
	options.Parallel = cmp.Or(options.Parallel, defaultParallel)
	options.PageSize = cmp.Or(options.PageSize, defaultPageSize)
	options.BatchRows = cmp.Or(options.BatchRows, defaultBatchRows)
	folder, err := openFolder(options.Folder, options.Source, options.before)
	if err != nil {
		return Result{}, err
	}
	r := &run{
		db:      db,
		feeds:   changefeed.New(db),
		posts:   db.Container(schema.Posts),
		options: options,
		folder:  folder,
		next:    folder.manifest,
	}
	r.follower = r.feeds.Follower(options.PageSize)
	r.batch = newBatch(folder, r.commitFull)
	r.sequence.Store(r.next.Sequence)
	err = r.run(ctx)
	r.batch.close()
	return r.result(), errors.Join(err, folder.close())
}

// containers are the containers whose feeds are read, in this order.
var containers = []string{schema.Users, schema.Posts}

// run is one run of an export.
type run struct {
	db       *cosmos.DB
	feeds    *changefeed.Feeds
	posts    *azcosmos.ContainerClient
	options  Options
	follower follow.Follower
	// session is the context of all reads. No page then shows an earlier state than the pages before,
	// and the reads of a post's likes and content show what the page shows.
	session context.Context
	folder  *folder
	history changefeed.History // as it was read last
	items   int64              // that this run has read by query

	next     manifest // what the next commit writes
	sequence atomic.Int64
	batch    *batch
	began    time.Time // of the batch
}

// lostError reports that the positions are worth nothing: the change feeds no longer show
// everything that has happened since.
type lostError struct {
	reason  string
	isReset bool // the feeds may not show all items, although the history has not ended
}

func (e *lostError) Error() string { return e.reason }

// lost returns the *lostError of an error of follow, and any other error as it is.
func (r *run) lost(err error) error {
	switch age, isOld := errors.AsType[*follow.AgeError](err); {
	case isOld:
		return &lostError{reason: age.Error()}
	case errors.Is(err, follow.ErrContainerReplaced):
		return &lostError{reason: "a container was deleted and created again"}
	case errors.Is(err, follow.ErrWentBack), cosmos.IsLostIn(r.session, err):
		return &lostError{reason: "a container was reset to an earlier state", isReset: true}
	}
	return err
}

func (r *run) run(ctx context.Context) error {
	err := r.lost(r.follow(ctx))
	lost, ok := errors.AsType[*lostError](err)
	if !ok {
		return err
	}
	if r.options.StartsAgain != nil {
		r.options.StartsAgain(lost.reason)
	}
	if err := r.startAgain(lost.isReset); err != nil {
		return err
	}
	err = r.follow(ctx)
	if age, ok := errors.AsType[*follow.AgeError](err); ok && age.IsLate {
		return &LateError{}
	}
	return r.lost(err)
}

// LateError is the error of a run that has started again and has not read everything within six
// days. Another run would fail in the same way.
type LateError struct{}

func (*LateError) Error() string {
	return "the export cannot read everything within six days: run it with a greater --max-ru"
}

// startAgain forgets all positions. The rows that follow have greater numbers than those of before,
// whose files go when all feeds are read. isReset is that of the lostError.
func (r *run) startAgain(isReset bool) error {
	if err := r.commit(); err != nil {
		return err
	}
	next := r.next.startAgain()
	next.ByQuery = next.ByQuery || isReset
	if err := r.folder.writeManifest(next); err != nil {
		return err
	}
	r.next, r.items = next, 0
	return r.folder.clean()
}

// follow reads all change feeds to their ends.
func (r *run) follow(ctx context.Context) error {
	r.session = cosmos.WithSession(ctx)
	if err := r.checkHistory(); err != nil {
		return err
	}
	upTo := r.db.EarliestNow() // an answer has come, so this is the database's time
	r.began = upTo
	if err := r.beginFeeds(upTo); err != nil {
		return err
	}
	if err := r.readItems(); err != nil {
		return err
	}
	if err := r.readFeeds(); err != nil {
		return err
	}
	// If the database went back during the run, the pages since then may lack changes.
	if err := r.checkHistory(); err != nil {
		return err
	}
	r.next = r.next.complete(upTo)
	if err := r.commit(); err != nil {
		return err
	}
	return r.folder.clean()
}

// checkHistory reads the present history. Error: *lostError if the positions belong to another one.
func (r *run) checkHistory() (err error) {
	r.history, err = cosmos.Retried(r.session, r.db, r.feeds.History)
	if err == nil && len(r.next.Positions) > 0 && r.next.History != r.history.Name {
		err = &lostError{reason: "the database went back to an earlier state"}
	}
	return err
}

// beginFeeds sets the positions, if there are none: to the beginnings of all feeds, or to their
// present ends if all items are to be read by query.
func (r *run) beginFeeds(now time.Time) (err error) {
	if len(r.next.Positions) > 0 {
		return nil
	}
	next := r.next
	next.History = r.history.Name
	if next.Positions, err = r.feeds.Beginnings(r.session, containers...); err != nil {
		return err
	}
	if next.ByQuery = next.ByQuery || !r.history.HasWholeFeeds(); next.ByQuery {
		next.Items = &itemsPosition{Container: containers[0]}
	}
	for i := range next.Positions {
		p := &next.Positions[i]
		if p.Since = now; next.ByQuery {
			if p.Continuation, err = r.present(*p); err != nil {
				return err
			}
		}
	}
	r.next = next
	return nil
}

// readFeeds reads all feeds from their positions to their ends.
func (r *run) readFeeds() (err error) {
	if r.options.Progress != nil { // the first report has the whole total
		if r.next.Positions, err = r.follower.Measure(r.session, r.next.Positions); err != nil {
			return err
		}
	}
	r.report()
	for step, err := range r.follower.Follow(r.session, r.next.Positions) {
		if err == nil {
			err = follow.CheckAges(r.next.Positions, r.db.Now())
		}
		if err == nil {
			err = r.writeDates(step.Feed.Container, r.changesOf(step.Feed.Container, step.Items))
		}
		if err != nil {
			return err
		}
		r.next.Positions = step.Positions
		if len(step.Items) == 0 {
			continue
		}
		r.report()
		if err := r.commitFull(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) report() {
	switch {
	case r.options.Progress == nil:
	case r.next.Items != nil:
		r.options.Progress(follow.Progress{Done: r.items})
	default:
		r.options.Progress(follow.ProgressOf(r.next.Positions))
	}
}

// commitFull commits the batch if it is large or old enough. It may do so within a page: the rows
// of the page are then written again if the run is interrupted, with greater numbers.
func (r *run) commitFull() error {
	now := r.db.Now()
	if r.batch.rows < r.options.BatchRows && r.batch.bytes < maxBatchBytes && now.Sub(r.began) < maxBatchTime {
		return nil
	}
	err := r.commit()
	r.began = now
	return err
}

// commit completes the files of the batch, and commits them with the positions. The first batch has
// files of all tables, because some readers fail if a table has none.
func (r *run) commit() error {
	if r.batch.number == max(r.next.FirstBatch, r.next.StartedAgain) {
		if err := r.batch.beginAll(r.db.Now().UTC().Format(time.DateOnly)); err != nil {
			return err
		}
	}
	if err := r.batch.finish(); err != nil {
		return err
	}
	next := r.next
	next.Sequence = r.sequence.Load()
	if len(r.batch.drafts) > 0 {
		next.LastBatch = r.batch.number
	}
	if err := r.folder.commit(r.batch.drafts, next); err != nil {
		return err
	}
	r.next.Sequence, r.next.LastBatch = next.Sequence, next.LastBatch
	r.batch.next(next.LastBatch + 1)
	return nil
}

func (r *run) result() Result {
	b := r.batch
	return Result{
		Users: b.users.rows, Posts: b.posts.rows, Tags: b.tags.rows, Comments: b.comments.rows, Likes: b.likes.rows,
		UpTo: r.folder.manifest.UpTo,
	}
}
