package httpapi

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
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

// readyz runs the checks: 200 where all are ready, otherwise 503 with the names of those that are not. Why is for the log.
func (a *api) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), a.Timeout)
	defer cancel()
	waiting := []string{}
	for _, check := range a.Ready {
		if err := check.Ready(ctx); err != nil {
			waiting = append(waiting, check.Name)
			a.Logger.LogAttrs(ctx, slog.LevelWarn, "not ready", slog.String("check", check.Name), slog.Any("cause", err))
		}
	}
	if len(waiting) > 0 {
		writeJSON(w, http.StatusServiceUnavailable, map[string]any{"status": "not ready", "waiting": waiting, "errors": gqlerror.List{errNotReady}})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"status": "ready"})
}

var errNotReady = &gqlerror.Error{Message: "Not ready: see `waiting`.", Extensions: map[string]any{"code": blog.Internal}}

func writeJSON(w http.ResponseWriter, status int, body map[string]any) {
	write(w, jsonType, status, mustMarshal(body))
}
