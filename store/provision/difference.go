package provision

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Difference is something that is there, and not as it should be.
type Difference struct {
	Of     string // "container posts"
	What   string // "partition key"
	There  string
	Wanted string
}

func (d Difference) String() string {
	return fmt.Sprintf("the %s of the %s is %s and should be %s", d.What, d.Of, d.There, d.Wanted)
}

// DifferenceError says in what a database is not as it should be. Nobody but its owner knows which of the two is right,
// so nothing was changed.
type DifferenceError struct {
	Differences []Difference
}

func (e *DifferenceError) Error() string {
	texts := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		texts[i] = d.String()
	}
	return "nothing was changed, because what is there differs: " + strings.Join(texts, "; ")
}

// containerDifferences compares a container with its definition.
func containerDifferences(d schema.Container, there azcosmos.ContainerProperties) []Difference {
	wanted := d.Properties()
	var found []Difference
	compare := func(what, there, wanted string) {
		if there != wanted {
			found = append(found, Difference{"container " + d.Name, what, there, wanted})
		}
	}
	compare("partition key", keyText(there.PartitionKeyDefinition), keyText(wanted.PartitionKeyDefinition))
	compare("defaultTtl", ttlText(there.DefaultTimeToLive), ttlText(wanted.DefaultTimeToLive))
	compare("set of unique keys", uniqueText(there.UniqueKeyPolicy), uniqueText(wanted.UniqueKeyPolicy))
	policy := there.IndexingPolicy
	if policy == nil {
		policy = &azcosmos.IndexingPolicy{}
	}
	for i, property := range indexingTexts(policy) {
		compare(property.name, property.text, indexingTexts(wanted.IndexingPolicy)[i].text)
	}
	return found
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

// listText gives a list whose order means nothing.
func listText(list []string) string {
	if len(list) == 0 {
		return "empty"
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

type namedText struct{ name, text string }

// indexingTexts gives what an indexing policy says, in the same order for every one.
func indexingTexts(policy *azcosmos.IndexingPolicy) []namedText {
	mode := strings.ToLower(string(policy.IndexingMode))
	if !policy.Automatic {
		mode += ", not automatic"
	}
	var included, excluded, composite []string
	for _, path := range policy.IncludedPaths {
		included = append(included, path.Path)
	}
	for _, path := range policy.ExcludedPaths {
		excluded = append(excluded, path.Path)
	}
	for _, index := range policy.CompositeIndexes {
		composite = append(composite, compositeText(index))
	}
	other := len(policy.SpatialIndexes) + len(policy.VectorIndexes) + len(policy.FullTextIndexes)
	return []namedText{
		{"indexing mode", mode},
		{"list of included index paths", listText(included)},
		{"list of excluded index paths", listText(excluded)},
		{"list of composite indexes", listText(composite)},
		{"number of spatial, vector and full text indexes", fmt.Sprint(other)},
	}
}

// compositeText writes a composite index as ORDER BY does. Where nothing else is said, a path is ascending.
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

// scriptDifferences compares a script with what is registered under its id.
func scriptDifferences(s cosmos.Script, there cosmos.ScriptDefinition) []Difference {
	wanted := s.Definition()
	of := s.Label() + " of " + s.Container
	var found []Difference
	if there.Body != wanted.Body {
		found = append(found, Difference{of, "text", textOf(there.Body), textOf(wanted.Body)})
	}
	if there.Type != wanted.Type || there.Operation != wanted.Operation {
		found = append(found, Difference{of, "kind of trigger",
			there.Type + " " + there.Operation, wanted.Type + " " + wanted.Operation})
	}
	return found
}

// textOf tells one script's text from another's without showing it.
func textOf(body string) string {
	return fmt.Sprintf("one of %d bytes with the hash %.12x", len(body), sha256.Sum256([]byte(body)))
}
