package cosmos

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// unanswered is the error of a request without an answer, although its context was not done. It
// wraps that of the transport, which azcosmos classifies.
type unanswered struct {
	error
	sent bool // perhaps; if it is false, there was no connection
}

// Unwrap returns the error of the transport.
func (e unanswered) Unwrap() error { return e.error }

// isUnanswered reports whether a request got no answer, although its context was not done.
func isUnanswered(err error) bool {
	_, ok := errors.AsType[unanswered](err)
	return ok
}

// isNotSent reports whether a request failed because there was no connection.
func isNotSent(err error) bool {
	e, ok := errors.AsType[unanswered](err)
	return ok && !e.sent
}

// connectionPolicy marks the errors of the transport, for isUnanswered and isNotSent.
type connectionPolicy struct{}

// Do implements policy.Policy.
func (connectionPolicy) Do(request *policy.Request) (*http.Response, error) {
	response, err := request.Next()
	if err == nil || request.Raw().Context().Err() != nil {
		return response, err
	}
	return response, unanswered{err, !hasNoConnection(err)}
}

// hasNoConnection reports whether an error of net/http's client arose before the request was sent:
// in DNS, TCP or TLS.
func hasNoConnection(err error) bool {
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Op == "dial" {
		return true
	}
	_, isDNS := errors.AsType[*net.DNSError](err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err) // in the handshake
	return isDNS || isCertificate
}
