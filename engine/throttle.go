package engine

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cosmosblog/engine/budget"
)

// allowances are what is left of a physical range's throughput.
type allowances struct {
	all     budget.Allowance
	buckets [maxBucket]budget.Allowance // by the bucket's id minus 1
}

// maxBucket is the greatest id of a throughput bucket. The least is 1.
const maxBucket = 5

// throttled answers a request by a handler, or with 429 if its physical ranges have used up their
// throughput or that of its bucket. A container's throughput is divided evenly among its ranges,
// whatever the sizes of these, as the service does it. bucket is 0 if the request is in none.
func (r *request) throttled(handle handler, bucket int) (*response, error) {
	payers := r.payers()
	if len(payers) == 0 {
		return handle(r)
	}
	if other, ok := r.Context().Value(throttledBy{}).(*Engine); ok {
		payers = r.sameRanges(other, payers)
	}
	options, priority := r.engine.options, r.priority()
	share, now := options.Throughput/float64(len(r.container.ranges)), options.Now()
	percent, limited := options.Buckets[bucket]
	if limited {
		wait := longestWait(payers, func(a *allowances) time.Duration {
			return a.buckets[bucket-1].Admit(budget.High, share*percent/100, now)
		})
		if wait > 0 {
			return refusal(wait), errBucketUsedUp
		}
	}
	wait := longestWait(payers, func(a *allowances) time.Duration { return a.all.Admit(priority, share, now) })
	if wait > 0 {
		return refusal(wait), errThrottled
	}
	answer, err := handle(r)
	charge := metadataCharge
	if answer != nil {
		charge = answer.charge
	}
	part := charge / float64(len(payers))
	for _, payer := range payers {
		payer.allowances.all.Pay(priority, part)
		if limited {
			payer.allowances.buckets[bucket-1].Pay(budget.High, part)
		}
	}
	return answer, err
}

// longestWait returns the longest wait of all payers.
func longestWait(payers []*keyRange, admit func(*allowances) time.Duration) (wait time.Duration) {
	for _, payer := range payers {
		wait = max(wait, admit(payer.allowances))
	}
	return wait
}

func refusal(wait time.Duration) *response {
	refused := &response{charge: budget.RefusalCharge}
	return refused.with("X-Ms-Retry-After-Ms", budget.RetryAfter(wait))
}

// priority returns the priority of a request. Like the service's default, that of an unknown level
// is high.
func (r *request) priority() budget.Priority {
	if strings.EqualFold(r.Header.Get("X-Ms-Cosmos-Priority-Level"), "Low") {
		return budget.Low
	}
	return budget.High
}

// bucket returns the id of the request's throughput bucket, or 0 if it names none. Error: 400 for
// any other id.
func (r *request) bucket() (int, error) {
	text := r.Header.Get("X-Ms-Cosmos-Throughput-Bucket")
	if text == "" {
		return 0, nil
	}
	id, err := strconv.Atoi(text)
	if err != nil || id < 1 || id > maxBucket {
		return 0, badRequest("The throughput bucket must be from 1 to %d.", maxBucket)
	}
	return id, nil
}

// unthrottled marks the context of a request that is never throttled.
type unthrottled struct{}

// Unthrottled returns a handler of the engine's requests that does not throttle them.
func (e *Engine) Unthrottled() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), unthrottled{}, true)))
	})
}

// throttledBy marks the context of a request with the engine whose ranges pay for it.
type throttledBy struct{}

// ThrottledBy returns a handler of the engine's requests for which the same ranges of another
// engine pay, as those of one account that has several replicas. The other engine has the same
// definitions.
func (e *Engine) ThrottledBy(other *Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), throttledBy{}, other)))
	})
}

// sameRanges returns the ranges of another engine that have the ids of some ranges of the request's
// container. It returns none if the container is not there any more.
func (r *request) sameRanges(other *Engine, ranges []*keyRange) (same []*keyRange) {
	container, err := other.container(r.names[0], r.names[1])
	if err != nil {
		return nil
	}
	for _, theirs := range container.ranges {
		if slices.ContainsFunc(ranges, func(ours *keyRange) bool { return ours.id == theirs.id }) {
			same = append(same, theirs)
		}
	}
	return same
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

var errBucketUsedUp = errorf(http.StatusTooManyRequests, budget.BucketSubstatus,
	"Request rate of the throughput bucket is large, so no changes were made. Please retry this request later.")
