package projector

import (
	"context"
	"log/slog"
	"time"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
)

// retrier retries steps that fail because of one item, and sets the item aside after the last
// attempt.
//
// Steps for a faulty item fail every time, and would block all later changes of the feed range.
// Therefore a step gets a limited number of attempts, and then its change becomes a dead letter. If
// the account is unavailable, all steps fail. Dead letters would not help then, and the worker
// retries the whole page until the account is available. cosmos.IsItemError distinguishes the two.
type retrier struct {
	feeds    *changefeed.Feeds
	maxDelay time.Duration // between two attempts
	sleep    func(ctx context.Context, d time.Duration) error
	logger   *slog.Logger
	counts   *counts
}

func (p *Projector) newRetrier() retrier {
	return retrier{
		feeds:    p.feeds,
		maxDelay: p.options.Expire / 4, // a step that sends nothing for Expire is canceled
		sleep:    p.options.Sleep,
		logger:   p.options.Logger,
		counts:   p.counts,
	}
}

// These constants limit the attempts of a step that fails because of an item. Rejections by the
// database are rarely transient. Other errors may be, such as a lost race: ten attempts take about
// 16 s with the default Options.Expire.
const (
	attemptsIfRefused = 5
	attemptsOtherwise = 10
	firstRetryDelay   = 50 * time.Millisecond
)

// do runs a step of a projection for a change, and reports whether it succeeded. If the step
// fails on every attempt because of an item, do sets the change aside. It returns an error if
// the failure does not concern an item: then the page must be read and projected again.
func (r retrier) do(
	ctx context.Context, projection string, change changefeed.Change, step func() error,
) (done bool, err error) {
	attempts, err := r.attempt(ctx, projection, change.Container, step)
	if !concernsItem(ctx, err) {
		return err == nil, err
	}
	return false, r.setAside(ctx, projection, change, attempts, err)
}

// attempt runs a step until it succeeds, fails for a reason other than an item, or has failed on
// every attempt. It returns the number of attempts and the error of the last one.
func (r retrier) attempt(
	ctx context.Context, projection, container string, step func() error,
) (attempts int, err error) {
	delays := doublingDelay{firstRetryDelay, r.maxDelay}
	for attempts = 1; ; attempts++ {
		err := step()
		if !concernsItem(ctx, err) || attempts >= maxAttempts(err) {
			return attempts, err
		}
		r.counts.of(container, projection).retries.Add(1)
		if err := r.sleep(ctx, delays.delay()); err != nil {
			return attempts, err
		}
	}
}

// concernsItem reports whether an error concerns only the items of a step. It is false if ctx is
// done.
func concernsItem(ctx context.Context, err error) bool {
	return ctx.Err() == nil && cosmos.IsItemError(err)
}

func maxAttempts(err error) int {
	switch {
	case cosmos.IsExhausted(err):
		return 1
	case cosmos.IsPermanent(err):
		return attemptsIfRefused
	}
	return attemptsOtherwise
}

func (r retrier) setAside(
	ctx context.Context, projection string, change changefeed.Change, n int, reason error,
) error {
	err := r.feeds.WriteDeadLetter(ctx, deadLetter(projection, change, n, reason))
	if err == nil {
		r.counts.of(change.Container, projection).setAside.Add(1)
		r.logger.Error("change set aside: projection failed", "projection", projection,
			"container", change.Container, "partitionKey", change.PartitionKey, "id", change.ID,
			"attempts", n, "error", reason)
	}
	return err
}
