package audit

// The package's tests use these.

const MaxLooks = maxLooks

// Believed reports whether an audit believes a drift: its source did not change while it was read.
func (d Drift) Believed() bool { return d.source != "" }
