package follow

import "time"

const (
	// maxAge is the greatest age of a position. Deleted items expire after seven days
	// (views.DeletedTTL), and the feeds then no longer show that they were deleted. The last day is
	// for the time of the run.
	maxAge = 6 * 24 * time.Hour

	// maxAhead is how far ahead of the database a position may be: its dates are whole seconds.
	maxAhead = time.Hour
)

// AgeError is the error of a position from which a reader may miss deletions.
type AgeError struct {
	reason string
	IsLate bool // whoever reads faster does not get it
}

// Error returns the reason, which is a sentence without a capital or full stop.
func (e *AgeError) Error() string { return e.reason }

// CheckAges checks that no deletion behind positions can have expired. now is by the clock of the
// database, which expires items by it. That of the machine may be wrong in one run and right in the
// next. Error: *AgeError.
func CheckAges(positions []Position, now time.Time) error {
	for _, p := range positions {
		since := p.Since.UTC().Format(time.RFC3339)
		switch age := now.Sub(p.Since); {
		case p.IsAllItems():
		case age > maxAge:
			return &AgeError{"the changes since " + since + " are read too late: deleted items are visible for seven days only", true}
		case age < -maxAhead:
			return &AgeError{"the last run was at " + since + ", which is in the future", false}
		}
	}
	return nil
}
