package cosmos

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// InProcess returns a transport that calls a handler instead of using a network. The handler runs
// in the caller's goroutine, with the request's context.
func InProcess(handler http.Handler) policy.Transporter { return handlerTransport{handler} }

type handlerTransport struct{ handler http.Handler }

func (t handlerTransport) Do(request *http.Request) (*http.Response, error) {
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
		Status:        statusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		Body:          inMemory{bytes.NewReader(w.body), w.body},
		ContentLength: int64(len(w.body)),
		Request:       request,
	}
}

// inMemory is the body of an answer that is whole in memory. readBody takes it without a copy.
type inMemory struct {
	*bytes.Reader
	text []byte
}

func (inMemory) Close() error { return nil }

// statusText returns a status line such as "404 Not Found". azcore takes the error code from it.
func statusText(status int) string {
	switch status {
	case http.StatusOK: // the usual case
		return "200 OK"
	case StatusRetryWith:
		return "449 Retry With"
	}
	return strconv.Itoa(status) + " " + http.StatusText(status)
}
