package telemetry

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the metrics of one process, in Prometheus' formats. They may be used concurrently.
type Metrics struct{ registry *prometheus.Registry }

// NewMetrics returns metrics that contain those of the Go runtime and of the operating system's
// process.
func NewMetrics() *Metrics {
	m := &Metrics{prometheus.NewRegistry()}
	process := collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})
	m.registry.MustRegister(collectors.NewGoCollector(), process)
	return m
}

// Metric is a metric that is read for each request of /metrics. Its labels must have few values,
// and no ids.
type Metric struct {
	Name    string // cosmosblog_…, with the unit, and _total for counters
	Help    string
	Counter bool // otherwise it is a gauge
	Labels  []string
	// Read returns the values. They are published even if there is an error, which is logged. It may
	// be called concurrently.
	Read func() ([]Value, error)
}

// Value is a metric's value for values of its labels, in the metric's order.
type Value struct {
	Value  float64
	Labels []string
}

// Add adds metrics. It panics if a name is taken or malformed, because names are constants.
func (m *Metrics) Add(metrics ...Metric) {
	for _, metric := range metrics {
		about := prometheus.NewDesc(metric.Name, metric.Help, metric.Labels, nil)
		c := collector{metric.Read, about, prometheus.GaugeValue}
		if metric.Counter {
			c.kind = prometheus.CounterValue
		}
		m.registry.MustRegister(c)
	}
}

// collector is a Metric as a prometheus.Collector.
type collector struct {
	values func() ([]Value, error)
	about  *prometheus.Desc
	kind   prometheus.ValueType
}

// Describe implements prometheus.Collector.
func (c collector) Describe(about chan<- *prometheus.Desc) { about <- c.about }

// Collect implements prometheus.Collector.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	values, err := c.values()
	for _, v := range values {
		metrics <- prometheus.MustNewConstMetric(c.about, c.kind, v.Value, v.Labels...)
	}
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(c.about, err)
	}
}

const (
	metricsTimeout = 8 * time.Second // less than the 10 s of Prometheus' default
	metricsReaders = 4               // requests at the same time
)

// handler returns a handler that answers with all metrics that can be read, and logs why others
// cannot.
func (m *Metrics) handler(logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		Timeout:             metricsTimeout,
		MaxRequestsInFlight: metricsReaders,
	})
}
