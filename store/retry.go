package store

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// maxTries is how often one thing is tried in all, and the delays between two tries double from the first to the last.
const (
	maxTries   = 5
	firstDelay = 10 * time.Millisecond
	lastDelay  = 100 * time.Millisecond
)

// patience decides whether something is tried again, and waits before it is.
type patience struct {
	sleep func(ctx context.Context, d time.Duration) error
}

// after waits after the n-th failed try, counted from 1. It says no where that was the last one or the caller gave up.
func (p patience) after(ctx context.Context, try int) bool {
	if try >= maxTries {
		return false
	}
	delay := min(firstDelay<<(try-1), lastDelay)
	delay = delay/2 + rand.N(delay) // from half of it to one and a half: those who met part
	return p.sleep(ctx, delay) == nil
}

// retryConflicts sends a request again whose transaction met another one. Nothing of it was committed, so that is safe,
// and neither azcosmos nor azcore does it. What is still in conflict after the last try is given to the caller.
type retryConflicts struct{ patience }

func (p retryConflicts) Do(request *policy.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		response, err := request.Next()
		if err != nil || !metAnother(response) || !p.after(request.Raw().Context(), try) {
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
	case statusRetryWith:
		return true
	case http.StatusBadRequest:
		switch substatusOf(response) {
		case http.StatusConflict, http.StatusPreconditionFailed, statusRetryWith:
			return true
		}
	}
	return false
}
