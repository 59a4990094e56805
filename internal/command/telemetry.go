package command

import (
	"context"

	"cosmosblog/internal/telemetry"
	"cosmosblog/store"
)

// StartTelemetry gives the task a traffic, which logs every request to the API and, where an endpoint for them is
// configured, sends traces. stop sends those that are left; a collector that is away keeps nobody from ending well. Error:
// a setting of the traces is malformed.
func StartTelemetry(ctx context.Context, task Task) (told Task, stop func(), err error) {
	var tracing *telemetry.Tracing
	if endpoint := task.Config.TracesEndpoint; endpoint != "" {
		tracing, err = telemetry.StartTracing(ctx, endpoint, versionText(version, buildInfo()), task.Logger)
		if err != nil {
			return task, nil, err
		}
	}
	task.Traffic = telemetry.NewTraffic(telemetry.TrafficOptions{Logger: task.Logger, Tracing: tracing})
	return task, func() {
		if err := tracing.Close(); err != nil {
			task.Logger.Warn("the last spans were not sent", "cause", err)
		}
	}, nil
}

// recorder is told of the requests that are sent to the database; nil where nobody wants to know.
func (t Task) recorder() store.Recorder {
	if t.Traffic == nil {
		return nil
	}
	return meter{t.Traffic}
}

// meter tells a traffic of a store's requests.
type meter struct{ traffic *telemetry.Traffic }

// Record implements store.Recorder.
func (m meter) Record(ctx context.Context, request store.Request) {
	m.traffic.Sent(ctx, telemetry.Sent{
		Container: request.Container,
		Operation: request.Operation,
		Status:    request.Status,
		Charge:    request.Charge,
		Begun:     request.Begun,
		Retry:     request.Retry,
	})
}
