package cosmos

import "context"

// The package's tests use these.

const (
	MetadataLimit     = metadataLimit
	OperationReadMany = operationReadMany
	ThrottleRetries   = throttleRetries
)

type MetadataPolicy = metadataPolicy

// RecorderOf returns the recorder of a context.
func RecorderOf(ctx context.Context) Recorder { return ctx.Value(recorderKey{}).(Recorder) }

// Spend notes a charge.
func (l *ChargeLimit) Spend(charge float64) { l.spend(charge) }
