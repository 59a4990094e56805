package telemetry_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cosmosblog/internal/telemetry"
)

func observer(log *strings.Builder, checks ...telemetry.Check) telemetry.Observer {
	return telemetry.Observer{
		Metrics: telemetry.NewMetrics(),
		Checks:  checks,
		Logger:  slog.New(slog.NewTextHandler(log, nil)),
	}
}

func ask(o telemetry.Observer, method, target string) *httptest.ResponseRecorder {
	r := httptest.NewRecorder()
	o.Handler().ServeHTTP(r, httptest.NewRequest(method, target, nil))
	return r
}

func TestMetricsAreRead(t *testing.T) {
	var log strings.Builder
	o := observer(&log)
	o.Metrics.Add(telemetry.Metric{
		Name: "cosmosblog_things_total", Help: "Things.", Counter: true, Labels: []string{"kind"},
		Read: func() ([]telemetry.Value, error) {
			return []telemetry.Value{{3, []string{"a"}}, {4, []string{"b"}}}, nil
		},
	}, telemetry.Metric{
		Name: "cosmosblog_height_meters", Help: "A height.",
		Read: func() ([]telemetry.Value, error) { return []telemetry.Value{{Value: 1.5}}, nil },
	})
	got := ask(o, "GET", "/metrics").Body.String()
	for _, line := range []string{
		"# TYPE cosmosblog_things_total counter",
		`cosmosblog_things_total{kind="a"} 3`,
		`cosmosblog_things_total{kind="b"} 4`,
		"# TYPE cosmosblog_height_meters gauge", "cosmosblog_height_meters 1.5", "go_goroutines ",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("there is no %q in:\n%s", line, got)
		}
	}
}

// The response holds the values that could be read. The log has the error.
func TestMetricsWithAnError(t *testing.T) {
	var log strings.Builder
	o := observer(&log)
	o.Metrics.Add(telemetry.Metric{
		Name: "cosmosblog_half", Help: "A half.", Labels: []string{"kind"},
		Read: func() ([]telemetry.Value, error) {
			return []telemetry.Value{{1, []string{"a"}}}, errors.New("S3CRET")
		},
	})
	r := ask(o, "GET", "/metrics")
	text := r.Body.String()
	if r.Code != http.StatusOK || !strings.Contains(text, `cosmosblog_half{kind="a"} 1`) ||
		strings.Contains(text, "S3CRET") {
		t.Errorf("got %d %s", r.Code, text)
	}
	if !strings.Contains(log.String(), "S3CRET") {
		t.Errorf("the cause is not in the log: %s", log.String())
	}
}

func TestReadinessHoldsTheDetailsOfChecks(t *testing.T) {
	var log strings.Builder
	var reason error
	o := observer(&log,
		telemetry.Check{Name: "engine", Ready: func(context.Context) (any, error) { return nil, nil }},
		telemetry.Check{Name: "lag", Ready: func(context.Context) (any, error) { return []int{7}, reason }})
	if r := ask(o, "GET", "/readyz"); r.Code != http.StatusOK || r.Body.String() != `{"lag":[7],"status":"ready"}` {
		t.Errorf("got %d %s", r.Code, r.Body)
	}
	reason = errors.New("S3CRET")
	r := ask(o, "GET", "/readyz")
	const want = `{"lag":[7],"status":"not ready","waiting":["lag"]}`
	if r.Code != http.StatusServiceUnavailable || r.Body.String() != want {
		t.Errorf("got %d %s", r.Code, r.Body)
	}
	if !strings.Contains(log.String(), "S3CRET") {
		t.Errorf("the cause is not in the log: %s", log.String())
	}
}

func TestRoutes(t *testing.T) {
	var log strings.Builder
	o := observer(&log)
	for request, want := range map[string]int{
		"GET /healthz": 200, "HEAD /readyz": 200, "GET /metrics": 200,
		"POST /metrics": 405, "POST /healthz": 405, "GET /": 404,
	} {
		method, target, _ := strings.Cut(request, " ")
		if r := ask(o, method, target); r.Code != want {
			t.Errorf("%s: %d, want %d", request, r.Code, want)
		}
	}
}
