// Package schema defines what a database of the blog contains: containers with their indexes, the
// types of items, and the stored procedures and triggers (folder js).
package schema

import "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

// The containers' names.
const (
	Users       = "users"
	Posts       = "posts"
	Feed        = "feed"
	Usernames   = "usernames"
	Leases      = "leases"
	DeadLetters = "deadletters"
)

// Container is what one container is made of.
type Container struct {
	Name         string
	PartitionKey string   // its path
	Included     []string // index paths beside /*, see indexing
	Excluded     []string // index paths: large texts that no query looks at, so that writes need not pay for them
	Sorts        [][]azcosmos.CompositeIndex
}

// newestFirst is ORDER BY c.type, c.creationDate DESC, c.id DESC; oldestFirst is ORDER BY c.type, c.creationDate, c.id.
var (
	newestFirst = sortBy(azcosmos.CompositeIndexDescending)
	oldestFirst = sortBy(azcosmos.CompositeIndexAscending)
)

func sortBy(order azcosmos.CompositeIndexOrder) []azcosmos.CompositeIndex {
	return []azcosmos.CompositeIndex{
		{Path: "/type", Order: azcosmos.CompositeIndexAscending},
		{Path: "/creationDate", Order: order},
		{Path: "/id", Order: order},
	}
}

// Containers are all containers, in the order in which they are made.
var Containers = []Container{
	{
		Name:         Users,
		PartitionKey: "/userId",
		Excluded:     []string{"/title/?", "/excerpt/?"},
		Sorts:        [][]azcosmos.CompositeIndex{newestFirst},
	},
	{
		Name:         Posts,
		PartitionKey: "/postId",
		Included:     []string{"/userId/?"}, // what a renamed user wrote is looked up across partitions
		Excluded:     []string{"/title/?", "/content/?", "/excerpt/?", "/inputHash/?"},
		Sorts:        [][]azcosmos.CompositeIndex{newestFirst, oldestFirst},
	},
	{
		Name:         Feed,
		PartitionKey: "/type",
		Excluded:     []string{"/title/?", "/excerpt/?"},
		Sorts:        [][]azcosmos.CompositeIndex{newestFirst},
	},
	{Name: Usernames, PartitionKey: "/id"},
	{Name: Leases, PartitionKey: "/id"},
	{Name: DeadLetters, PartitionKey: "/id"},
}

func ContainerNames() []string {
	names := make([]string, len(Containers))
	for i, d := range Containers {
		names[i] = d.Name
	}
	return names
}

// Items have a ttl of their own or none: a default of -1 turns ttl on and lets nothing expire by itself.
const defaultTimeToLive int32 = -1

// Properties gives the definition as azcosmos sends it. The partition key's version must be said: without it the
// service makes a container of version 1, whose keys have at most 101 bytes.
func (d Container) Properties() azcosmos.ContainerProperties {
	ttl := defaultTimeToLive
	return azcosmos.ContainerProperties{
		ID:                     d.Name,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{d.PartitionKey}, Version: 2},
		DefaultTimeToLive:      &ttl,
		IndexingPolicy:         d.Indexing(),
	}
}

// indexingMode is written as the service answers it, which is not how azcosmos spells it.
const indexingMode azcosmos.IndexingMode = "consistent"

// Indexing is the service's own policy, everything but _etag, with this definition's paths and sorts. A path that is
// listed beside /* changes nothing there; the embedded engine keeps an index over the whole container for it.
func (d Container) Indexing() *azcosmos.IndexingPolicy {
	policy := &azcosmos.IndexingPolicy{
		Automatic:        true,
		IndexingMode:     indexingMode,
		IncludedPaths:    []azcosmos.IncludedPath{{Path: "/*"}},
		ExcludedPaths:    []azcosmos.ExcludedPath{{Path: `/"_etag"/?`}},
		CompositeIndexes: d.Sorts,
	}
	for _, path := range d.Included {
		policy.IncludedPaths = append(policy.IncludedPaths, azcosmos.IncludedPath{Path: path})
	}
	for _, path := range d.Excluded {
		policy.ExcludedPaths = append(policy.ExcludedPaths, azcosmos.ExcludedPath{Path: path})
	}
	return policy
}

// FeedPartition is the one partition of feed: its items' type.
const FeedPartition = TypePost
