package audit

import (
	"context"
	"fmt"

	"cosmosblog/store/schema"
)

// kind is a kind of target, and everything that depends on it. A further kind is one more element
// of kinds.
type kind struct {
	container string
	// partitionOf returns the partition of an item that the container's change feed lists; empty for
	// an item without one. It is nil if the kind has a single target, whose partition is only.
	partitionOf func(item *auditedItem) string
	only        string

	compare func(c comparer, ctx context.Context, partition string) ([]Drift, error)
	repair  func(r repairer, ctx context.Context, partition string, drifts []Drift) error
	// counter returns the number of compared targets in a result; nil for a kind with one target.
	counter func(r *Result) *int64
}

// kinds has all kinds in the order in which they are compared. Posts come before the users and
// lists that have their copies, and the feed is last.
var kinds = []kind{
	{
		container:   schema.Posts,
		partitionOf: func(item *auditedItem) string { return item.PostID },
		compare:     comparer.comparePost,
		repair:      repairer.repairPost,
		counter:     func(r *Result) *int64 { return &r.Posts },
	},
	{
		container:   schema.Users,
		partitionOf: func(item *auditedItem) string { return item.UserID },
		compare:     comparer.compareUser,
		repair:      repairer.repairUser,
		counter:     func(r *Result) *int64 { return &r.Users },
	},
	{
		container:   schema.Usernames,
		partitionOf: func(item *auditedItem) string { return item.ID },
		compare:     comparer.compareReservation,
		repair:      repairer.repairReservation,
		counter:     func(r *Result) *int64 { return &r.Usernames },
	},
	{
		container:   schema.Lists,
		partitionOf: func(item *auditedItem) string { return string(item.List) },
		compare:     comparer.compareList,
		repair:      repairer.repairList,
		counter:     func(r *Result) *int64 { return &r.Lists },
	},
	{
		container: schema.Feed,
		only:      schema.FeedPartition,
		compare:   comparer.compareFeed,
		repair:    repairer.repairFeed,
	},
}

// kindOf returns the kind of the targets of a container.
func kindOf(container string) (kind, error) {
	for _, k := range kinds {
		if k.container == container {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("audit: the container %s is not audited", container)
}

// listedContainers returns the containers of all kinds whose targets are listed.
func listedContainers() (containers []string) {
	for _, k := range kinds {
		if k.isListed() {
			containers = append(containers, k.container)
		}
	}
	return containers
}

// isListed reports whether the container's change feed lists the targets.
func (k kind) isListed() bool { return k.partitionOf != nil }

// target returns the only target of a kind.
func (k kind) target() target { return target{k.container, k.only} }
