package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
)

// Difference is a property of an existing resource that differs from its definition.
type Difference struct {
	Resource string // "container posts"
	Property string // "partition key"
	Actual   string
	Expected string

	// Missing is what requests cannot do without, such as "the composite index (/type, /id)". A
	// difference without it only costs more.
	Missing []string
	// Tolerated: a former release may need what is superfluous here, so provision accepts it.
	Tolerated bool
}

func (d Difference) String() string {
	return fmt.Sprintf("the %s of the %s is %s and should be %s", d.Property, d.Resource, d.Actual, d.Expected)
}

// Differences compares an existing container with its definition.
func (c Container) Differences(actual azcosmos.ContainerProperties) []Difference {
	expected := c.Properties()
	var found []Difference
	compare := func(property, actual, expected string, missing ...string) {
		if actual != expected {
			found = append(found, Difference{
				Resource: "container " + c.Name, Property: property, Actual: actual, Expected: expected, Missing: missing,
			})
		}
	}
	key := keyText(expected.PartitionKeyDefinition)
	compare("partition key", keyText(actual.PartitionKeyDefinition), key, "the partition key "+key)
	compare("defaultTtl", ttlText(actual.DefaultTimeToLive), ttlText(expected.DefaultTimeToLive))
	compare("set of unique keys", uniqueText(actual.UniqueKeyPolicy), uniqueText(expected.UniqueKeyPolicy))
	is, should := actual.IndexingPolicy, expected.IndexingPolicy
	if is == nil {
		is = &azcosmos.IndexingPolicy{}
	}
	compare("indexing mode", modeText(is), modeText(should), "the indexing mode "+modeText(should))
	compare("list of included index paths", listText(includedPaths(is)), listText(includedPaths(should)),
		notIndexed(is, includedPaths(should))...)
	needed := slices.DeleteFunc(excludedPaths(is), func(path string) bool {
		return !indexes(should, path) || slices.Contains(includedPaths(should), path)
	})
	compare("list of excluded index paths", listText(excludedPaths(is)), listText(excludedPaths(should)),
		notIndexed(is, needed)...)
	compare("number of spatial, vector and full text indexes", otherText(is), otherText(should))
	var missing []string
	for _, sort := range compositeTexts(should) {
		if !slices.Contains(compositeTexts(is), sort) {
			missing = append(missing, "the composite index "+sort)
		}
	}
	before := len(found)
	compare("list of composite indexes", listText(compositeTexts(is)), listText(compositeTexts(should)), missing...)
	for i := range found[before:] {
		found[before+i].Tolerated = len(missing) == 0
	}
	return found
}

// notIndexed says which of the paths a policy does not index.
func notIndexed(policy *azcosmos.IndexingPolicy, paths []string) (missing []string) {
	for _, path := range paths {
		if !indexes(policy, path) {
			missing = append(missing, "an index of the path "+path)
		}
	}
	return missing
}

// indexes reports whether a policy indexes a path. Of the listed paths that cover it, the most
// precise decides (learn.microsoft.com/azure/cosmos-db/index-policy, "Include/exclude precedence").
func indexes(policy *azcosmos.IndexingPolicy, path string) bool {
	return precision(includedPaths(policy), path) > precision(excludedPaths(policy), path)
}

// precision returns that of the most precise of the listed paths that cover a path, and 0 if none
// does. /a/? is more precise than /a/*.
func precision(listed []string, path string) int {
	most := 0
	for _, l := range listed {
		below, isTree := strings.CutSuffix(l, "*")
		switch {
		case l == path && !isTree:
			most = max(most, 2*len(l)+1)
		case l == path, isTree && strings.HasPrefix(path, below):
			most = max(most, 2*len(l))
		}
	}
	return most
}

func keyText(key azcosmos.PartitionKeyDefinition) string {
	return fmt.Sprintf("%s (version %d)", strings.Join(key.Paths, ", "), max(1, key.Version))
}

func ttlText(ttl *int32) string {
	if ttl == nil {
		return "off"
	}
	return fmt.Sprint(*ttl)
}

