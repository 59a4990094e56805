package changefeed

// Exported for the package's tests.
const (
	MaxLettersCounted = maxLettersCounted
	MaxReason         = maxReason
)
