package audit

// This file exports what the package's tests use.

const MaxRecomparisons = maxRecomparisons

// IsConfirmable reports whether an audit can confirm a drift: its source did not change during
// the comparison.
func (d Drift) IsConfirmable() bool { return d.sourceState != "" }
