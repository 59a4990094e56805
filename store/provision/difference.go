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

// difference is a property of an existing resource that differs from its definition.
type difference struct {
	resource string // "container posts"
	property string // "partition key"
	actual   string
	expected string
}

func (d difference) String() string {
	return fmt.Sprintf("the %s of the %s is %s and should be %s", d.property, d.resource, d.actual, d.expected)
}

// DifferenceError lists the differences between a database and its definition. Only the owner
// can decide which of the two is right, so nothing was changed.
type DifferenceError struct {
	differences []difference
}

func (e *DifferenceError) Error() string {
	texts := make([]string, len(e.differences))
	for i, d := range e.differences {
		texts[i] = d.String()
	}
	return "nothing was changed, because the database differs from its definition: " + strings.Join(texts, "; ")
}

// containerDifferences compares a container with its definition.
func containerDifferences(d schema.Container, actual azcosmos.ContainerProperties) []difference {
	expected := d.Properties()
	var found []difference
	compare := func(property, actual, expected string) {
		if actual != expected {
			found = append(found, difference{"container " + d.Name, property, actual, expected})
		}
	}
	compare("partition key", keyText(actual.PartitionKeyDefinition), keyText(expected.PartitionKeyDefinition))
	compare("defaultTtl", ttlText(actual.DefaultTimeToLive), ttlText(expected.DefaultTimeToLive))
	compare("set of unique keys", uniqueText(actual.UniqueKeyPolicy), uniqueText(expected.UniqueKeyPolicy))
	policy := actual.IndexingPolicy
	if policy == nil {
		policy = &azcosmos.IndexingPolicy{}
	}
	for i, property := range indexingTexts(policy) {
		compare(property.name, property.text, indexingTexts(expected.IndexingPolicy)[i].text)
	}
	if composite := compositeTexts(policy); !containsAll(composite, compositeTexts(expected.IndexingPolicy)) {
		compare("list of composite indexes", listText(composite), listText(compositeTexts(expected.IndexingPolicy)))
	}
	return found
}

// containsAll reports whether a list has all of the wanted texts. A further composite index is no
// difference: it makes writes dearer, but servers of a former release may need it.
func containsAll(list, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(text string) bool { return !slices.Contains(list, text) })
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
	slices.Sort(list)
	return strings.Join(list, ", ")
}

type namedText struct{ name, text string }

// indexingTexts returns the properties of an indexing policy, always in the same order, but not its
// composite indexes.
func indexingTexts(policy *azcosmos.IndexingPolicy) []namedText {
	mode := strings.ToLower(string(policy.IndexingMode))
	if !policy.Automatic {
		mode += ", not automatic"
	}
	var included, excluded []string
	for _, path := range policy.IncludedPaths {
		included = append(included, path.Path)
	}
	for _, path := range policy.ExcludedPaths {
		excluded = append(excluded, path.Path)
	}
	other := len(policy.SpatialIndexes) + len(policy.VectorIndexes) + len(policy.FullTextIndexes)
	return []namedText{
		{"indexing mode", mode},
		{"list of included index paths", listText(included)},
		{"list of excluded index paths", listText(excluded)},
		{"number of spatial, vector and full text indexes", fmt.Sprint(other)},
	}
}

func compositeTexts(policy *azcosmos.IndexingPolicy) []string {
	var texts []string
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

// scriptDifferences compares a script with the one that is registered under its id.
func scriptDifferences(s cosmos.Script, actual cosmos.ScriptDefinition) []difference {
	expected := s.Definition()
	resource := s.Label() + " of " + s.Container
	var found []difference
	if actual.Body != expected.Body {
		actualText, expectedText := textSummary(actual.Body), textSummary(expected.Body)
		found = append(found, difference{resource, "text", actualText, expectedText})
	}
	if actual.Type != expected.Type || actual.Operation != expected.Operation {
		found = append(found, difference{resource, "kind of trigger",
			actual.Type + " " + actual.Operation, expected.Type + " " + expected.Operation})
	}
	return found
}

// textSummary identifies a script's text by its length and hash.
func textSummary(body string) string {
	return fmt.Sprintf("one of %d bytes with the hash %.12x", len(body), sha256.Sum256([]byte(body)))
}
