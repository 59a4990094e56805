package cosmos

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"cosmosblog/blog"
)

// OutcomeUnknown reports whether a write that failed with err may still have been committed,
// because the service did not answer, timed out, or failed. It is false if there was no connection,
// and if nothing can be retried: if ctx is done, or the write is a script that must not be executed
// again (IsExhausted).
func OutcomeUnknown(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || isNotSent(err) || IsExhausted(err) {
		return false
	}
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err == nil {
		return false // rejected by a rule of ours, not by the service
	}
	if _, ok := errors.AsType[DefiniteError](err); ok {
		return false
	}
	status, _ := StatusOf(err)
	return status == 0 || isOutcomeUnknown(status)
}

// isOutcomeUnknown reports whether a request may have been executed although it failed with a
// status.
func isOutcomeUnknown(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// IsPermanent reports whether a retry would fail in the same way, until somebody changes an item
// or the program. Such an error has one of these causes:
//   - An item cannot be decoded.
//   - The service rejected the request as malformed (400) or too large (413). This includes a
//     script that threw an error of its own.
//   - The service blocks a script (IsScriptBlocked).
//   - We found the error ourselves, and waiting would not help: INTERNAL without a cause, such as
//     that of BatchError.
//
// A THROTTLED error is never permanent, although a script that ran out of time or met a conflict
// ends with status 400. All other errors may be temporary, too.
func IsPermanent(err error) bool {
	if err == nil || IsThrottled(err) {
		return false
	}
	if _, ok := errors.AsType[decodeError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err == nil && e.Code == blog.Internal {
		return true
	}
	status, _ := StatusOf(err)
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || IsScriptBlocked(err)
}

// IsItemError reports whether an error concerns only the items of one step. Retrying the step may
// never help, but other items can still be read and written. Item errors are permanent errors,
// timeouts of the service (408), scripts that must not be executed again, full partitions, and lost
// races.
//
// All other errors concern the account or the connection, and so affect all items. Examples are no
// answer, 429, 449, 5xx, a missing container, and requests that the account forbids.
func IsItemError(err error) bool {
	if err == nil || IsThrottled(err) {
		return false
	}
	if IsPermanent(err) || IsExhausted(err) {
		return true
	}
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err == nil {
		return true // an operation of a batch lost a race
	}
	switch status, substatus := StatusOf(err); status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusPreconditionFailed:
		return true
	case http.StatusNotFound:
		return substatus != OwnerNotFound
	case http.StatusForbidden:
		return substatus == partitionFull
	}
	return false
}

// DefiniteError is an error after which it is certain that nothing was written, although it has no
// status of the service. Examples are a lost lease and a missing container. OutcomeUnknown is false
// for it.
type DefiniteError interface {
	error
	IsDefinite()
}

// NewDefiniteError returns a DefiniteError with a text.
func NewDefiniteError(text string) error { return definiteError(text) }

type definiteError string

func (e definiteError) Error() string { return string(e) }

func (definiteError) IsDefinite() {}
