package cosmos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/blog"
)

// TimedOut returns the INTERNAL error of a request that has no known outcome, with its cause.
func TimedOut(cause error) error {
	return &blog.Error{Code: blog.Internal, Message: "The request was cancelled or timed out.", Err: cause}
}

// ToBlogError wraps an error of azcosmos, azcore or a transport in a *blog.Error. It returns a
// *blog.Error unchanged, and nil for nil. A THROTTLED or UNAVAILABLE error has the wait that the
// service requested, or DefaultRetryAfter.
func ToBlogError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*blog.Error](err); ok {
		return err
	}
	if IsExhausted(err) {
		return &blog.Error{Code: blog.Internal, Message: failed, Err: err}
	}
	if isUnanswered(err) {
		return &blog.Error{Code: blog.Unavailable, Message: unavailable, RetryAfter: DefaultRetryAfter, Err: err}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return TimedOut(err)
	}
	if IsScriptBlocked(err) {
		err = fmt.Errorf("run provision --scripts recreate: a script is blocked, because some of its executions took too long: %w", err)
	}
	status, substatus := StatusOf(err)
	for _, m := range meanings {
		if m.status != status || m.substatus != 0 && m.substatus != substatus {
			continue
		}
		e := &blog.Error{Code: m.code, Message: m.message, Err: err}
		if m.code == blog.Throttled || m.code == blog.Unavailable {
			e.RetryAfter = RetryAfter(err)
		}
		return e
	}
	return &blog.Error{Code: blog.Internal, Message: failed, Err: err}
}

// meanings maps the answers of Cosmos DB to our error codes. The first matching row counts. Any
// other answer is INTERNAL.
var meanings = []struct {
	status, substatus int // substatus 0 matches any substatus
	code              blog.Code
	message           string
}{
	{http.StatusNotFound, ReadSessionNotAvailable, blog.Throttled, "The database has not caught up with a recent write yet. Try again."},
	{http.StatusNotFound, OwnerNotFound, blog.Internal, "A container of the database is missing."},
	{http.StatusNotFound, 0, blog.NotFound, "The item does not exist."},
	{http.StatusConflict, 0, blog.Conflict, "The item already exists."},
	{http.StatusPreconditionFailed, 0, blog.Conflict, "Another request changed the item at the same time. Try again."},
	{http.StatusTooManyRequests, 0, blog.Throttled, "The database has reached its request limit. Try again later."},
	{http.StatusServiceUnavailable, 0, blog.Unavailable, unavailable},
	{http.StatusForbidden, writeForbidden, blog.Unavailable, unavailable},
	{http.StatusForbidden, accountNotFound, blog.Unavailable, unavailable},
	{StatusRetryWith, 0, blog.Throttled, tooManyUpdates},
	// A script of ours ended with the status of one of its operations, and nothing was committed. The
	// operation conflicted with another transaction, or the script had used up its time.
	{http.StatusBadRequest, http.StatusConflict, blog.Throttled, tooManyUpdates},
	{http.StatusBadRequest, http.StatusPreconditionFailed, blog.Throttled, tooManyUpdates},
	{http.StatusBadRequest, StatusRetryWith, blog.Throttled, tooManyUpdates},
	{http.StatusBadRequest, http.StatusTooManyRequests, blog.Throttled, "The database could not finish the request in time. Try again later."},
}

const (
	failed         = "The database request failed."
	tooManyUpdates = "Too many concurrent updates. Try again."
	unavailable    = "The database is temporarily unavailable. Try again later."
)

// DefaultRetryAfter is the wait before a throttled request is sent again, if the service does not
// request a wait.
const DefaultRetryAfter = time.Second

// RetryAfter returns the wait that the service requested with an error, or DefaultRetryAfter.
func RetryAfter(err error) time.Duration {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || answer.RawResponse == nil {
		return DefaultRetryAfter
	}
	return requestedWait(answer.RawResponse)
}

// requestedWait returns the wait that an answer requests, or DefaultRetryAfter.
func requestedWait(response *http.Response) time.Duration {
	ms, err := strconv.Atoi(response.Header.Get(retryAfterHeader))
	if err != nil || ms <= 0 {
		return DefaultRetryAfter
	}
	return time.Duration(ms) * time.Millisecond
}

// IsThrottled reports whether err is THROTTLED, or UNAVAILABLE by an answer of the service. The
// same request may succeed later.
func IsThrottled(err error) bool {
	switch status, _ := StatusOf(err); {
	case err == nil:
		return false
	case blog.CodeOf(err) == blog.Unavailable:
		return status != 0
	}
	return blog.CodeOf(err) == blog.Throttled
}

// IsRaceLost reports whether a conditional write failed because the item changed after it was
// read.
func IsRaceLost(err error) bool { return IsNotFound(err) || IsConflict(err) }

// IsNotFound reports whether err is NOT_FOUND.
func IsNotFound(err error) bool { return err != nil && blog.CodeOf(err) == blog.NotFound }

// IsConflict reports whether err is CONFLICT.
func IsConflict(err error) bool { return err != nil && blog.CodeOf(err) == blog.Conflict }
