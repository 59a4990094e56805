package audit

// Exported for the package's tests.

const MaxRecomparisons = maxRecomparisons

// IsConfirmable reports whether an audit can confirm a drift: its source did not change during
// the comparison.
func (d Drift) IsConfirmable() bool { return d.sourceState != "" }
