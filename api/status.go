package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"cosmosblog/blog"
	"cosmosblog/guard/auth"
	"cosmosblog/guard/limits"
)

// All HTTP statuses are decided in this file. An operation that was executed has status 200, even
// if all of its fields failed. A request that was rejected before execution has a status of its
// own. Errors in documents have 200 for clients of the older media type (see documentStatus).

const (
	executedStatus  = http.StatusOK
	unchangedStatus = http.StatusNotModified // executed; the client has the answer
	preflightStatus = http.StatusNoContent
)

// documentStatus returns the status for errors in a document or in its variables. It is 400, or
// 200 for clients of the older media type. Those read the body of a response only if its status
// is 200.
func documentStatus(contentType string) int {
	if contentType == graphQLResponseType {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// malformed is the rejection of a request that is not GraphQL over HTTP.
func malformed(format string, args ...any) *rejection {
	return &rejection{status: http.StatusBadRequest, err: blog.Errorf(blog.BadUserInput, format, args...)}
}

// jsonRules describes, for error messages, the rules of package strictjson beyond those of JSON.
var jsonRules = fmt.Sprintf("without duplicate names and unpaired surrogates, with at most %d names and values, nested at most %d deep",
	limits.JSONValues, limits.JSONDepth)

var (
	errBadBody = malformed("The body must be a GraphQL request: a JSON object in UTF-8 with `query` or `documentId`, and optional "+
		"`variables`, `operationName` and `extensions`, %s.", jsonRules)
	errBadHash = malformed("`extensions.persistedQuery` must have `version` 1 and `sha256Hash`, a SHA-256 of 64 lower-case " +
		"hexadecimal digits.")
	errIDAndQuery = malformed("Send either `query` or `documentId`.")
	errOtherHash  = malformed("`sha256Hash` is not the hash of the query.")
	errBadName    = malformed("The body must be a JSON object with `name`, a string of 1 to %d printable ASCII characters.",
		auth.MaxSubjectLength)
	errNoQuery     = malformed("The request has no `query`.")
	errBodyTimeout = &rejection{
		status: http.StatusRequestTimeout,
		err:    &blog.Error{Code: blog.Timeout, Message: "The request took too long to arrive.", RetryAfter: time.Second},
	}
	errBadDiagnostics = malformed("`%s` must be `1` or `%s`.", diagnosticsHeader, priceOnly)
	errPriceOfSocket  = malformed("A WebSocket cannot price operations. Send the operation with POST.")
	errPriceForbidden = forbidden("Only servers in development return the price of an operation. The operation was not executed.")
	errNotJSON        = &rejection{
		status: http.StatusUnsupportedMediaType,
		err:    blog.Errorf(blog.BadUserInput, "Send the request as uncompressed application/json in UTF-8."),
	}
	errUnknownPath = &rejection{
		status: http.StatusNotFound,
		err:    blog.Errorf(blog.NotFound, "Unknown path. The API is at /graphql."),
	}
	errMethod       = methodNotAllowed("GET, POST", "Send GraphQL with POST, or a query with GET.")
	errNoStreamType = malformed("A subscription needs `Accept: text/event-stream`, or a WebSocket with the protocol graphql-transport-ws.")
	errNotAQuery    = methodNotAllowed("POST", "GET can only execute queries. Send mutations with POST.")
	errPostOnly     = methodNotAllowed("POST", "This path needs a POST.")
	errReadOnly     = methodNotAllowed("GET, HEAD", "This path is read-only. Use GET.")
	errCrossSite    = forbidden("Pages of other sites cannot query with GET. The server's setting --cors-origins lists the origins that can.")
	errNotLocal     = forbidden("In development, the server accepts requests to this machine only. Use the address that it printed.")
	errOtherPage    = forbidden("Only pages of this server, and of the origins in its setting --cors-origins, can get a token here.")
	errForwarded    = forbidden("In development, the server rejects requests that a proxy forwarded, because they may come from other machines. " +
		"To serve those, use --production or --issuer. To use a development server on this machine, name it with --trusted-proxy.")
	errOriginNotAllowed   = forbidden("Pages of this origin cannot use the API. The server's setting --cors-origins lists the allowed origins.")
	errExpired            = retryLater(http.StatusServiceUnavailable, blog.Timeout, "The request expired before it was executed. Retry.")
	errTooManyConnections = retryLater(http.StatusTooManyRequests, blog.Overloaded,
		"Too many connections are open, in all or from your network. Close idle ones, or retry.")
	errTooManyRequests = retryLater(http.StatusTooManyRequests, blog.Overloaded,
		"Too many requests from your network are in progress. Retry when some have ended.")
	errAnswersFull = retryLater(http.StatusTooManyRequests, blog.Overloaded,
		"The server is busy with large responses. Retry, or request less at a time.")
	errOverloaded = retryLater(http.StatusTooManyRequests, blog.Overloaded, "The server is overloaded. Retry.")
)

func methodNotAllowed(allow, sentence string) *rejection {
	return &rejection{status: http.StatusMethodNotAllowed, allow: allow, err: blog.Errorf(blog.BadUserInput, "%s", sentence)}
}

func forbidden(sentence string) *rejection {
	return &rejection{status: http.StatusForbidden, err: blog.Errorf(blog.Forbidden, "%s", sentence)}
}

// retryLater is the rejection of a request that the client can retry unchanged after a second.
func retryLater(status int, code blog.Code, sentence string) *rejection {
	return &rejection{status: status, err: &blog.Error{Code: code, Message: sentence, RetryAfter: time.Second}}
}

func bodyTooLarge(limit int) *rejection {
	return &rejection{
		status: http.StatusRequestEntityTooLarge,
		err:    blog.Errorf(blog.LimitExceeded, "The request is larger than %d bytes.", limit),
	}
}

// tokenRejection is the rejection of a request whose token was not verified. Its status is 401 if
// the token is invalid, 503 if it cannot be checked at the moment, and 500 if the server failed.
func tokenRejection(err error) *rejection {
	known, _ := errors.AsType[*blog.Error](err)
	switch {
	case known != nil && known.Code == blog.Unauthenticated:
		return &rejection{status: http.StatusUnauthorized, err: err}
	case known != nil && known.RetryAfter > 0:
		return &rejection{status: http.StatusServiceUnavailable, err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return retryLater(http.StatusServiceUnavailable, blog.Timeout, "The token could not be verified in time. Retry.")
	}
	return serverFailure(err)
}

// serverFailure is the rejection of a request because the server failed.
func serverFailure(err error) *rejection {
	return &rejection{status: http.StatusInternalServerError, err: err}
}
