package telemetry

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Traffic is what a process tells of the requests that it answers and of those that it sends to the database: metrics and,
// where they are wanted, a line of the log for each exchange and the spans of a trace. It may be used concurrently.
type Traffic struct {
	logger *slog.Logger // nil: no lines
	tracer trace.Tracer
	now    func() time.Time
	names  names

	inFlight   prometheus.Gauge
	answers    *prometheus.CounterVec   // by HTTP status
	operations *prometheus.CounterVec   // by operation, type and code
	durations  *prometheus.HistogramVec // by operation
	charges    *prometheus.CounterVec   // by operation and container
	sent       *prometheus.CounterVec   // by container, operation of the database and status
	retries    *prometheus.CounterVec   // by container and operation of the database
}

// TrafficOptions are what NewTraffic takes. The zero value works.
type TrafficOptions struct {
	Logger  *slog.Logger     // is told of each exchange; nobody where nil
	Tracing *Tracing         // gets the spans; nobody where nil
	Now     func() time.Time // time.Now where nil
}

// NewTraffic makes what tells of a process's requests. Its metrics are told where it is added to some: see Metrics.AddTraffic.
func NewTraffic(options TrafficOptions) *Traffic {
	if options.Now == nil {
		options.Now = time.Now
	}
	t := &Traffic{logger: options.Logger, tracer: options.Tracing.tracer(), now: options.Now}
	t.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cosmosblog_requests_in_flight", Help: "Requests to the API that are being answered."})
	t.answers = counter("cosmosblog_http_responses_total", "Answers of the API, by their HTTP status.", "status")
	t.operations = counter("cosmosblog_operations_total", "Operations that were answered, by the code of what went wrong, or OK.", "operation", "type", "code")
	t.durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "cosmosblog_operation_duration_seconds", Help: "Time from an operation's request to its answer.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"operation"})
	t.charges = counter("cosmosblog_request_charge_total", "RU that requests to the database were charged, by the operation that they were sent for.", "operation", "container")
	t.sent = counter("cosmosblog_cosmos_requests_total", "Requests to the database, retries included, by their HTTP status, 0 where no answer came.", "container", "operation", "status")
	t.retries = counter("cosmosblog_cosmos_retries_total", "Requests to the database that were sent again after a refusal, or because no answer came.", "container", "operation")
	return t
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// AddTraffic adds the metrics of a traffic. It panics where they are there already.
func (m *Metrics) AddTraffic(t *Traffic) {
	m.registry.MustRegister(t.inFlight, t.answers, t.operations, t.durations, t.charges, t.sent, t.retries)
}

// Sent is a request to the database that is over.
type Sent struct {
	Container, Operation string
	Status               int // HTTP; 0 where no answer came
	Charge               float64
	Begun                time.Time
	Retry                bool
}

// Sent takes notice of a request to the database. Where ctx is that of an exchange, it was sent for that.
func (t *Traffic) Sent(ctx context.Context, s Sent) {
	operation := ""
	if e := ExchangeOf(ctx); e != nil {
		operation = e.sent(s)
	}
	if s.Charge > 0 {
		t.charges.WithLabelValues(operation, s.Container).Add(s.Charge)
	}
	t.sent.WithLabelValues(s.Container, s.Operation, strconv.Itoa(s.Status)).Inc()
	if s.Retry {
		t.retries.WithLabelValues(s.Container, s.Operation).Inc()
	}
	t.traceSent(ctx, s)
}
