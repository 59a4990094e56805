package engine

import (
	"context"
	"net/http"
	"time"

	"cosmosblog/internal/engine/budget"
)

// throttled answers a request by a handler, or with 429 if its physical ranges have used up their
// throughput. A container's throughput is divided evenly among its ranges, whatever the sizes of
// these, as the service does it.
func (r *request) throttled(handle handler) (*response, error) {
	payers := r.payers()
	if len(payers) == 0 {
		return handle(r)
	}
	share, now := r.engine.options.Throughput/float64(len(r.container.ranges)), r.engine.options.Now()
	var wait time.Duration
	for _, payer := range payers {
		wait = max(wait, payer.allowance.Admit(share, now))
	}
	if wait > 0 {
		refused := &response{charge: budget.RefusalCharge}
		return refused.with("X-Ms-Retry-After-Ms", budget.RetryAfter(wait)), errThrottled
	}
	answer, err := handle(r)
	charge := metadataCharge
	if answer != nil {
		charge = answer.charge
	}
	for _, payer := range payers {
		payer.allowance.Pay(charge / float64(len(payers)))
	}
	return answer, err
}

// unthrottled marks the context of a request that is never throttled.
type unthrottled struct{}

// Unthrottled returns a handler of the engine's requests that does not throttle them.
func (e *Engine) Unthrottled() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), unthrottled{}, true)))
	})
}

// payers returns the physical ranges that pay for a request: those of its partition key or its
// range, or all of them. It returns none for definitions, and for a request that names its range in
// an invalid way, which the handler rejects.
func (r *request) payers() []*keyRange {
	switch {
	case len(r.kinds) < 3:
		return nil
	case r.kinds[2] == "docs":
	case r.kinds[2] != "sprocs" || len(r.names) < 3 || r.Method != http.MethodPost:
		return nil
	}
	_, ranges, err := r.feedScope()
	if err != nil {
		return nil
	}
	return ranges
}

var errThrottled = errorf(http.StatusTooManyRequests, budget.Substatus,
	"Request rate is large. More Request Units may be needed, so no changes were made. Please retry this request later.")
