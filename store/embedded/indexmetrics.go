package embedded

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// indexMetrics is what a client reads from the header x-ms-cosmos-index-utilization.
type indexMetrics struct {
	UtilizedSingleIndexes     []singleIndexMetrics
	PotentialSingleIndexes    []singleIndexMetrics
	UtilizedCompositeIndexes  []compositeIndexMetrics
	PotentialCompositeIndexes []compositeIndexMetrics
}

type singleIndexMetrics struct {
	FilterExpression                  string
	IndexSpec                         string
	FilterPreciseSet, IndexPreciseSet bool
	IndexImpactScore                  string
}

type compositeIndexMetrics struct {
	IndexSpecs       []string
	IndexPreciseSet  bool
	IndexImpactScore string
}

// metrics writes the header: the index that a query went along, if it has paths, in base64.
func (x index) metrics() string {
	m := indexMetrics{[]singleIndexMetrics{}, []singleIndexMetrics{}, []compositeIndexMetrics{}, []compositeIndexMetrics{}}
	switch len(x.paths) {
	case 0:
	case 1:
		m.UtilizedSingleIndexes = append(m.UtilizedSingleIndexes,
			singleIndexMetrics{IndexSpec: x.paths[0].spec() + "/?", FilterPreciseSet: true, IndexPreciseSet: true, IndexImpactScore: "High"})
	default:
		used := compositeIndexMetrics{IndexPreciseSet: true, IndexImpactScore: "High"}
		for _, path := range x.paths {
			order := " ASC"
			if path.descending {
				order = " DESC"
			}
			used.IndexSpecs = append(used.IndexSpecs, path.spec()+order)
		}
		m.UtilizedCompositeIndexes = append(m.UtilizedCompositeIndexes, used)
	}
	text, _ := json.Marshal(m)
	return base64.StdEncoding.EncodeToString(text)
}

// spec gives the path as an indexing policy has it.
func (p indexPath) spec() string { return "/" + strings.Join(p.names, "/") }
