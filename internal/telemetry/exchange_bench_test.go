package telemetry_test

import (
	"io"
	"log/slog"
	"net/http"
	"testing"

	"cosmosblog/internal/telemetry"
)

// BenchmarkExchange records an exchange with one request to the database, with its metrics alone,
// and with its log line too. The lines are discarded.
func BenchmarkExchange(b *testing.B) {
	for _, c := range []struct {
		name   string
		logger *slog.Logger
	}{
		{"counted", nil},
		{"logged", telemetry.NewLogger(io.Discard, false, slog.LevelInfo)},
		{"logged for people", telemetry.NewLogger(io.Discard, true, slog.LevelInfo)},
	} {
		b.Run(c.name, func(b *testing.B) {
			traffic := telemetry.NewTraffic(c.logger, nil)
			handler := recorded(traffic, "192.0.2.7", func(w http.ResponseWriter, r *http.Request) {
				ctx, done := telemetry.ExchangeOf(r.Context()).Operate(r.Context(), "Feed", "query")
				defer done()
				traffic.Sent(ctx, telemetry.Sent{Container: "feed", Operation: "query", Status: 200, Charge: 5.25})
				w.WriteHeader(200)
			})
			request, err := http.NewRequest("POST", "/graphql", nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(headerless{}, request)
			}
		})
	}
}

// headerless is a http.ResponseWriter that discards everything.
type headerless struct{}

func (headerless) Header() http.Header         { return nil }
func (headerless) WriteHeader(int)             {}
func (headerless) Write(p []byte) (int, error) { return len(p), nil }
