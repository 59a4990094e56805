package api

import (
	"context"
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/internal/telemetry"
)

// healthz responds with 200 as long as the process runs.
func healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"status": "ok"})
}

// readyz runs the readiness checks. It responds with 200 if all succeed, otherwise with 503.
func (a *api) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), a.Limits.Time)
	defer cancel()
	report, ready := telemetry.Report(ctx, a.Ready, a.Logger)
	if !ready {
		report["errors"] = gqlerror.List{errNotReady}
		writeJSON(w, http.StatusServiceUnavailable, report)
		return
	}
	writeJSON(w, http.StatusOK, report)
}

var errNotReady = &gqlerror.Error{
	Message:    "Not ready. `waiting` lists the checks that failed.",
	Extensions: map[string]any{"code": blog.Internal},
}

func writeJSON(w http.ResponseWriter, status int, body map[string]any) {
	write(w, answer{contentType: jsonType, status: status, body: mustMarshal(body)})
}
