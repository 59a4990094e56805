package telemetry

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
)

// Observer serves the readiness and the metrics of a process over HTTP.
type Observer struct {
	Metrics *Metrics
	Top     func(n int) any // the report of the n that spent most of each kind, at /top; nil if there is none
	Checks  []Check
	Logger  *slog.Logger
}

// Handler returns the handler of an address that only the operator can reach: GET /healthz,
// /readyz and /metrics.
func (o Observer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", o.readyz)
	mux.Handle("GET /metrics", o.MetricsHandler())
	if o.Top != nil {
		mux.Handle("GET /top", o.TopHandler())
	}
	return mux
}

// mostSpenders is the number of entries of each list of /top without `n`.
const mostSpenders = 20

// TopHandler returns a handler that answers with the report of Top. The parameter `n` is its number
// of entries.
func (o Observer) TopHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("n"), strconv.Itoa(mostSpenders)))
		if err != nil || n < 1 {
			writeJSON(w, http.StatusBadRequest, map[string]any{"error": "n must be a positive number"})
			return
		}
		writeJSON(w, http.StatusOK, o.Top(n))
	})
}

// MetricsHandler returns a handler that answers with the metrics.
func (o Observer) MetricsHandler() http.Handler { return o.Metrics.handler(o.Logger) }

// readyz answers 200 if all checks are ready, and otherwise 503.
func (o Observer) readyz(w http.ResponseWriter, r *http.Request) {
	report, ready := Report(r.Context(), o.Checks, o.Logger)
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, report)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic("telemetry: a response that is not JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(text)
}
