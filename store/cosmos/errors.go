package cosmos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/internal/blog"
)

// managementForbidden is the substatus of 403 where an Entra ID token asks for what only the key may.
const managementForbidden = 5300

// Exists makes an answer of "not there" out of an error that says it.
func Exists(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if status, substatus := StatusOf(err); status == http.StatusNotFound && substatus != ReadSessionNotAvailable {
		return false, nil
	}
	return false, err
}

// Created makes an answer of "there already" out of an error that says it.
func Created(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if status, _ := StatusOf(err); status == http.StatusConflict {
		return false, nil
	}
	return false, err
}

// Explain says in a sentence what the account's refusals mean at the start; the answer's own text is long.
func Explain(err error) error {
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err != nil {
		err = e.Err
	}
	switch status, substatus := StatusOf(err); status {
	case 0:
		return err
	case http.StatusUnauthorized:
		return errors.New("the account refused the key or token (401)")
	case http.StatusForbidden:
		if substatus == managementForbidden {
			return errors.New("Entra ID may not make or read definitions (403/5300), whatever its roles: set COSMOS_KEY for provision, or deploy what provision --print bicep writes")
		}
		return fmt.Errorf("the account forbids it (403/%d): its firewall, or a role that is missing", substatus)
	default:
		return fmt.Errorf("the account answered %d: %w", status, err)
	}
}

// The headers of an answer that errors are read from. All header names are written as net/http keeps them, because it
// makes a new text of any other.
const (
	SubstatusHeader  = "X-Ms-Substatus"
	RetryAfterHeader = "X-Ms-Retry-After-Ms"
)

// StatusRetryWith is the service's own status for a transaction that met another one: nothing of it was committed.
const StatusRetryWith = 449

// Substatuses that change what a status means (HTTP status codes page of Azure Cosmos DB).
const (
	ReadSessionNotAvailable = 1002 // with 404: the replica has not yet seen what the session token names
	OwnerNotFound           = 1003 // with 404: it is the container that is missing
)

// meanings is the one table from what Cosmos DB answers to our codes. What is not in it is INTERNAL.
var meanings = []struct {
	status, substatus int // substatus 0: any other
	code              blog.Code
	message           string
}{
	{http.StatusNotFound, ReadSessionNotAvailable, blog.Throttled, "The database is catching up. Please try again."},
	{http.StatusNotFound, OwnerNotFound, blog.Internal, "A container is missing."},
	{http.StatusNotFound, 0, blog.NotFound, "There is no such item."},
	{http.StatusConflict, 0, blog.Conflict, "The item is there already."},
	{http.StatusPreconditionFailed, 0, blog.Conflict, "Somebody else changed the item meanwhile. Please try again."},
	{http.StatusTooManyRequests, 0, blog.Throttled, "The database allows no more requests for now. Please try again."},
	{http.StatusServiceUnavailable, 0, blog.Throttled, "The database is not available for now. Please try again."},
	{StatusRetryWith, 0, blog.Throttled, tooManyUpdates},
	// A script of ours ended with the number of an operation that met another transaction, or of one that was refused
	// because the time was used up. Nothing of it was committed.
	{http.StatusBadRequest, http.StatusConflict, blog.Throttled, tooManyUpdates},
	{http.StatusBadRequest, http.StatusPreconditionFailed, blog.Throttled, tooManyUpdates},
	{http.StatusBadRequest, StatusRetryWith, blog.Throttled, tooManyUpdates},
	{http.StatusBadRequest, http.StatusTooManyRequests, blog.Throttled, "The database is too slow right now. Please try again."},
}

const tooManyUpdates = "Too many are changing the same thing right now. Please try again."

// IsScriptTimeout tells whether a script of ours had more to do than it could in its time, or than there was throughput for.
func IsScriptTimeout(err error) bool {
	status, substatus := StatusOf(err)
	return status == http.StatusBadRequest && substatus == http.StatusTooManyRequests
}

