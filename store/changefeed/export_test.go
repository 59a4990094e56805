package changefeed

// The package's tests use these.

const (
	MaxLettersCounted = maxLettersCounted
	MaxReason         = maxReason
)
