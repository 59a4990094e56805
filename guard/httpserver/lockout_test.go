package httpserver

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"cosmosblog/guard/limits"
	"cosmosblog/internal/lifecycle"
)

// TestIdleConnectionsDoNotLockOutOthers opens as many connections as the server allows, uses each
// once, and asks on another one.
func TestIdleConnectionsDoNotLockOutOthers(t *testing.T) {
	err := lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
		l := limitsWith(func(l *limits.Limits) { l.Connections = 20 })
		listener, err := Listen(r, "--addr", "127.0.0.1:0", l)
		if err != nil {
			return err
		}
		server := Server{Handler: http.NotFoundHandler(), Limits: l, Logger: discard, DrainTime: time.Millisecond}
		r.Go("server", func(ctx context.Context) error { return server.Serve(ctx, listener) })
		for range l.Connections + 1 {
			client := http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}
			response, err := client.Get("http://" + listener.Addr().String() + "/healthz")
			if err != nil {
				return err
			}
			io.Copy(io.Discard, response.Body) // otherwise the client closes the connection
			response.Body.Close()
			t.Cleanup(client.CloseIdleConnections)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