// IsItemMissing reports whether the account answered that an item, a script or a container is not
// there: neither a replica that lags behind the session (1002), nor a missing parent (1003).
func IsItemMissing(err error) bool {
	status, substatus := StatusOf(err)
	return status == http.StatusNotFound && substatus != ReadSessionNotAvailable && substatus != OwnerNotFound
}

// IsManagementForbidden reports whether an Entra ID token asked for what only the account's key may.
func IsManagementForbidden(err error) bool {
	status, substatus := StatusOf(err)
	return status == http.StatusForbidden && substatus == managementForbidden
}

// DefaultRetryAfter is what a throttled client is told where the account does not say it.
const DefaultRetryAfter = time.Second

// ToBlogError gives an error of azcosmos, azcore or a transport as one of ours, with the cause kept.
func ToBlogError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*blog.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &blog.Error{Code: blog.Internal, Message: "The request was given up.", Err: err}
	}
	status, substatus := StatusOf(err)
	for _, m := range meanings {
		if m.status != status || m.substatus != 0 && m.substatus != substatus {
			continue
		}
		e := &blog.Error{Code: m.code, Message: m.message, Err: err}
		if m.code == blog.Throttled {
			e.RetryAfter = RetryAfter(err)
		}
		return e
	}
	return &blog.Error{Code: blog.Internal, Message: "The database failed.", Err: err}
}

// WithMessage gives err with another message where it has the code.
func WithMessage(err error, code blog.Code, message string) error {
	e, ok := errors.AsType[*blog.Error](err)
	if !ok || e.Code != code {
		return err
	}
	return &blog.Error{Code: code, Message: message, Err: e.Err}
}

// StatusOf gives the HTTP status and the substatus of an error; 0 where no answer came.
func StatusOf(err error) (status, substatus int) {
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
	n, err := strconv.Atoi(response.Header.Get(SubstatusHeader))
	if err != nil {
		return 0
	}
	return n
}

func RetryAfter(err error) time.Duration {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || answer.RawResponse == nil {
		return DefaultRetryAfter
	}
	return askedWait(answer.RawResponse)
}

// askedWait is how long an answer asks to wait, or a while where it does not say.
func askedWait(response *http.Response) time.Duration {
	ms, err := strconv.Atoi(response.Header.Get(RetryAfterHeader))
	if err != nil || ms <= 0 {
		return DefaultRetryAfter
	}
	return time.Duration(ms) * time.Millisecond
}

// Conclusion marks errors that were concluded from complete answers of the account, such as a lost
// lease or a missing container. Their outcome is known: nothing was written.
type Conclusion interface {
	error
	IsConclusion()
}

// NewConclusion returns an error with a fixed text that is a Conclusion.
func NewConclusion(text string) error { return conclusion(text) }

type conclusion string

func (c conclusion) Error() string { return string(c) }
func (conclusion) IsConclusion()   {}

// OutcomeUnknown tells whether a write that failed with err may have happened all the same: the account said nothing,
// or said that it took too long or failed. Where the caller gave up, nobody is left to find out.
func OutcomeUnknown(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	if e, ok := errors.AsType[*blog.Error](err); ok && e.Err == nil {
		return false // a rule of ours, not an answer
	}
	if _, ok := errors.AsType[Conclusion](err); ok {
		return false
	}
	switch status, _ := StatusOf(err); status {
	case 0, http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func IsThrottled(err error) bool { return err != nil && blog.CodeOf(err) == blog.Throttled }

// PartitionFull is the substatus of a 403: the logical partition has as much as one may have (20 GB).
const PartitionFull = 1014

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
	status, _ := StatusOf(err)
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
	switch status, substatus := StatusOf(err); status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusPreconditionFailed:
		return true
	case http.StatusNotFound:
		return substatus != OwnerNotFound
	case http.StatusForbidden:
		return substatus == PartitionFull
	}
	return false
}
