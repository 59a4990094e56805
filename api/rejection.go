package api

import (
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/guard/budget"
)

// rejection is the reason why a request is not executed, with the status of the response.
type rejection struct {
	status int
	allow  string // with 405: the allowed methods
	err    error

	payment *budget.Payment // with BUDGET_EXCEEDED
}

// shownAs returns the media type and the status of the response for a client that prefers a media
// type. An event stream has the errors of a request that is not valid, because of which an
// EventSource would give up without a word. Other statuses tell the client what to do, and have
// JSON.
func (r *rejection) shownAs(contentType string) (shown string, status int) {
	switch {
	case contentType != eventStreamType:
		return contentType, r.status
	case r.status == http.StatusBadRequest || r.status == executedStatus:
		return contentType, executedStatus
	}
	return jsonType, r.status
}

// typeOfRejection returns the media type that the client of a rejected request prefers. Event
// streams are for GraphQL over HTTP only.
func typeOfRejection(r *http.Request) string {
	if contentType := negotiateType(r); contentType != eventStreamType || isGraphQL(r) && !isWebSocket(r) {
		return contentType
	}
	return jsonType
}

// setHeaders sets the headers that belong to the status.
func (r *rejection) setHeaders(header http.Header) {
	if r.allow != "" {
		header.Set("Allow", r.allow)
	}
	if r.status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", r.challenge())
	}
	setRateLimit(header, r.payment)
	if wait := blog.RetryAfterOf(r.err); wait > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

// challenge returns the WWW-Authenticate header of a 401 (RFC 6750, section 3). It names an error
// only if the request had a token.
func (r *rejection) challenge() string {
	const scheme = `Bearer realm="cosmosblog"`
	if errors.Is(r.err, errNoBearer) {
		return scheme
	}
	return scheme + `, error="invalid_token"`
}

func (a *api) notFound(w http.ResponseWriter, r *http.Request) { a.reject(w, r, errUnknownPath) }

// reject responds to a request with an error, without executing it.
func (a *api) reject(w http.ResponseWriter, r *http.Request, why *rejection) {
	why.setHeaders(w.Header())
	write(w, a.rejected(r, why))
}

// rejected returns the answer to a request that is not executed.
func (a *api) rejected(r *http.Request, why *rejection) answer {
	contentType, status := why.shownAs(typeOfRejection(r))
	return a.encode(contentType, status, response{errors: gqlerror.List{a.present(r.Context(), why.err)}})
}
