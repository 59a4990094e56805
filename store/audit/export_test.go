package audit

import "cosmosblog/store/schema"

// Exported for the package's tests.

const (
	AuditedProperties = auditedProperties
	MaxRecomparisons  = maxRecomparisons
)

// IsConfirmable reports whether an audit can confirm a drift: its source did not change during
// the comparison.
func (d Drift) IsConfirmable() bool { return d.sourceState != "" }

// CopyDrifts is copyDrifts.
func CopyDrifts(copy, post schema.PostItem) []Drift {
	return copyDrifts(schema.Users, post.UserID, &auditedItem{PostItem: copy}, &auditedItem{PostItem: post})
}
