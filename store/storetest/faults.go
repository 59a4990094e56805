package storetest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/store/cosmos"
)

// BodyOf reads a request's body and leaves it there.
func BodyOf(request *http.Request) []byte {
	body, _ := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// OnlyWrites leaves reads alone and counts the writes for f.
func OnlyWrites(f Fault) Fault {
	writes := 0
	return func(_ int, request *http.Request, next Transporter) (*http.Response, error) {
		if request.Method == http.MethodGet {
			return next.Do(request)
		}
		writes++
		return f(writes, request, next)
	}
}

// Transporter is what faults stand before.
type Transporter = policy.Transporter

// Faults is a transport whose requests can be made to fail, and that notes those that passed it.
type Faults struct {
	next Transporter

	mu     sync.Mutex
	inject Fault
	sent   []*http.Request
}

// Fault does what a transport does for the n-th request since it was set, counted from 1. It may call next or not.
type Fault func(n int, request *http.Request, next Transporter) (*http.Response, error)

// Set makes f handle the requests from now on; nil lets them pass. What was sent before is forgotten.
func (f *Faults) Set(inject Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inject, f.sent = inject, nil
}

// Requests gives the requests to items and procedures since set was called.
func (f *Faults) Requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

func (f *Faults) Do(request *http.Request) (*http.Response, error) {
	if _, ok := cosmos.TargetOf(request); !ok { // metadata
		return f.next.Do(request)
	}
	f.mu.Lock()
	f.sent = append(f.sent, request)
	n, inject := len(f.sent), f.inject
	f.mu.Unlock()
	if inject == nil {
		return f.next.Do(request)
	}
	return inject(n, request, f.next)
}

// ErrCut is a connection that was cut. It is what a transport says that knows nothing of azcore.
var ErrCut = errors.New("the connection was cut")

// DeadFrom fails all requests from the n-th on before they are sent: the process died there.
func DeadFrom(n int) Fault {
	return func(i int, request *http.Request, next Transporter) (*http.Response, error) {
		if i >= n {
			return nil, ErrCut
		}
		return next.Do(request)
	}
}

// CutAfter lets the n-th request be done and loses its answer.
func CutAfter(n int) Fault {
	return func(i int, request *http.Request, next Transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if i == n {
			return nil, ErrCut
		}
		return response, err
	}
}

// Refuse answers the first n requests with a status and does not send them.
func Refuse(n, status int, headers ...string) Fault {
	return func(i int, request *http.Request, next Transporter) (*http.Response, error) {
		if i > n {
			return next.Do(request)
		}
		return Refusal(request, status, headers...), nil
	}
}

// Refusal returns the answer to a request that the account rejects with a status. headers have the
// form "Name: value".
func Refusal(request *http.Request, status int, headers ...string) *http.Response {
	response := Answer(request, status, `{"code":"`+strconv.Itoa(status)+`","message":"injected"}`)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		response.Header.Set(name, value)
	}
	return response
}

// Answer returns an answer to a request.
func Answer(request *http.Request, status int, body string) *http.Response {
	return &http.Response{
		Status:        strconv.Itoa(status) + " " + http.StatusText(status),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       request,
	}
}

// Failures are what can come of an operation of a script: 0 stands for its refusal, the others are the numbers that the
// service gives to callbacks.
var Failures = []int64{0, 400, 403, 404, 409, 412, 413, 449, 500}
