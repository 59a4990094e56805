package cosmostest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/engine"
	"cosmosblog/engine/budget"
	"cosmosblog/internal/inprocess"
)

// Fault answers the n-th request since Inject, counted from 1. It forwards the request to next if
// it is to be executed, at most once: that consumes the body. It may be called concurrently.
// CutBefore and CutAfter are faults; the functions below return some. Those of Writes and Budget
// keep their counts if they are injected again. A test can write its own.
type Fault func(n int, request *http.Request, next policy.Transporter) (*http.Response, error)

// ErrCut is the error of a connection that was closed before the response. It is an
// io.ErrUnexpectedEOF, as that of net/http's client: azcosmos treats both alike.
var ErrCut = fmt.Errorf("the connection was closed: %w", io.ErrUnexpectedEOF)

// CutBefore is a Fault that closes the connection before a request is executed.
func CutBefore(int, *http.Request, policy.Transporter) (*http.Response, error) { return nil, ErrCut }

// CutAfter is a Fault that closes the connection after a request is executed. Its response is lost.
func CutAfter(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
	return Executed(CutBefore)(n, request, next)
}

// Executed applies a fault after a request is executed. Executed(Refuse(408)) is a timeout whose
// request has succeeded. If the fault lets the request pass, as Delay does, it gets its answer.
func Executed(fault Fault) Fault {
	return func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if err != nil {
			return nil, err
		}
		return fault(n, request, answered{response})
	}
}

// answered is the way of a request that was executed already: it returns the answer. The body of an
// answer is in memory, so a fault need not close it.
type answered struct{ response *http.Response }

func (a answered) Do(*http.Request) (*http.Response, error) { return a.response, nil }

// Silence is a Fault that does not answer until the client cancels the request, which is not
// executed.
func Silence(_ int, request *http.Request, _ policy.Transporter) (*http.Response, error) {
	<-request.Context().Done()
	return nil, request.Context().Err()
}

// Refuse rejects requests with a status, before they are executed. headers have the form
// "Name: value", such as "x-ms-retry-after-ms: 10" or "x-ms-substatus: 1002". A 449 comes after
// 30 s, for which the service repeats the request, unless that has x-ms-noretry-449: True.
func Refuse(status int, headers ...string) Fault {
	return Respond(status, `{"code":"`+strconv.Itoa(status)+`","message":"injected"}`, headers...)
}

// Respond answers requests with a status and a body, in place of the account.
func Respond(status int, body string, headers ...string) Fault {
	return func(_ int, request *http.Request, _ policy.Transporter) (*http.Response, error) {
		if status == statusRetry && repeats449(request) && !wait(request, gatewayTime) {
			return nil, request.Context().Err()
		}
		response := &http.Response{
			Status:        inprocess.StatusText(status),
			StatusCode:    status,
			Proto:         "HTTP/1.1",
			ProtoMajor:    1,
			ProtoMinor:    1,
			Header:        http.Header{"Content-Type": {"application/json"}},
			Body:          io.NopCloser(strings.NewReader(body)),
			ContentLength: int64(len(body)),
			Request:       request,
		}
		setHeaders(response.Header, headers)
		return response, nil
	}
}

// setHeaders sets headers of the form "Name: value".
func setHeaders(header http.Header, headers []string) {
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		header.Set(name, strings.TrimSpace(value))
	}
}

// Delay waits for a time before each request is executed, or until the client cancels it.
func Delay(d time.Duration) Fault {
	return func(_ int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		if !wait(request, d) {
			return nil, request.Context().Err()
		}
		return next.Do(request)
	}
}

// Budget bounds the throughput of a client in each container, in RU/s. It rejects the requests
// beyond with 429 and the time to wait, as an account does. now is its clock. Options.Throughput
// bounds the throughput of the whole account instead, by physical range.
func Budget(perSecond float64, now func() time.Time) Fault {
	var allowances sync.Map // of *budget.Allowance, by container
	return func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		if !isOfItems(request) {
			return next.Do(request)
		}
		found, _ := allowances.LoadOrStore(containerOf(request), new(budget.Allowance))
		allowance := found.(*budget.Allowance)
		if wait := allowance.Admit(budget.High, perSecond, now()); wait > 0 {
			return Refuse(http.StatusTooManyRequests,
				"X-Ms-Substatus: "+strconv.Itoa(budget.Substatus),
				"X-Ms-Request-Charge: "+strconv.FormatFloat(budget.RefusalCharge, 'f', 2, 64),
				"X-Ms-Retry-After-Ms: "+budget.RetryAfter(wait),
			)(n, request, next)
		}
		response, err := next.Do(request)
		if err == nil {
			charge, _ := strconv.ParseFloat(response.Header.Get("X-Ms-Request-Charge"), 64)
			allowance.Pay(budget.High, charge)
		}
		return response, err
	}
}

// containerOf returns the link of the container in a request to items or procedures.
func containerOf(request *http.Request) string {
	return strings.Join(strings.SplitN(pathOf(request), "/", 5)[:4], "/")
}

// First applies a fault to the first requests only.
func First(requests int, fault Fault) Fault {
	return when(fault, func(n int) bool { return n <= requests })
}

// Nth applies a fault to one request only.
func Nth(request int, fault Fault) Fault {
	return when(fault, func(n int) bool { return n == request })
}

// From applies a fault to a request and all later ones. From(n, CutBefore) is the death of the
// client before its n-th request.
func From(request int, fault Fault) Fault {
	return when(fault, func(n int) bool { return n >= request })
}

func when(fault Fault, applies func(n int) bool) Fault {
	return func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		if !applies(n) {
			return next.Do(request)
		}
		return fault(n, request, next)
	}
}

// Writes applies a fault to writes only, and counts them alone. Executions of procedures are
// writes.
func Writes(fault Fault) Fault {
	var mu sync.Mutex
	writes := 0
	return func(_ int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		if isRead(request) {
			return next.Do(request)
		}
		mu.Lock()
		writes++
		n := writes
		mu.Unlock()
		return fault(n, request, next)
	}
}

// isRead reports whether a request only reads: a GET, or a query. An execution is never a query.
func isRead(request *http.Request) bool {
	return request.Method == http.MethodGet ||
		request.Method == http.MethodPost && !isExecution(request) && engine.IsQuery(request.Header)
}
