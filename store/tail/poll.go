package tail

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"cosmosblog/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// Run follows the change feeds until ctx is done. It never ends with an error: after a failure, it
// begins again, and nothing kept is used meanwhile.
func (t *Tail) Run(ctx context.Context) error {
	ctx = cosmos.WithMeter(ctx, &t.meter)
	var all sync.WaitGroup
	for _, c := range t.containers {
		all.Go(func() { t.follow(ctx, c) })
	}
	all.Wait()
	return nil
}

// follow follows one container: from the present on, while it is read.
func (t *Tail) follow(ctx context.Context, c *container) {
	for ctx.Err() == nil {
		select { // a signal from before the check below
		case <-c.wake:
		default:
		}
		if t.rests(c) {
			select {
			case <-c.wake:
			case <-ctx.Done():
				return
			}
		}
		err := t.followWhileRead(ctx, c)
		c.known.Store(0)
		c.forget()
		if err == nil || ctx.Err() != nil {
			continue
		}
		t.report(c, err)
		if !errors.Is(err, follow.ErrContainerReplaced) {
			cosmos.Sleep(ctx, beginAnewAfter)
		}
	}
}

// report logs that following a container begins to fail, or works again. err is nil if it works.
func (t *Tail) report(c *container, err error) {
	switch failed := err != nil; {
	case failed == c.failed:
	case failed:
		t.logger.Warn("following a change feed failed; its reads are not cached; will retry", "container", c.name, "error", err)
	default:
		t.logger.Info("a change feed is followed again; its reads are cached", "container", c.name)
	}
	c.failed = err != nil
}

const (
	// pollTimeout is the time limit of a poll.
	pollTimeout = 10 * time.Second

	// beginAnewAfter is the pause before a container is followed from the present on, after that
	// failed.
	beginAnewAfter = 5 * time.Second

	// giveUpAfter is the time without a successful poll after which its position is given up. The
	// changes since then may be many.
	giveUpAfter = time.Minute
)

// rests reports whether a container is not watched, and was not read for restAfter.
func (t *Tail) rests(c *container) bool {
	return !t.watchers.watch(c.name) && t.elapsed(time.Now())-c.used.Load() > int64(restAfter)
}

func (t *Tail) period() time.Duration { return t.staleness / pollsPerStaleness }

// followWhileRead polls a container until it is no longer read. Changes from before its first
// successful poll are not counted, so all counts move on then. A poll that fails is repeated.
func (t *Tail) followWhileRead(ctx context.Context, c *container) error {
	opened := time.Now()
	feeds, err := t.open(ctx, c)
	if err != nil {
		return err
	}
	written, stop := t.watchWrites(c)
	defer stop()
	renewed := opened
	isFirst := true  // no poll was successful
	unreachable := 0 // polls in a row whose session token no replica has reached
	for last := opened; !t.rests(c); {
		begun := time.Now()
		if begun.Sub(renewed) > maxAge {
			t.moveOn(c)
			renewed = begun
		}
		err := t.poll(ctx, c, feeds)
		feeds = t.merged(ctx, c, divided(feeds))
		if unreachable++; !isUnreachable(err) {
			unreachable = 0
		}
		switch {
		case err == nil:
			if isFirst {
				t.moveOn(c)
				isFirst = false
			}
			last = begun
			t.know(c, begun)
			t.report(c, nil)
		case ctx.Err() != nil, time.Now().Sub(last) > giveUpAfter, unreachable == maxUnreachable:
			return err
		case !cosmos.IsThrottled(err) || isUnreachable(err):
			if t.isReplaced(ctx, c) {
				return follow.ErrContainerReplaced
			}
		}
		pause := max(t.period()-time.Now().Sub(begun), t.period()/4, min(blog.RetryAfterOf(err), pollTimeout))
		if t.pause(ctx, written, pause) != nil {
			return nil
		}
	}
	return nil
}

// watchWrites returns a channel that receives after writes to a container, or nil if nobody tells.
func (t *Tail) watchWrites(c *container) (written <-chan struct{}, stop func()) {
	if t.wake == nil {
		return nil, func() {}
	}
	return t.wake(c.name)
}

// gatherWrites is the time for which a poll waits after a write, so that it reads several.
const gatherWrites = 5 * time.Millisecond

// pause waits for a time, or until there were writes. Error: ctx's.
func (t *Tail) pause(ctx context.Context, written <-chan struct{}, d time.Duration) error {
	if written == nil {
		return cosmos.Sleep(ctx, d)
	}
	if err := cosmos.Sleep(ctx, min(d, gatherWrites)); err != nil {
		return err
	}
	sleeping, wakeUp := context.WithCancel(ctx)
	defer wakeUp()
	slept := make(chan struct{})
	go func() {
		defer close(slept)
		cosmos.Sleep(sleeping, d-gatherWrites)
	}()
	select {
	case <-written:
		wakeUp()
		<-slept
	case <-slept:
	}
	return ctx.Err()
}

// maxUnreachable is the number of polls in a row after which positions and session tokens are
// forgotten. The account has lost the states that they name, and reads with them would fail for
// ever.
const maxUnreachable = 3

// isUnreachable reports whether no replica has reached the session token of a poll, or the one that
// answered has not reached its position.
func isUnreachable(err error) bool {
	if errors.Is(err, errBeyondEnd) {
		return true
	}
	status, substatus := cosmos.StatusOf(err)
	return status == http.StatusNotFound && substatus == cosmos.ReadSessionNotAvailable
}

