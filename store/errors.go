package store

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/internal/blog"
)

// The headers of an answer that errors are read from. All header names are written as net/http keeps them, because it
// makes a new text of any other.
const (
	substatusHeader  = "X-Ms-Substatus"
	retryAfterHeader = "X-Ms-Retry-After-Ms"
)

// statusRetryWith is the service's own status for a transaction that met another one: nothing of it was committed.
const statusRetryWith = 449

// Substatuses that change what a status means (HTTP status codes page of Azure Cosmos DB).
const (
	readSessionNotAvailable = 1002 // with 404: the replica has not yet seen what the session token names
	ownerNotFound           = 1003 // with 404: it is the container that is missing
)

// meanings is the one table from what Cosmos DB answers to our codes. What is not in it is INTERNAL.
var meanings = []struct {
	status, substatus int // substatus 0: any other
	code              blog.Code
	message           string
}{
	{http.StatusNotFound, readSessionNotAvailable, blog.Throttled, "The database is catching up. Please try again."},
	{http.StatusNotFound, ownerNotFound, blog.Internal, "A container is missing."},
	{http.StatusNotFound, 0, blog.NotFound, "There is no such item."},
	{http.StatusConflict, 0, blog.Conflict, "The item is there already."},
	{http.StatusPreconditionFailed, 0, blog.Conflict, "Somebody else changed the item meanwhile. Please try again."},
	{http.StatusTooManyRequests, 0, blog.Throttled, "The database allows no more requests for now. Please try again."},
	{http.StatusServiceUnavailable, 0, blog.Throttled, "The database is not available for now. Please try again."},
	{statusRetryWith, 0, blog.Throttled, tooMany},
	// A script of ours ended with the number of an operation that met another transaction, or of one that was refused
	// because the time was used up. Nothing of it was committed.
	{http.StatusBadRequest, http.StatusConflict, blog.Throttled, tooMany},
	{http.StatusBadRequest, http.StatusPreconditionFailed, blog.Throttled, tooMany},
	{http.StatusBadRequest, statusRetryWith, blog.Throttled, tooMany},
	{http.StatusBadRequest, http.StatusTooManyRequests, blog.Throttled, "The database is too slow right now. Please try again."},
}

const tooMany = "Too many are changing the same thing right now. Please try again."

// isOutOfTime tells whether a script of ours had more to do than it could in its time, or than there was throughput for.
func isOutOfTime(err error) bool {
	status, substatus := statusOf(err)
	return status == http.StatusBadRequest && substatus == http.StatusTooManyRequests
}

// defaultRetryAfter is what a throttled client is told where the account does not say it.
const defaultRetryAfter = time.Second

// asBlogError gives an error of azcosmos, azcore or a transport as one of ours, with the cause kept.
func asBlogError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*blog.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &blog.Error{Code: blog.Internal, Message: "The request was given up.", Err: err}
	}
	status, substatus := statusOf(err)
	for _, m := range meanings {
		if m.status != status || m.substatus != 0 && m.substatus != substatus {
			continue
		}
		e := &blog.Error{Code: m.code, Message: m.message, Err: err}
		if m.code == blog.Throttled {
			e.RetryAfter = retryAfter(err)
		}
		return e
	}
	return &blog.Error{Code: blog.Internal, Message: "The database failed.", Err: err}
}

// because gives err with another message where it has the code.
func because(err error, code blog.Code, message string) error {
	e, ok := errors.AsType[*blog.Error](err)
	if !ok || e.Code != code {
		return err
	}
	return &blog.Error{Code: code, Message: message, Err: e.Err}
}

// statusOf gives the HTTP status and the substatus of an error; 0 where no answer came.
func statusOf(err error) (status, substatus int) {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		return 0, 0
	}
	return answer.StatusCode, substatusOf(answer.RawResponse)
}

func substatusOf(response *http.Response) int {
	if response == nil {
		return 0
	}
	n, err := strconv.Atoi(response.Header.Get(substatusHeader))
	if err != nil {
		return 0
	}
	return n
}

func retryAfter(err error) time.Duration {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || answer.RawResponse == nil {
		return defaultRetryAfter
	}
	return askedWait(answer.RawResponse)
}

// askedWait is how long an answer asks to wait, or a while where it does not say.
func askedWait(response *http.Response) time.Duration {
	ms, err := strconv.Atoi(response.Header.Get(retryAfterHeader))
	if err != nil || ms <= 0 {
		return defaultRetryAfter
	}
	return time.Duration(ms) * time.Millisecond
}

// outcomeUnknown tells whether a write that failed with err may have happened all the same: the account said nothing,
// or said that it took too long or failed. Where the caller gave up, nobody is left to find out.
func outcomeUnknown(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err == nil {
		return false // a rule of ours, not an answer
	}
	if _, ok := errors.AsType[*MissingError](err); ok {
		return false
	}
	for _, found := range []error{ErrContainerReplaced, ErrLeaseLost, ErrRebuildTaken} {
		if errors.Is(err, found) {
			return false // what we found out from answers
		}
	}
	switch status, _ := statusOf(err); status {
	case 0, http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
