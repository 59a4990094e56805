//go:build ci

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnavailableCollector checks that a server answers and ends without errors if the
// collector is down or does not respond.
func TestUnavailableCollector(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnected
		<-r.Context().Done()
	}))
	defer silent.Close()
	for _, endpoint := range []string{"http://127.0.0.1:1", silent.URL} {
		server, api := serving(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint}, "--data", filepath.Join(t.TempDir(), "data"))
		api.Ask(t, `{ feed { nodes { id } } }`, nil, nil)
		server.terminate(t)
		if log := server.stderr.String(); !strings.Contains(log, "spans were not sent") {
			t.Errorf("the log does not report the failure: %s", log)
		}
	}
}
