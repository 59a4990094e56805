package telemetry

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Exchange is a request to the API and its response, as counted, logged and traced. The methods
// of a nil Exchange do nothing. It may be used concurrently.
type Exchange struct {
	traffic *Traffic
	begun   time.Time
	client  string // address
	span    trace.Span

	clientTraceID string // empty if the client named no trace

	mu        sync.Mutex // guards the fields below
	operation operation
	codes     []string // of errors, each once
	errorIDs  []string
	charge    float64
	charges   []containerCharge // one for each container, until the operation's label is known
	ended     bool
	requests  int
	retries   int
}

// operation is the operation of a request, empty until it is known. Its label may be known only
// when the exchange ends, because it depends on the operation's success.
type operation struct{ name, kind, label string }

// subscription is the kind of operations whose exchange lasts as long as the client wants.
const subscription = "subscription"

// maxErrorIDs is the maximum number of error ids of an exchange. A response has at most ten
// errors.
const maxErrorIDs = 10

type exchangeKey struct{}

// ExchangeOf returns the exchange that a context belongs to, or nil.
func ExchangeOf(ctx context.Context) *Exchange {
	e, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return e
}

// Begin records a request as an exchange, until end is called. The handler must respond to the
// returned request, through the returned writer. client is the client's address.
func (t *Traffic) Begin(w http.ResponseWriter, r *http.Request, client string) (_ http.ResponseWriter, _ *http.Request, end func()) {
	e := &Exchange{traffic: t, begun: time.Now(), client: client}
	ctx := e.startTrace(context.WithValue(r.Context(), exchangeKey{}, e), r)
	answer := &answerWriter{ResponseWriter: w}
	t.inFlight.Inc()
	return answer, r.WithContext(ctx), func() { e.end(ctx, answer) }
}

// Operate records the GraphQL name and type of the operation, before its first request to the
// database. It returns the operation's context, and a function to call when the operation is
// done.
func (e *Exchange) Operate(ctx context.Context, name, kind string) (operating context.Context, done func()) {
	if e == nil {
		return ctx, func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	// The name is a part of the query. Labels and spans that wait for the collector outlive the
	// request, and a client that reads slowly makes the exchange outlive its operation.
	e.operation = operation{name: strings.Clone(name[:min(len(name), maxNameLength)]), kind: kind}
	if len(name) > maxNameLength {
		e.operation.label = other
	}
	return e.startOperation(ctx, e.operation)
}

// Fail records an error of the response: its code, and its id if it has one.
func (e *Exchange) Fail(code, errorID string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.codes, code) {
		e.codes = append(e.codes, code)
	}
	if errorID != "" && len(e.errorIDs) < maxErrorIDs && !slices.Contains(e.errorIDs, errorID) {
		e.errorIDs = append(e.errorIDs, errorID)
	}
}

// sent records a request to the database. The end of the exchange counts its charge. For
// subscriptions, and afterwards, sent returns false and the label of the operation.
func (e *Exchange) sent(s Sent) (label string, counted bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return e.operation.label, false
	}
	e.requests++
	if s.Retry {
		e.retries++
	}
	if e.operation.kind == subscription { // its exchange may last for days
		e.charge += s.Charge
		if e.operation.label == "" {
			e.operation.label = e.traffic.names.label(e.operation.name, e.client, true)
		}
		return e.operation.label, false
	}
	e.addCharge(s.Container, s.Charge)
	return "", true
}

// containerCharge is the request charge in RU of an exchange in one container.
type containerCharge struct {
	container string
	charge    float64
}

// addCharge adds the charge of a request. The mutex must be locked.
func (e *Exchange) addCharge(container string, charge float64) {
	e.charge += charge
	for i := range e.charges {
		if e.charges[i].container == container {
			e.charges[i].charge += charge
			return
		}
	}
	if charge > 0 {
		e.charges = append(e.charges, containerCharge{container, charge})
	}
}

// end counts, logs and traces the exchange.
func (e *Exchange) end(ctx context.Context, answer *answerWriter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, took := e.traffic, time.Since(e.begun)
	t.inFlight.Dec()
	t.answers.WithLabelValues(answer.statusText()).Inc()
	code := e.outcome(ctx, answer.status)
	e.ended = true
	if e.operation.kind != "" && e.operation.label == "" {
		e.operation.label = t.names.label(e.operation.name, e.client, code == codeOK)
	}
	for _, c := range e.charges {
		t.charges.WithLabelValues(e.operation.label, c.container).Add(c.charge)
	}
	// A preflight request has no operation and no error.
	if e.operation.label != "" || code != codeOK {
		t.operations.WithLabelValues(e.operation.label, e.operation.kind, code).Inc()
		if e.operation.kind != subscription {
			t.durations.WithLabelValues(e.operation.label).Observe(took.Seconds())
		}
	}
	e.log(ctx, answer, took)
	e.endTrace(answer.status)
}

// The codes of metrics in addition to the codes of errors.
const (
	codeOK       = "OK"
	codeInternal = "INTERNAL"
	codeCanceled = "CANCELED"
)

// outcome returns the code of the exchange. It returns CANCELED instead of INTERNAL if ctx, the
// context of the request, was canceled: the client disconnected or the process ended, and the
// work in progress failed because of that.
func (e *Exchange) outcome(ctx context.Context, status int) string {
	code := e.code(status)
	if code == codeInternal && errors.Is(ctx.Err(), context.Canceled) {
		return codeCanceled
	}
	return code
}

// code returns INTERNAL if any error of the exchange has that code, and otherwise the code of
// the first error.
func (e *Exchange) code(status int) string {
	switch {
	case slices.Contains(e.codes, codeInternal):
		return codeInternal
	case len(e.codes) > 0:
		return e.codes[0]
	case status == 0 || status >= http.StatusInternalServerError:
		// The response could not describe the error.
		return codeInternal
	}
	return codeOK
}
