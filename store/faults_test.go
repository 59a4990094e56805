package store

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// transporter is what faults stand before.
type transporter = policy.Transporter

// faults is a transport whose requests can be made to fail, and that notes those that passed it.
type faults struct {
	next transporter

	mu     sync.Mutex
	inject fault
	sent   []*http.Request
}

// fault does what a transport does for the n-th request since it was set, counted from 1. It may call next or not.
type fault func(n int, request *http.Request, next transporter) (*http.Response, error)

// set makes f handle the requests from now on; nil lets them pass. What was sent before is forgotten.
func (f *faults) set(inject fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inject, f.sent = inject, nil
}

// requests gives the requests to items and procedures since set was called.
func (f *faults) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

func (f *faults) Do(request *http.Request) (*http.Response, error) {
	if _, ok := targetOf(request); !ok { // metadata
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

// errCut is a connection that was cut. It is what a transport says that knows nothing of azcore.
var errCut = errors.New("the connection was cut")

// deadFrom fails all requests from the n-th on before they are sent: the process died there.
func deadFrom(n int) fault {
	return func(i int, request *http.Request, next transporter) (*http.Response, error) {
		if i >= n {
			return nil, errCut
		}
		return next.Do(request)
	}
}

// cutAfter lets the n-th request be done and loses its answer.
func cutAfter(n int) fault {
	return func(i int, request *http.Request, next transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if i == n {
			return nil, errCut
		}
		return response, err
	}
}

// refuse answers the first n requests with a status and does not send them.
func refuse(n, status int, headers ...string) fault {
	return func(i int, request *http.Request, next transporter) (*http.Response, error) {
		if i > n {
			return next.Do(request)
		}
		return refusal(request, status, headers...), nil
	}
}

func refusal(request *http.Request, status int, headers ...string) *http.Response {
	w := &answerWriter{header: http.Header{}, status: status, body: []byte(`{"code":"` + strconv.Itoa(status) + `","message":"injected"}`)}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		w.header.Set(name, value)
	}
	return w.response(request)
}
