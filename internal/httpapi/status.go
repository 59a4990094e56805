package httpapi

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"cosmosblog/internal/blog"
)

// This file alone decides statuses. An operation that ran is 200, whatever became of its fields. What was refused
// before it ran has a status of its own, but for documents: their faults are the client's reading, and 200 for clients
// of the older media type (see documentStatus).

// refusal is why a request is not executed, and with what status it is answered.
type refusal struct {
	status int
	allow  string // the methods that are answered, with 405
	err    error
}

const (
	executedStatus  = http.StatusOK
	preflightStatus = http.StatusNoContent
)

// documentStatus gives the status of a request whose document or variables are refused: 400, and 200 for clients of the
// older media type, which read the body of no other.
func documentStatus(answerType string) int {
	if answerType == graphQLResponseType {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// What is wrong with the form of a request.

func malformed(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, err: blog.Errorf(blog.BadUserInput, format, args...)}
}

var (
	errNoRequest = malformed("The body is not a GraphQL request in JSON: an object in UTF-8 with `query` and, where needed, "+
		"`variables`, `operationName` and `extensions`, %s.", strictly)
	errNoQuery        = malformed("The request has no `query`.")
	errQueryString    = malformed("The query string is malformed.")
	errSlow           = &refusal{status: http.StatusRequestTimeout, err: blog.Errorf(blog.BadUserInput, "The request took too long to arrive.")}
	errNotJSON        = &refusal{status: http.StatusUnsupportedMediaType, err: blog.Errorf(blog.BadUserInput, "Send the request as application/json in UTF-8, and not compressed.")}
	errNothingHere    = &refusal{status: http.StatusNotFound, err: blog.Errorf(blog.NotFound, "There is nothing here. The API is at /graphql.")}
	errMethod         = wrongMethod("GET, POST", "Send GraphQL with POST, or a query with GET.")
	errNotAQuery      = wrongMethod("POST", "GET is for queries: send a mutation with POST.")
	errReadOnly       = wrongMethod("GET, HEAD", "This can only be read: use GET.")
	errForeign        = forbidden("A page of another site cannot query with GET: use POST, or send the header `GraphQL-Require-Preflight`.")
	errNotLocal       = forbidden("In development only this machine is answered: use the address that the server printed.")
	errOriginRefused  = forbidden("Pages of that origin may not use this API: the server's --cors-origins names those that may.")
	errOver           = later(http.StatusServiceUnavailable, blog.Internal, "The request's time was over before it began: try again.")
	errTooManyAtATime = later(http.StatusTooManyRequests, blog.Throttled, "The server has too much to do: try again.")
)

func wrongMethod(allow, sentence string) *refusal {
	return &refusal{http.StatusMethodNotAllowed, allow, blog.Errorf(blog.BadUserInput, "%s", sentence)}
}

func forbidden(sentence string) *refusal {
	return &refusal{status: http.StatusForbidden, err: blog.Errorf(blog.Forbidden, "%s", sentence)}
}

// later is the refusal of what can be sent again as it is.
func later(status int, code blog.Code, sentence string) *refusal {
	return &refusal{status: status, err: &blog.Error{Code: code, Message: sentence, RetryAfter: time.Second}}
}

func bodyTooLarge(most int) *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge, err: blog.Errorf(blog.BadUserInput, "The request is larger than %d bytes.", most)}
}

// unverified is the refusal of a token: 401 where it does not verify, 503 where nobody can tell at the moment, and 500
// where the server itself failed.
func unverified(err error) *refusal {
	known, _ := errors.AsType[*blog.Error](err)
	switch {
	case known != nil && known.Code == blog.Unauthenticated:
		return &refusal{status: http.StatusUnauthorized, err: err}
	case known != nil && known.RetryAfter > 0:
		return &refusal{status: http.StatusServiceUnavailable, err: err}
	}
	return broken(err)
}

// broken is the refusal of a request in which the server itself failed.
func broken(err error) *refusal {
	return &refusal{status: http.StatusInternalServerError, err: err}
}

// describe puts into the headers what goes with a status.
func (r *refusal) describe(header http.Header) {
	if r.allow != "" {
		header.Set("Allow", r.allow)
	}
	if r.status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", r.challenge())
	}
	if known, ok := errors.AsType[*blog.Error](r.err); ok && known.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(known.RetryAfter.Seconds()))))
	}
}

// challenge is what goes with a 401 (RFC 6750, section 3): what is wrong, where a token was shown.
func (r *refusal) challenge() string {
	const scheme = `Bearer realm="cosmosblog"`
	if errors.Is(r.err, errNoBearer) {
		return scheme
	}
	return scheme + `, error="invalid_token"`
}
