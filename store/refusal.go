package store

import (
	"encoding/json"
	"errors"
	"net/http"

	"cosmosblog/internal/blog"
)

// partitionFull is the substatus of a 403: the logical partition has as much as one may have (20 GB).
const partitionFull = 1014

// Refused tells whether an error is the last word on what was asked: the service finds the request, or an operation of a
// batch, itself wrong, or an item is not of the form that it should have. Whatever else fails may work another time.
func Refused(err error) bool {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err == nil && e.Code == blog.Internal {
		return true // an operation of a batch
	}
	status, _ := statusOf(err)
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge
}

// ConcernsItem tells whether an error is about the items that a step wanted to read or write, so that it may come at every
// try while other items are read and written as ever. Beside what is refused, that is: what takes longer than the service
// allows (408), a partition that is full, and a race that is lost.
//
// All else is about the account or the way to it, and passes for all items at once when it passes: no answer, an answer
// that never comes, 429 and 449, 5xx, a container that is away, and whatever is forbidden.
func ConcernsItem(err error) bool {
	if err == nil || blog.CodeOf(err) == blog.Throttled {
		return false
	}
	if Refused(err) {
		return true
	}
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err == nil {
		return true // an operation of a batch that lost a race
	}
	switch status, substatus := statusOf(err); status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusPreconditionFailed:
		return true
	case http.StatusNotFound:
		return substatus != ownerNotFound
	case http.StatusForbidden:
		return substatus == partitionFull
	}
	return false
}
