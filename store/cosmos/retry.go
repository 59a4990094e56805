package cosmos

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// What fails with an unknown outcome is tried again at most this often, and the delays between two tries double from the
// first to the last: enough for a service that is moved to other machines.
const (
	persistTries      = 10
	firstPersistDelay = 100 * time.Millisecond
	lastPersistDelay  = 10 * time.Second
)

// Persist takes a step until it is done or refused for good. The step must be safe to take again after it was done.
func (db *DB) Persist(ctx context.Context, step func() error) error {
	delay := firstPersistDelay
	for failures := 0; ; {
		err := step()
		switch {
		case err == nil:
			return nil
		case blog.CodeOf(err) == blog.Throttled:
			wait := RetryAfter(err)
			if db.backoff.Sleep(ctx, wait+rand.N(wait)) != nil { // those who met part
				return err
			}
		case OutcomeUnknown(ctx, err):
			if failures++; failures == persistTries || db.backoff.Sleep(ctx, delay) != nil {
				return err
			}
			delay = min(2*delay, lastPersistDelay)
		default:
			return err
		}
	}
}

// MaxConflictRetries is how often a guarded write is begun anew because somebody else wrote the same item meanwhile. Each round
// that is lost was won by another state of the item, so that few are enough.
const MaxConflictRetries = 5

// RetryOnConflict takes a step that reads an item and then writes it, again while somebody else was faster.
func RetryOnConflict(step func() error) error {
	var err error
	for range MaxConflictRetries {
		if err = step(); !IsRaceLost(err) {
			break
		}
	}
	return err
}

// IsRaceLost tells whether a guarded write failed because the item is no longer as it was read.
func IsRaceLost(err error) bool { return IsNotFound(err) || IsConflict(err) }

// QueryAcross runs a query over all partitions of a container and gives all that it finds, in no order. From Go the
// service serves filters and projections alone in that way: no ORDER BY, TOP, DISTINCT or aggregate.
func QueryAcross[T any](ctx context.Context, c *azcosmos.ContainerClient, text string, parameters ...azcosmos.QueryParameter) ([]T, error) {
	var results []T
	pager := c.NewQueryItemsPager(text, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{QueryParameters: parameters})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, ToBlogError(err)
		}
		if results, err = DecodeItems(results, page.Items); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// maxTries is how often one thing is tried in all, and the delays between two tries double from the first to the last.
const (
	maxTries   = 5
	firstDelay = 10 * time.Millisecond
	lastDelay  = 100 * time.Millisecond
)

// Backoff decides whether something is tried again, and waits before it is.
type Backoff struct {
	Sleep func(ctx context.Context, d time.Duration) error
}

// Wait waits after the n-th failed try, counted from 1. It says no where that was the last one or the caller gave up.
func (p Backoff) Wait(ctx context.Context, try int) bool {
	if try >= maxTries {
		return false
	}
	delay := min(firstDelay<<(try-1), lastDelay)
	delay = delay/2 + rand.N(delay) // from half of it to one and a half: those who met part
	return p.Sleep(ctx, delay) == nil
}

// retryConflicts sends a request again whose transaction met another one. Nothing of it was committed, so that is safe,
// and neither azcosmos nor azcore does it. What is still in conflict after the last try is given to the caller.
type retryConflicts struct{ Backoff }

func (p retryConflicts) Do(request *policy.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		response, err := request.Next()
		if err != nil || !metAnother(response) || !p.Wait(request.Raw().Context(), try) {
			return response, err
		}
		runtime.Drain(response)
		if err := request.RewindBody(); err != nil {
			return nil, err
		}
	}
}

// metAnother tells whether the answer is that the transaction met another one: the service's own status, or one of our
// scripts that ended with the number of the operation that noticed it.
func metAnother(response *http.Response) bool {
	switch response.StatusCode {
	case StatusRetryWith:
		return true
	case http.StatusBadRequest:
		switch substatusOf(response) {
		case http.StatusConflict, http.StatusPreconditionFailed, StatusRetryWith:
			return true
		}
	}
	return false
}
