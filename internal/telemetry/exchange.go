package telemetry

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Exchange is one request to the API and its answer, as it is counted, logged and traced. Nil stands for none, of which
// nothing is told. It may be used concurrently.
type Exchange struct {
	traffic *Traffic
	begun   time.Time
	client  string // its address
	span    trace.Span

	mu        sync.Mutex // guards what follows
	operation operation
	codes     []string // of what went wrong, each once
	errorIDs  []string
	charge    float64
	requests  int
	retries   int
}

// operation is what a client asks for, once it is known.
type operation struct{ name, kind, label string }

// mostErrorIDs is how many error ids of one exchange are kept; an answer shows ten errors.
const mostErrorIDs = 10

type exchangeKey struct{}

// ExchangeOf gives the exchange that a context belongs to, nil where there is none.
func ExchangeOf(ctx context.Context) *Exchange {
	e, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return e
}

// Exchanges gives a handler that takes each request to next for an exchange. client gives the address of who sent it.
func (t *Traffic) Exchanges(next http.Handler, client func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := &Exchange{traffic: t, begun: t.now(), client: client(r)}
		ctx := e.startTrace(context.WithValue(r.Context(), exchangeKey{}, e), r)
		answer := &answerWriter{ResponseWriter: w}
		t.inFlight.Inc()
		defer e.end(ctx, answer)
		next.ServeHTTP(answer, r.WithContext(ctx))
	})
}

// Operate notes which operation is carried out, of a name and a type as GraphQL has them, before its first request to the
// database. It gives the context for it, and what to call when it is done.
func (e *Exchange) Operate(ctx context.Context, name, kind string) (operating context.Context, done func()) {
	if e == nil {
		return ctx, func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.operation = operation{name: name[:min(len(name), longestName)], kind: kind, label: e.traffic.names.label(name)}
	return e.startOperation(ctx, e.operation)
}

// Fail notes an error that the answer has: its code, and its id where it has one.
func (e *Exchange) Fail(code, errorID string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.codes, code) {
		e.codes = append(e.codes, code)
	}
	if errorID != "" && len(e.errorIDs) < mostErrorIDs && !slices.Contains(e.errorIDs, errorID) {
		e.errorIDs = append(e.errorIDs, errorID)
	}
}

// sent takes notice of a request to the database, and gives the label of the operation that it was sent for.
func (e *Exchange) sent(s Sent) (label string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.charge += s.Charge
	e.requests++
	if s.Retry {
		e.retries++
	}
	return e.operation.label
}

// end counts, logs and traces what became of the exchange.
func (e *Exchange) end(ctx context.Context, answer *answerWriter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, took := e.traffic, e.traffic.now().Sub(e.begun)
	t.inFlight.Dec()
	t.answers.WithLabelValues(answer.statusText()).Inc()
	if code := e.outcome(ctx, answer.status); e.operation.label != "" || code != codeOK { // what a browser asks beforehand is no operation
		t.operations.WithLabelValues(e.operation.label, e.operation.kind, code).Inc()
		t.durations.WithLabelValues(e.operation.label).Observe(took.Seconds())
	}
	e.log(ctx, answer, took)
	e.endTrace(answer.status)
}

// The codes that metrics have beside those of errors.
const (
	codeOK       = "OK"
	codeInternal = "INTERNAL"
	codeCanceled = "CANCELED"
)

// outcome is code, but for failures after which nobody was there to hear of them: ctx, the request's, ends before its answer
// where the client goes away, or where the process ends, and all that was under way fails by that.
func (e *Exchange) outcome(ctx context.Context, status int) string {
	code := e.code(status)
	if code == codeInternal && errors.Is(ctx.Err(), context.Canceled) {
		return codeCanceled
	}
	return code
}

// code gives the one code that stands for the exchange: the gravest, which is INTERNAL, or the first.
func (e *Exchange) code(status int) string {
	switch {
	case slices.Contains(e.codes, codeInternal):
		return codeInternal
	case len(e.codes) > 0:
		return e.codes[0]
	case status == 0 || status >= http.StatusInternalServerError: // nobody was left to say what went wrong
		return codeInternal
	}
	return codeOK
}
