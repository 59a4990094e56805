package telemetry

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the numbers of one process, in Prometheus' formats. They may be used concurrently.
type Metrics struct{ registry *prometheus.Registry }

// NewMetrics makes the metrics of a process: those of the Go runtime and of the operating system's process are there.
func NewMetrics() *Metrics {
	m := &Metrics{prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Metric is a number that is read when somebody asks for it. Labels have few values each: never ids.
type Metric struct {
	Name    string // as Prometheus has them: cosmosblog_…, with the unit, and _total where it only rises
	Help    string
	Counter bool // it only rises while the process runs; otherwise it is a gauge
	Labels  []string
	// Read gives its values; an error is logged, and what came with it is told. It may be called concurrently.
	Read func() ([]Value, error)
}

// Value is a metric's value for certain labels, in the metric's order.
type Value struct {
	Value  float64
	Labels []string
}

// Add adds metrics that are read when somebody asks. It panics where a name is taken or is none: names are constants.
func (m *Metrics) Add(metrics ...Metric) {
	for _, metric := range metrics {
		r := read{metric.Read, prometheus.NewDesc(metric.Name, metric.Help, metric.Labels, nil), prometheus.GaugeValue}
		if metric.Counter {
			r.kind = prometheus.CounterValue
		}
		m.registry.MustRegister(r)
	}
}

// read is a Metric as Prometheus collects it.
type read struct {
	values func() ([]Value, error)
	about  *prometheus.Desc
	kind   prometheus.ValueType
}

func (r read) Describe(about chan<- *prometheus.Desc) { about <- r.about }

func (r read) Collect(metrics chan<- prometheus.Metric) {
	values, err := r.values()
	for _, v := range values {
		metrics <- prometheus.MustNewConstMetric(r.about, r.kind, v.Value, v.Labels...)
	}
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(r.about, err)
	}
}

// How long metrics may take, below the 10 s that Prometheus waits where it is not told otherwise; and how many may ask at the
// same time.
const (
	metricsTimeout = 8 * time.Second
	metricsReaders = 4
)

// handler answers with all metrics that can be read. Why others cannot is for the log.
func (m *Metrics) handler(logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		Timeout:             metricsTimeout,
		MaxRequestsInFlight: metricsReaders,
	})
}
