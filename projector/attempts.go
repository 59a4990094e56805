package projector

import (
	"context"
	"log/slog"
	"time"

	"cosmosblog/store"
)

// attempts are how often something is tried that one item does not let be done.
//
// What is wrong with one item would be wrong for ever, and hold up everything behind it in its feed range: so it is tried a
// number of times, and then the item is set aside. What is wrong with the account, or the way to it, holds up everything
// anyway, and setting aside what comes along meanwhile would leave nothing right when it is over: so it is tried for as long as it
// takes, with the whole page. store.ConcernsItem tells the one from the other.
type attempts struct {
	store   *store.Store
	longest time.Duration // between two attempts
	sleep   func(ctx context.Context, d time.Duration) error
	logger  *slog.Logger
	counts  *counts
}

// How often something is tried: where the database refuses it, which is its word; and where it may be chance, such as a
// race that was lost, for about a quarter of a minute. attemptDelay is waited after the first time; then twice that, and so
// on.
const (
	refusals     = 5
	mischances   = 10
	attemptDelay = 50 * time.Millisecond
)

// at tries a step of a projection for a change, and sets that aside where the item does not let the step be done. It tells
// whether it was done. Error: what has nothing to do with the item; then the page is not done, and is read again later.
func (a attempts) at(ctx context.Context, projection Projection, change store.Change, step func() error) (done bool, err error) {
	delay := attemptDelay
	for n := 1; ; n++ {
		err := step()
		if err == nil || ctx.Err() != nil || !store.ConcernsItem(err) {
			return err == nil, err
		}
		if n >= attemptsFor(err) {
			return false, a.setAside(ctx, projection.Name(), change, n, err)
		}
		a.counts.of(change.Container, projection.Name()).retries.Add(1)
		if err := a.sleep(ctx, min(delay, a.longest)); err != nil {
			return false, err
		}
		delay *= 2
	}
}

func attemptsFor(err error) int {
	if store.Refused(err) {
		return refusals
	}
	return mischances
}

func (a attempts) setAside(ctx context.Context, projection string, change store.Change, n int, reason error) error {
	err := a.store.SetAside(ctx, deadLetter(projection, change, n, reason))
	if err == nil {
		a.counts.of(change.Container, projection).setAside.Add(1)
		a.logger.Error("a change could not be projected and was set aside", "projection", projection,
			"container", change.Container, "partitionKey", change.PartitionKey, "id", change.ID, "attempts", n, "error", reason)
	}
	return err
}

func deadLetter(projection string, change store.Change, attempts int, reason error) store.DeadLetter {
	return store.DeadLetter{
		Projection:   projection,
		Container:    change.Container,
		PartitionKey: change.PartitionKey,
		ItemID:       change.ID,
		Reason:       reason.Error(),
		Attempts:     attempts,
	}
}
