// Package schema defines the contents of a database of the blog: containers with their indexes,
// item types, stored procedures and triggers (folder js).
package schema

import (
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Names of the containers.
const (
	Users       = "users"
	Posts       = "posts"
	Feed        = "feed"
	Lists       = "lists"
	Usernames   = "usernames"
	Leases      = "leases"
	DeadLetters = "deadletters"
)

// Container defines one container.
type Container struct {
	Name         string
	partitionKey string                      // path
	included     []string                    // index paths besides /* (indexing)
	excluded     []string                    // paths that no query reads: saves RU
	only         []string                    // index paths instead of /*, if not empty
	sorts        [][]azcosmos.CompositeIndex // composite indexes
}

// The sort orders of lists: newestFirst is ORDER BY c.type, c.sortKey DESC, or the reverse of both;
// liveFirst is ORDER BY c.deleted, c.sortKey DESC. Lists fix the first property, so they never read
// a tombstone: it has another type. In feed, all items are of one type, and tombstones have another
// value of deleted.
//
// The key is one property, and the last one, because only a range on the last path of a composite
// index is sure to seek (learn.microsoft.com/azure/cosmos-db/index-policy#composite-indexes). A
// page that begins deep in a list would otherwise be charged for what is before it.
var (
	newestFirst = sortByKey("/type")
	liveFirst   = sortByKey("/deleted")
)

// mostUsedFirst is ORDER BY c.type, c.weight DESC, c.id. Its query has no range: it only reads the
// first tags.
var mostUsedFirst = []azcosmos.CompositeIndex{
	{Path: "/type", Order: azcosmos.CompositeIndexAscending},
	{Path: "/weight", Order: azcosmos.CompositeIndexDescending},
	{Path: "/id", Order: azcosmos.CompositeIndexAscending},
}

func sortByKey(first string) []azcosmos.CompositeIndex {
	return []azcosmos.CompositeIndex{
		{Path: first, Order: azcosmos.CompositeIndexAscending},
		{Path: "/sortKey", Order: azcosmos.CompositeIndexDescending},
	}
}

// Containers are all containers, in the order of their creation.
var Containers = []Container{
	{
		Name:         Users,
		partitionKey: "/userId",
		excluded:     []string{"/head/*", "/formerLists/*", "/recentComments/*", "/creationDate/?"},
		sorts:        [][]azcosmos.CompositeIndex{newestFirst},
	},
	{
		Name:         Posts,
		partitionKey: "/postId",
		included:     []string{"/userId/?"}, // renames query all partitions for the items of a user
		excluded:     []string{"/head/*", "/content/?", "/excerpt/?", "/recentComments/*", "/lastCommentDate/?", "/contentVersion/?", "/inputHash/?", "/edits/*", "/creationDate/?"},
		sorts:        [][]azcosmos.CompositeIndex{newestFirst},
	},
	{
		Name:         Feed,
		partitionKey: "/type",
		excluded:     []string{"/head/*", "/recentComments/*", "/creationDate/?"},
		sorts:        [][]azcosmos.CompositeIndex{liveFirst},
	},
	{
		Name:         Lists,
		partitionKey: "/list",
		excluded:     []string{"/head/*", "/creationDate/?"},
		sorts:        [][]azcosmos.CompositeIndex{newestFirst, mostUsedFirst},
	},
	{
		Name:         Usernames,
		partitionKey: "/id",
		included:     []string{"/userId/?"}, // the last pass of a rename queries the reservations of the user
	},
	{
		Name:         Leases,
		partitionKey: "/id",
		only:         []string{"/type/?"}, // projectors write it all the time
	},
	{Name: DeadLetters, partitionKey: "/id"},
}

// ContainerNames returns the names of all containers, in the order of their creation.
func ContainerNames() []string {
	names := make([]string, len(Containers))
	for i, c := range Containers {
		names[i] = c.Name
	}
	return names
}

// defaultTimeToLive is -1: items expire only if they have a ttl.
const defaultTimeToLive int32 = -1

// Properties returns the definition for azcosmos. It states version 2 of the partition key.
// Otherwise, the service creates a container of version 1, whose partition keys are limited to
// 101 bytes.
func (c Container) Properties() azcosmos.ContainerProperties {
	ttl := defaultTimeToLive
	return azcosmos.ContainerProperties{
		ID:                     c.Name,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{c.partitionKey}, Version: 2},
		DefaultTimeToLive:      &ttl,
		IndexingPolicy:         c.indexing(),
	}
}

// indexingMode is spelled as the service returns it. azcosmos's own constant differs.
const indexingMode azcosmos.IndexingMode = "consistent"

// indexing returns the service's default policy (everything except _etag), with the paths and sorts
// of the container, or a policy of a few paths. On the service, a path listed besides /* has no
// effect. For the embedded engine, it declares an index over the whole container.
func (c Container) indexing() *azcosmos.IndexingPolicy {
	policy := &azcosmos.IndexingPolicy{
		Automatic:        true,
		IndexingMode:     indexingMode,
		IncludedPaths:    []azcosmos.IncludedPath{{Path: "/*"}},
		ExcludedPaths:    []azcosmos.ExcludedPath{{Path: `/"_etag"/?`}},
		CompositeIndexes: c.sorts,
	}
	if len(c.only) > 0 {
		policy.IncludedPaths = nil
		policy.ExcludedPaths = append(policy.ExcludedPaths, azcosmos.ExcludedPath{Path: "/*"})
	}
	for _, path := range slices.Concat(c.included, c.only) {
		policy.IncludedPaths = append(policy.IncludedPaths, azcosmos.IncludedPath{Path: path})
	}
	for _, path := range c.excluded {
		policy.ExcludedPaths = append(policy.ExcludedPaths, azcosmos.ExcludedPath{Path: path})
	}
	return policy
}

// FeedPartition is the partition key of all items in feed: their type.
const FeedPartition = TypePost
