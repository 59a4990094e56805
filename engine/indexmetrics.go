package engine

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// metrics returns the header x-ms-cosmos-index-utilization, JSON in base64. It names the index
// that a query used, if that index has paths. It never suggests other indexes.
func (x index) metrics() string {
	single, composite, specs := []any{}, []any{}, []string{}
	for _, path := range x.paths {
		order := " ASC"
		if path.Descending {
			order = " DESC"
		}
		specs = append(specs, "/"+strings.Join(path.Path, "/")+order)
	}
	switch {
	case x.global && len(specs) == 1:
		spec := strings.TrimSuffix(specs[0], " ASC") + "/?"
		single = append(single, map[string]any{"FilterExpression": "", "IndexSpec": spec, "FilterPreciseSet": true, "IndexPreciseSet": true, "IndexImpactScore": "High"})
	case len(specs) > 1:
		composite = append(composite, map[string]any{"IndexSpecs": specs, "IndexPreciseSet": true, "IndexImpactScore": "High"})
	}
	text, _ := json.Marshal(map[string]any{"UtilizedSingleIndexes": single, "PotentialSingleIndexes": []any{},
		"UtilizedCompositeIndexes": composite, "PotentialCompositeIndexes": []any{}})
	return base64.StdEncoding.EncodeToString(text)
}
