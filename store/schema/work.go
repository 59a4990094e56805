package schema

// The types of the items of pending work in leases (store/chores).
const (
	TypeSweep    = "sweep"
	TypeSwept    = "swept" // a sweep that is done
	TypeDeletion = "deletion"
	TypePurge    = "purge"
)

// SweepID returns the id of a user's sweep in leases.
func SweepID(userID string) string { return TypeSweep + "." + userID }

// DeletionID returns the id of a user's deletion in leases.
func DeletionID(userID string) string { return TypeDeletion + "." + userID }

// PurgeID returns the id of a post's purge in leases.
func PurgeID(postID string) string { return TypePurge + "." + postID }
