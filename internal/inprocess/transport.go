// Package inprocess calls an http.Handler in place of a network.
package inprocess

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
)

// Transport sends requests to a handler. It implements azcore's policy.Transporter, and may be used
// concurrently if the handler may.
type Transport struct{ handler http.Handler }

// To returns a transport to a handler. The handler runs in the caller's goroutine, with the
// request's context.
func To(handler http.Handler) Transport { return Transport{handler} }

// NewEndpoint returns an endpoint for a database that is reached by a transport and has no address.
// Each call returns another one, because azcosmos caches container metadata by the endpoint's host.
func NewEndpoint() string {
	return "http://" + strings.ToLower(rand.Text()) + ".inprocess.invalid"
}

// Do returns the handler's answer. Its body has a method Whole, which returns all of it without a
// copy. Errors: that of the request's context if it is done before.
func (t Transport) Do(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, notSent{err}
	}
	served := request
	if request.Body == nil { // requests on a server always have a body
		copied := *request
		copied.Body = http.NoBody
		served = &copied
	}
	w := &responseBuffer{header: make(http.Header, 12)}
	t.handler.ServeHTTP(w, served)
	return w.response(request), nil
}

// notSent is the error of a request whose context was done before it was sent. Without
// NonRetriable, azcore and azcosmos would retry it like any transport error.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// NonRetriable marks the error for azcore, which then does not retry.
func (notSent) NonRetriable() {}

// responseBuffer is the http.ResponseWriter that holds the answer of a handler.
type responseBuffer struct {
	header http.Header
	status int
	body   []byte
}

func (w *responseBuffer) Header() http.Header { return w.header }

func (w *responseBuffer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *responseBuffer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

// response returns the answer in the form in which net/http's client returns it.
func (w *responseBuffer) response(request *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:        StatusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		Body:          body{bytes.NewReader(w.body), w.body},
		ContentLength: int64(len(w.body)),
		Request:       request,
	}
}

// body is the body of an answer that is whole in memory.
type body struct {
	*bytes.Reader
	whole []byte
}

// Close implements io.Closer.
func (body) Close() error { return nil }

// Whole returns the body, even if a part of it was read.
func (b body) Whole() []byte { return b.whole }

// StatusText returns a status line such as "404 Not Found". azcore takes the error code from it.
func StatusText(status int) string {
	switch status {
	case http.StatusOK: // the usual case
		return "200 OK"
	case 449: // Cosmos DB's, which net/http does not name
		return "449 Retry With"
	}
	return strconv.Itoa(status) + " " + http.StatusText(status)
}
