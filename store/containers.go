package store

import "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

// The containers' names.
const (
	usersContainer       = "users"
	postsContainer       = "posts"
	feedContainer        = "feed"
	usernamesContainer   = "usernames"
	leasesContainer      = "leases"
	deadlettersContainer = "deadletters"
)

// definition is what one container is made of.
type definition struct {
	name         string
	partitionKey string   // its path
	included     []string // index paths beside /*, see indexing
	excluded     []string // index paths: large texts that no query looks at, so that writes need not pay for them
	sorts        [][]azcosmos.CompositeIndex
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

// definitions are all containers, in the order in which they are made.
var definitions = []definition{
	{
		name:         usersContainer,
		partitionKey: "/userId",
		excluded:     []string{"/title/?", "/excerpt/?"},
		sorts:        [][]azcosmos.CompositeIndex{newestFirst},
	},
	{
		name:         postsContainer,
		partitionKey: "/postId",
		included:     []string{"/userId/?"}, // what a renamed user wrote is looked up across partitions
		excluded:     []string{"/title/?", "/content/?", "/excerpt/?", "/inputHash/?"},
		sorts:        [][]azcosmos.CompositeIndex{newestFirst, oldestFirst},
	},
	{
		name:         feedContainer,
		partitionKey: "/type",
		excluded:     []string{"/title/?", "/excerpt/?"},
		sorts:        [][]azcosmos.CompositeIndex{newestFirst},
	},
	{name: usernamesContainer, partitionKey: "/id"},
	{name: leasesContainer, partitionKey: "/id"},
	{name: deadlettersContainer, partitionKey: "/id"},
}

func containerNames() []string {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.name
	}
	return names
}

// Items have a ttl of their own or none: a default of -1 turns ttl on and lets nothing expire by itself.
const defaultTimeToLive int32 = -1

// properties gives the definition as azcosmos sends it. The partition key's version must be said: without it the
// service makes a container of version 1, whose keys have at most 101 bytes.
func (d definition) properties() azcosmos.ContainerProperties {
	ttl := defaultTimeToLive
	return azcosmos.ContainerProperties{
		ID:                     d.name,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{d.partitionKey}, Version: 2},
		DefaultTimeToLive:      &ttl,
		IndexingPolicy:         d.indexing(),
	}
}

// indexingMode is written as the service answers it, which is not how azcosmos spells it.
const indexingMode azcosmos.IndexingMode = "consistent"

// indexing is the service's own policy, everything but _etag, with this definition's paths and sorts. A path that is
// listed beside /* changes nothing there; the embedded engine keeps an index over the whole container for it.
func (d definition) indexing() *azcosmos.IndexingPolicy {
	policy := &azcosmos.IndexingPolicy{
		Automatic:        true,
		IndexingMode:     indexingMode,
		IncludedPaths:    []azcosmos.IncludedPath{{Path: "/*"}},
		ExcludedPaths:    []azcosmos.ExcludedPath{{Path: `/"_etag"/?`}},
		CompositeIndexes: d.sorts,
	}
	for _, path := range d.included {
		policy.IncludedPaths = append(policy.IncludedPaths, azcosmos.IncludedPath{Path: path})
	}
	for _, path := range d.excluded {
		policy.ExcludedPaths = append(policy.ExcludedPaths, azcosmos.ExcludedPath{Path: path})
	}
	return policy
}
