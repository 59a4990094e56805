package cosmos

import (
	"context"
	"encoding/json"
	"net/http"
)

// Execute executes a stored procedure in one partition with one argument, and decodes its answer
// into result. repeated is true if it was executed more than once.
//
// If the outcome of an execution is unknown, or there is no connection, Execute executes the
// procedure again, at most five times in all, but after 408 only once more (IsExhausted). All of
// our procedures are idempotent, so that is safe. If repeated is true and the answer reports a
// change as already made, an earlier try of this call may have made it. Execute may be called
// concurrently. Errors: those of ToBlogError; NOT_FOUND if the procedure is not registered.
func (db *DB) Execute(ctx context.Context, s Script, partition string, argument, result any) (repeated bool, err error) {
	return db.rest.execute(ctx, s, partition, argument, result)
}

func (c *restClient) execute(ctx context.Context, s Script, partition string, argument, result any) (repeated bool, err error) {
	body, err := json.Marshal([]any{argument})
	if err != nil {
		return false, ToBlogError(err)
	}
	key := func() purposeHash { return hashPurpose(s.ID, partition, string(body)) }
	var unknown error // of the last execution that may have been committed
	for try := 1; ; try++ {
		err = c.timeouts.execute(ctx, key, func(ctx context.Context) error {
			return c.executeOnce(ctx, s, partition, body, result, tryCount(try-1))
		})
		switch {
		case OutcomeUnknown(ctx, err):
			unknown = err
		case isNotSent(err):
		case unknown != nil && IsThrottled(ToBlogError(err)): // this one was not executed
			return true, ToBlogError(unknown)
		default:
			return try > 1, ToBlogError(err)
		}
		if !c.backoff.wait(ctx, try) {
			return try > 1, ToBlogError(err)
		}
	}
}

func (c *restClient) executeOnce(ctx context.Context, s Script, partition string, body []byte, result any, before tryCount) error {
	request, err := c.newRequest(ctx, http.MethodPost, s, s.ID)
	if err != nil {
		return err
	}
	key, err := json.Marshal([]string{partition})
	if err != nil {
		return err
	}
	request.Raw().Header.Set(PartitionKeyHeader, string(key))
	request.SetOperationValue(before)
	return c.send(request, body, http.StatusOK, result)
}
