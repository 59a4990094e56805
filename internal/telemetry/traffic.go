package telemetry

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Traffic records the requests that a process receives and those that it sends to the database,
// as metrics. If configured, it also logs a line for each exchange and sends traces. It may be
// used concurrently.
type Traffic struct {
	logger *slog.Logger // nil if no lines are logged
	tracer trace.Tracer // nil if there are no traces
	names  operationNames

	inFlight   prometheus.Gauge
	streams    prometheus.Gauge // open subscriptions
	work       prometheus.Counter
	answers    *prometheus.CounterVec   // by HTTP status
	operations *prometheus.CounterVec   // by operation, type and code
	durations  *prometheus.HistogramVec // by operation
	charges    *prometheus.CounterVec   // by operation and container
	sent       *prometheus.CounterVec   // by container, database operation, priority and status
	retries    *prometheus.CounterVec   // by container and database operation
}

// NewTraffic returns a Traffic. Metrics.AddTraffic publishes its metrics. logger gets a line for
// each exchange, and tracing the spans. Both may be nil.
func NewTraffic(logger *slog.Logger, tracing *Tracing) *Traffic {
	t := &Traffic{logger: logger, tracer: tracing.tracer()}
	t.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cosmosblog_requests_in_flight", Help: "Requests to the API in flight."})
	t.streams = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cosmosblog_subscriptions_open", Help: "Subscriptions that are open."})
	t.work = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "cosmosblog_subscriptions_processor_seconds_total", Help: "Processor time that subscriptions were charged."})
	t.answers = counter("cosmosblog_http_responses_total",
		"Responses of the API by HTTP status.",
		"status")
	t.operations = counter("cosmosblog_operations_total",
		"Operations by error code, or OK.",
		"operation", "type", "code")
	t.durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "cosmosblog_operation_duration_seconds",
		Help:    "Time from an operation's request to its response.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"operation"})
	t.charges = counter("cosmosblog_request_charge_total",
		"Request charge in RU, by the operation that caused it.",
		"operation", "container")
	t.sent = counter("cosmosblog_cosmos_requests_total",
		"Requests to the database, including retries, by HTTP status; 0 if there was no response.",
		"container", "operation", "priority", "status")
	t.retries = counter("cosmosblog_cosmos_retries_total",
		"Retries of requests to the database that were rejected or had no response.",
		"container", "operation")
	return t
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// AddTraffic adds the metrics of a traffic. It panics if they were added before.
func (m *Metrics) AddTraffic(t *Traffic) {
	m.registry.MustRegister(t.inFlight, t.streams, t.work, t.answers, t.operations, t.durations, t.charges, t.sent, t.retries)
}

// Subscribed adds to the number of open subscriptions.
func (t *Traffic) Subscribed(change int) { t.streams.Add(float64(change)) }

// Worked adds to the processor time that subscriptions were charged.
func (t *Traffic) Worked(charged time.Duration) { t.work.Add(charged.Seconds()) }

// Sent is a finished request to the database.
type Sent struct {
	Container, Operation string
	Status               int // HTTP; 0 if there was no response
	Charge               float64
	Begun                time.Time
	Retry                bool
	Background           bool // at low priority
}

func (s Sent) priority() string {
	if s.Background {
		return "low"
	}
	return "high"
}

// Sent records a request to the database. If ctx belongs to an exchange, the request counts for
// that exchange.
func (t *Traffic) Sent(ctx context.Context, s Sent) {
	operation, counted := "", false
	if e := ExchangeOf(ctx); e != nil {
		operation, counted = e.sent(s)
	}
	if s.Charge > 0 && !counted {
		t.charges.WithLabelValues(operation, s.Container).Add(s.Charge)
	}
	t.sent.WithLabelValues(s.Container, s.Operation, s.priority(), statusText(s.Status)).Inc()
	if s.Retry {
		t.retries.WithLabelValues(s.Container, s.Operation).Inc()
	}
	t.traceSent(ctx, s)
}
