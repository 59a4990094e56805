package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
)

// Check tells whether one part of the server is ready to answer; nil where it is. It is given the context of the
// request that asks, and may be called concurrently.
type Check struct {
	Name  string
	Ready func(ctx context.Context) error
}

// healthz answers as long as the process does.
func healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"status": "ok"})
}

// readyz runs the checks: 200 where all are ready, otherwise 503 with the names of those that are not. Why is for the
// log of the part itself.
func (a *api) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), a.Timeout)
	defer cancel()
	waiting := []string{}
	for _, check := range a.Ready {
		if check.Ready(ctx) != nil {
			waiting = append(waiting, check.Name)
		}
	}
	if len(waiting) > 0 {
		writeJSON(w, http.StatusServiceUnavailable, map[string]any{"status": "not ready", "waiting": waiting})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"status": "ready"})
}

func writeJSON(w http.ResponseWriter, status int, body map[string]any) {
	text, _ := json.Marshal(body) // a map of texts: it cannot fail
	write(w, jsonType, status, text)
}
