package monitor

import (
	"context"
	"log/slog"

	"cosmosblog/internal/lifecycle"
	"cosmosblog/internal/telemetry"
	"cosmosblog/store/cosmos"
)

// StartTraffic returns a Traffic that logs each request to the API until r closes. If
// tracesEndpoint is not empty, it sends traces there. Closing sends the remaining spans; if the
// collector does not answer, this is logged and is not an error. version is the program's
// version for the traces.
func StartTraffic(
	r *lifecycle.Runner, tracesEndpoint, version string, logger *slog.Logger,
) (*telemetry.Traffic, error) {
	var tracing *telemetry.Tracing
	if tracesEndpoint != "" {
		var err error
		if tracing, err = telemetry.StartTracing(r.Context(), tracesEndpoint, version, logger); err != nil {
			return nil, err
		}
		r.OnClose(func() error {
			if err := tracing.Close(); err != nil {
				logger.Warn("the last spans were not sent", "cause", err)
			}
			return nil
		})
	}
	return telemetry.NewTraffic(logger, tracing), nil
}

// Recorder returns a recorder that counts a store's requests in a traffic. It returns nil if
// traffic is nil.
func Recorder(traffic *telemetry.Traffic) cosmos.Recorder {
	if traffic == nil {
		return nil
	}
	return recorder{traffic}
}

type recorder struct{ traffic *telemetry.Traffic }

// Record implements cosmos.Recorder.
func (r recorder) Record(ctx context.Context, request cosmos.Request) {
	r.traffic.Sent(ctx, telemetry.Sent{
		Container:  request.Container,
		Operation:  request.Operation,
		Status:     request.Status,
		Charge:     request.Charge,
		Begun:      request.Begun,
		Retry:      request.Retry,
		Background: request.Background,
	})
}