// divided returns the feeds with one for each part of a range that was split.
func divided(feeds []*follow.Position) (all []*follow.Position) {
	for _, f := range feeds {
		parts, err := f.Parts()
		if err != nil {
			return feeds // as they are; they can be read, too
		}
		for i := range parts {
			all = append(all, &parts[i])
		}
	}
	return all
}

// merged returns the feeds with one for each range that the ranges of several were merged into.
// Otherwise, each of them would read all changes of that range. It sends requests once a minute, if
// there are several feeds.
func (t *Tail) merged(ctx context.Context, c *container, feeds []*follow.Position) []*follow.Position {
	if len(feeds) < 2 {
		return feeds
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	layout, err := t.feeds.Layout(ctx, c.name)
	if err != nil || len(layout.Ranges) >= len(feeds) {
		return feeds
	}
	whole := make([]*follow.Position, 0, len(layout.Ranges))
	for _, r := range layout.Ranges {
		var parts []*follow.Position
		var continuations []string
		for _, f := range feeds {
			if f.FeedRange.Overlaps(r) {
				if f.FeedRange.Intersection(r) != f.FeedRange {
					return feeds // split meanwhile: the next poll divides it
				}
				parts, continuations = append(parts, f), append(continuations, f.Continuation)
			}
		}
		if len(parts) == 1 {
			whole = append(whole, parts[0])
			continue
		}
		continuation, ok, err := follow.MergeContinuations(continuations, r)
		if err != nil || !ok || continuation == "" {
			return feeds // as they are; they can be read, too
		}
		whole = append(whole, &follow.Position{Feed: follow.Feed{Container: c.name, FeedRange: r}, Continuation: continuation})
	}
	return whole
}

// open returns the feeds of a container at the present.
func (t *Tail) open(ctx context.Context, c *container) ([]*follow.Position, error) {
	resourceID, err := t.feeds.ResourceID(ctx, c.name)
	if err != nil {
		return nil, err
	}
	c.resourceID = resourceID
	ranges, err := t.feeds.FeedRanges(ctx, c.name)
	if err != nil {
		return nil, err
	}
	feeds := make([]*follow.Position, len(ranges))
	for i, r := range ranges {
		feeds[i] = &follow.Position{
			Feed: follow.Feed{Container: c.name, FeedRange: r}, Continuation: follow.ContinuationFromNow(resourceID, r),
		}
	}
	return feeds, nil
}

// forget forgets the session tokens, which may name states that no replica ever reaches. What was
// kept is not used again: the counts move on after the first poll.
func (c *container) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.passed = cosmos.SessionToken{}, cosmos.Reached{}
}

// isReplaced reports whether the container was deleted and created again since it was opened. Polls
// then fail, because the account has not reached their positions.
func (t *Tail) isReplaced(ctx context.Context, c *container) bool {
	resourceID, err := t.feeds.ResourceID(ctx, c.name)
	return err == nil && resourceID != c.resourceID
}

// poll reads all feeds of a container to their ends, side by side. The positions of their ends are
// passed only then. Each feed was read in the state of what this process wrote before.
func (t *Tail) poll(ctx context.Context, c *container, feeds []*follow.Position) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	var all sync.WaitGroup
	written := c.token()
	errs, ends := make([]error, len(feeds)), make([]string, len(feeds))
	for i, f := range feeds {
		all.Go(func() { ends[i], errs[i] = t.drain(ctx, c, f, written) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var passed cosmos.Reached
	for _, end := range ends {
		passed.Add(end)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed = passed
	c.forgetFormer()
	return nil
}

// forgetFormer forgets the states of ranges that are gone after a split, as soon as all present
// ones have passed them. c.mu must be held.
func (c *container) forgetFormer() {
	for id, at := range c.seen {
		if !c.passed.Names(id) && c.passed.Covers(id+":"+at) {
			delete(c.seen, id)
		}
	}
}

// pageSize is the number of changes in a page. A page of one item of 2 MB is a page, too.
const pageSize = 100

// drain reads a feed to its end, counts its changes, and returns the position of its end, or an
// empty one of a range that was split. The session begins with a token of what this process wrote,
// so a replica that lacks a write of ours does not answer.
func (t *Tail) drain(ctx context.Context, c *container, f *follow.Position, written string) (end string, err error) {
	session := cosmos.WithSession(ctx)
	cosmos.JoinSession(session, c.name, written)
	for {
		page, err := t.feeds.ReadPage(session, c.name, f.FeedRange, f.Continuation, pageSize)
		if err != nil {
			return "", err
		}
		if follow.IsFromNow(page.Continuation) {
			return "", errNoPosition
		}
		if page.IsBeyondEnd() {
			return "", errBeyondEnd
		}
		t.countPage(c, page.Items, cosmos.SessionTokenOf(session, c.name))
		f.Continuation = page.Continuation
		if len(page.Items) == 0 {
			return changefeed.PositionOf(page), nil
		}
	}
}

// countPage counts the changes of a page. An item without a readable partition key changes all
// counts of its container.
func (t *Tail) countPage(c *container, items [][]byte, token string) {
	partitions := make([]string, 0, len(items))
	unknown := false
	for _, item := range items {
		partition, err := schema.PartitionKeyOf(c.name, item)
		unknown = unknown || err != nil
		partitions = append(partitions, partition)
	}
	t.count(c, partitions, token)
	if unknown {
		c.epoch.Add(1)
	}
}

// errBeyondEnd is the error of a poll whose position is beyond the end of its feed. No change would
// be found until the feed has passed it.
var errBeyondEnd = errors.New("tail: the position is beyond the end of the change feed")

var errNoPosition = errors.New("tail: the account does not report the position of the present")
