package engine

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Error is an error response of the service's REST protocol.
type Error struct {
	Status    int
	Substatus int // header x-ms-substatus; 0 if there is none
	Message   string
}

func (e *Error) Error() string { return fmt.Sprintf("%d/%d: %s", e.Status, e.Substatus, e.Message) }

// Statuses and substatuses without a name in net/http.
const (
	statusRetryWith = 449 // a conflicting write; the whole transaction was rolled back

	substatusPartitionKeyMismatch = 1001
	substatusSessionNotAvailable  = 1002 // with 404
	substatusRangeGone            = 1002 // with 410
	substatusOwnerNotFound        = 1003
	substatusCrossPartition       = 1004
	substatusNotFinite            = 4001
	substatusScriptCompile        = 0xFFFF
)

// code returns the error code in the body of an error: the status text of HTTP without spaces.
func (e *Error) code() string {
	if e.Status == statusRetryWith {
		return "RetryWith"
	}
	return strings.ReplaceAll(http.StatusText(e.Status), " ", "")
}

func errorf(status, substatus int, format string, args ...any) *Error {
	return &Error{status, substatus, fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) *Error {
	return errorf(http.StatusBadRequest, 0, format, args...)
}

// Errors that several handlers return.
var (
	errItemNotFound     = errorf(http.StatusNotFound, 0, "Entity with the specified id does not exist in the system.")
	errOwnerNotFound    = errorf(http.StatusNotFound, substatusOwnerNotFound, "Owner resource does not exist.")
	errResourceNotFound = errorf(http.StatusNotFound, 0, "Resource Not Found.")
	errFailed           = errorf(http.StatusInternalServerError, 0, "The engine failed.")
	errConflict         = errorf(http.StatusConflict, 0, "Entity with the specified id already exists in the system.")
	errPrecondition     = errorf(http.StatusPreconditionFailed, 0, "One of the specified pre-condition is not met.")
	errRedefined        = errorf(statusRetryWith, 0, "The definition of the container was changed concurrently. Retry the request.")
	errWriteConflict    = errorf(statusRetryWith, 0, "Conflicting request to resource has been attempted. Retry to avoid conflicts.")
	errTooLarge         = errorf(http.StatusRequestEntityTooLarge, 0, "Request size is too large.")
	errKeyMismatch      = errorf(http.StatusBadRequest, substatusPartitionKeyMismatch, "PartitionKey extracted from document doesn't match the one specified in the header.")
	errNotFinite        = errorf(http.StatusBadRequest, substatusNotFinite, "The response content contains a numeric value that cannot be represented in JSON (e.g. Infinity and NaN).")
	errBadContinuation  = badRequest("Invalid continuation token.")
	errNoPartitionKey   = badRequest("PartitionKey value must be supplied for this operation.")
)

// protocolError returns err as a protocol error with a status below 500, if it is one.
func protocolError(err error) (*Error, bool) {
	rejection, ok := errors.AsType[*Error](err)
	return rejection, ok && rejection.Status < http.StatusInternalServerError
}
