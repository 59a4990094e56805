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

// Transporter is the transport behind a fault.
type Transporter = policy.Transporter

// Faults is a transport that records requests and injects faults. It may be used concurrently.
type Faults struct {
	next Transporter

	mu     sync.Mutex
	inject Fault
	sent   []*http.Request
}

// Fault handles the n-th request since Set, counted from 1. It may forward it to next.
type Fault func(n int, request *http.Request, next Transporter) (*http.Response, error)

// Set makes inject handle the requests from now on, and discards the recorded ones. If inject is
// nil, requests pass.
func (f *Faults) Set(inject Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inject, f.sent = inject, nil
}

// Requests returns the requests to items and procedures since the last Set.
func (f *Faults) Requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

// Do implements Transporter. Requests of metadata always pass.
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

// ErrCut is the error of a broken connection, without azcore's marks, as other transports return
// it.
var ErrCut = errors.New("the connection was cut")

// DeadFrom fails the n-th and all later requests before they are sent, as if the process had
// died.
func DeadFrom(n int) Fault {
	return func(i int, request *http.Request, next Transporter) (*http.Response, error) {
		if i >= n {
			return nil, ErrCut
		}
		return next.Do(request)
	}
}

// CutAfter executes the n-th request but loses its answer.
func CutAfter(n int) Fault {
	return func(i int, request *http.Request, next Transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if i == n {
			return nil, ErrCut
		}
		return response, err
	}
}

// Refuse answers the first n requests with a status and does not send them. headers have the
// form "Name: value".
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

// Failures are the possible outcomes of an operation of a script: 0 means that it is not
// accepted; the others are the error numbers that the service passes to callbacks.
var Failures = []int64{0, 400, 403, 404, 409, 412, 413, 449, 500}

// BodyOf returns the body of a request, which stays readable.
func BodyOf(request *http.Request) []byte {
	body, _ := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// OnlyWrites applies f to writes only, which it counts on their own.
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
