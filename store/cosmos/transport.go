package cosmos

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// InProcess gives a transport that calls a handler instead of sending over a network: no socket, no copies but that of
// the answer. The handler runs in the caller's goroutine and sees the request's context.
func InProcess(handler http.Handler) policy.Transporter { return handlerTransport{handler} }

type handlerTransport struct{ handler http.Handler }

func (t handlerTransport) Do(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, notSent{err}
	}
	served := request
	if request.Body == nil { // a server's request always has one
		copied := *request
		copied.Body = http.NoBody
		served = &copied
	}
	w := &answerWriter{header: make(http.Header, 12)}
	t.handler.ServeHTTP(w, served)
	return w.response(request), nil
}

// notSent is the error of a request that was given up before it was sent. azcore and azcosmos would otherwise take any
// error of a transport for one to try again.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// NonRetriable is what azcore looks for.
func (notSent) NonRetriable() {}

// answerWriter keeps what a handler answers.
type answerWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *answerWriter) Header() http.Header { return w.header }

func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *answerWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

// response gives the answer as net/http's client would.
func (w *answerWriter) response(request *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:        statusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		Body:          io.NopCloser(bytes.NewReader(w.body)),
		ContentLength: int64(len(w.body)),
		Request:       request,
	}
}

// statusText gives "404 Not Found" and the like: azcore makes its error codes of it.
func statusText(status int) string {
	switch status {
	case http.StatusOK: // nearly always
		return "200 OK"
	case StatusRetryWith:
		return "449 Retry With"
	}
	return strconv.Itoa(status) + " " + http.StatusText(status)
}
