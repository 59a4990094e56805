package cosmos

import "context"

// Exported for the package's tests.
const (
	MetadataTimeout = metadataTimeout
	PartitionFull   = partitionFull
	SubstatusHeader = substatusHeader
	ThrottleRetries = throttleRetries
)

// MetadataPolicy is metadataPolicy.
type MetadataPolicy = metadataPolicy

// RecorderOf returns the recorder of a context.
func RecorderOf(ctx context.Context) Recorder { return callOf(ctx).recorder }

// Spend adds a charge.
func (l *ChargeLimit) Spend(charge float64) { l.spend(charge) }
