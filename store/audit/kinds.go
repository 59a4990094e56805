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
	only      string // the partition of the only target; empty if the container's items name the targets

	compare func(c comparer, ctx context.Context, partition string) ([]Drift, error)
	counter func(r *Result) *int64 // the number of compared targets; nil for a kind with one target
}

// kinds has all kinds in the order in which they are compared. Posts come before the users and
// lists that have their copies, and the feed is last.
var kinds = []kind{
	{schema.Posts, "", comparer.comparePost, func(r *Result) *int64 { return &r.Posts }},
	{schema.Users, "", comparer.compareUser, func(r *Result) *int64 { return &r.Users }},
	{schema.Usernames, "", comparer.compareReservation, func(r *Result) *int64 { return &r.Usernames }},
	{schema.Lists, "", comparer.compareList, func(r *Result) *int64 { return &r.Lists }},
	{schema.Feed, schema.FeedPartition, comparer.compareFeed, nil},
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
		if k.only == "" {
			containers = append(containers, k.container)
		}
	}
	return containers
}