func uniqueText(policy *azcosmos.UniqueKeyPolicy) string {
	var keys []string
	if policy != nil {
		for _, key := range policy.UniqueKeys {
			keys = append(keys, "("+strings.Join(key.Paths, ", ")+")")
		}
	}
	return listText(keys)
}

// listText returns a list whose order does not matter as one text.
func listText(list []string) string {
	if len(list) == 0 {
		return "empty"
	}
	return strings.Join(slices.Sorted(slices.Values(list)), ", ")
}

func modeText(policy *azcosmos.IndexingPolicy) string {
	mode := strings.ToLower(string(policy.IndexingMode))
	if !policy.Automatic {
		mode += ", not automatic"
	}
	return mode
}

func includedPaths(policy *azcosmos.IndexingPolicy) (paths []string) {
	for _, path := range policy.IncludedPaths {
		paths = append(paths, path.Path)
	}
	return paths
}

func excludedPaths(policy *azcosmos.IndexingPolicy) (paths []string) {
	for _, path := range policy.ExcludedPaths {
		paths = append(paths, path.Path)
	}
	return paths
}

func otherText(policy *azcosmos.IndexingPolicy) string {
	return fmt.Sprint(len(policy.SpatialIndexes) + len(policy.VectorIndexes) + len(policy.FullTextIndexes))
}

func compositeTexts(policy *azcosmos.IndexingPolicy) (texts []string) {
	for _, index := range policy.CompositeIndexes {
		texts = append(texts, compositeText(index))
	}
	return texts
}

// compositeText returns a composite index as ORDER BY writes it. A path without an order is
// ascending.
func compositeText(index []azcosmos.CompositeIndex) string {
	paths := make([]string, len(index))
	for i, part := range index {
		paths[i] = part.Path
		if strings.EqualFold(string(part.Order), string(azcosmos.CompositeIndexDescending)) {
			paths[i] += " desc"
		}
	}
	return "(" + strings.Join(paths, ", ") + ")"
}

// IndexError lists what existing containers lack and queries cannot do without.
type IndexError struct {
	Database string
	Missing  []string // "the container posts lacks the composite index (/type, /id)"

	byToken bool // Entra ID authorizes the requests
}

func (e *IndexError) Error() string {
	advice := "change the indexing policy in the portal, or with az cosmosdb sql container update --idx, " +
		"to the one that provision --print bicep prints, and run the command provision, which compares the result"
	if e.byToken {
		advice = "deploy the template of provision --print bicep, because Entra ID cannot change containers"
	}
	return fmt.Sprintf("queries to the database %s would fail or read whole containers, because %s: %s",
		e.Database, strings.Join(e.Missing, ", and "), advice)
}

var _ cosmos.DefiniteError = (*IndexError)(nil)

// IsDefinite implements cosmos.DefiniteError.
func (*IndexError) IsDefinite() {}

// CheckDefinitions compares the containers, which must exist, with their definitions. dearer are
// the differences that only cost more, one sentence each. A token of Entra ID may read containers:
// SDKs do so for "the partition key of your containers or their indexing policy"
// (learn.microsoft.com/azure/cosmos-db/how-to-setup-rbac#metadata-requests). Errors: *IndexError;
// that of a request.
func CheckDefinitions(ctx context.Context, db *cosmos.DB) (dearer []string, err error) {
	lacking := &IndexError{Database: db.Name(), byToken: !db.HasKey()}
	for _, c := range Containers {
		response, err := db.Container(c.Name).Read(ctx, nil)
		if err != nil {
			return nil, fmt.Errorf("reading the container %s of the database %s: %w", c.Name, db.Name(), cosmos.SetupError(err))
		}
		for _, d := range c.Differences(*response.ContainerProperties) {
			for _, missing := range d.Missing {
				lacking.Missing = append(lacking.Missing, "the "+d.Resource+" lacks "+missing)
			}
			if d.Missing == nil {
				dearer = append(dearer, d.String())
			}
		}
	}
	if len(lacking.Missing) > 0 {
		return nil, lacking
	}
	return dearer, nil
}
