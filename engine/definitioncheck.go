package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cosmosblog/engine/value"
)

// checkedParts are the parts of a container's definition that have no effect but must be right.
// Definitions that were stored before they were checked may not fit.
type checkedParts struct {
	IndexingPolicy struct {
		SpatialIndexes  []spatialIndex `json:"spatialIndexes"`
		VectorIndexes   []typedPath    `json:"vectorIndexes"`
		FullTextIndexes []typedPath    `json:"fullTextIndexes"`
	} `json:"indexingPolicy"`
	GeospatialConfig struct {
		Type string `json:"type"`
	} `json:"geospatialConfig"`
	VectorEmbeddingPolicy struct {
		VectorEmbeddings []typedPath `json:"vectorEmbeddings"`
	} `json:"vectorEmbeddingPolicy"`
	FullTextPolicy struct {
		FullTextPaths []typedPath `json:"fullTextPaths"`
	} `json:"fullTextPolicy"`
	ConflictResolutionPolicy struct {
		Mode string `json:"mode"`
	} `json:"conflictResolutionPolicy"`
	ComputedProperties []json.RawMessage `json:"computedProperties"`
	TTLPropertyPath    string            `json:"ttlPropertyPath"`
}

type typedPath struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

type spatialIndex struct {
	Path        string   `json:"path"`
	Types       []string `json:"types"`
	BoundingBox *struct {
		XMin *float64 `json:"xmin"`
		YMin *float64 `json:"ymin"`
		XMax *float64 `json:"xmax"`
		YMax *float64 `json:"ymax"`
	} `json:"boundingBox"`
}

// errDefinition is an error about a definition, in the form of the service's backend, which escapes
// slashes.
func errDefinition(format string, args ...any) error {
	return badRequest("%s", strings.ReplaceAll(errorsMessage(fmt.Sprintf(format, args...)), "/", `\/`))
}

// checkPolicy rejects an indexing policy that contradicts itself or exceeds the service's limits.
// Error: 400.
func (d definition) checkPolicy() error {
	policy := d.IndexingPolicy
	switch mode := strings.ToLower(policy.IndexingMode); {
	case len(policy.IncludedPaths)+len(policy.ExcludedPaths) > maxIndexingPaths:
		return badRequest("An indexing policy can have at most %d included and excluded paths.", maxIndexingPaths)
	case len(policy.CompositeIndexes) > maxCompositeIndexes:
		return badRequest("An indexing policy can have at most %d composite indexes.", maxCompositeIndexes)
	case mode != "" && mode != "consistent" && mode != "none" && mode != "lazy":
		return badRequest("The indexing mode '%s' is not valid.", policy.IndexingMode)
	}
	if err := d.checkIndexingPaths(); err != nil {
		return err
	}
	for _, composite := range policy.CompositeIndexes {
		if len(composite) < 2 || len(composite) > 8 {
			return badRequest("A composite index must have 2 to 8 paths.")
		}
		for _, part := range composite {
			if err := checkCompositePath(part.Path); err != nil {
				return err
			}
			if order := strings.ToLower(part.Order); order != "" && order != "ascending" && order != "descending" {
				return badRequest("The order '%s' of a composite index must be ascending or descending.", part.Order)
			}
		}
	}
	return nil
}

// checkIndexingPaths checks the included and excluded paths. If there is one, the root must be
// among them: the service's answer is known from projects that met it, such as
// microsoft/semantic-kernel (CosmosNoSqlCollection.cs, "special mandatory indexing path").
func (d definition) checkIndexingPaths() error {
	listed, none := map[string]bool{}, strings.EqualFold(d.IndexingPolicy.IndexingMode, "none")
	for i, path := range slices.Concat(d.IndexingPolicy.IncludedPaths, d.IndexingPolicy.ExcludedPaths) {
		if listed[path.Path] {
			return badRequest("The path '%s' is included or excluded more than once.", path.Path)
		}
		listed[path.Path] = true
		if err := checkIndexingPath(path.Path, i < len(d.IndexingPolicy.IncludedPaths)); err != nil {
			return err
		}
	}
	if len(listed) > 0 && !listed[rootPath] && !listed["/"] && !none {
		return errDefinition(`The special mandatory indexing path "/" is not provided in any of the path type sets. Please provide this path in one of the sets.`)
	}
	return nil
}

// checkParts checks the parts of a definition that the engine otherwise ignores. Error: 400.
func checkParts(resource value.Value) error {
	var d checkedParts
	if err := json.Unmarshal(value.Text(resource), &d); err != nil {
		return badRequest("The definition of the container is invalid: %v.", err)
	}
	switch mode := d.ConflictResolutionPolicy.Mode; {
	case len(d.ComputedProperties) > 0:
		return badRequest("Computed properties are not supported by this engine.")
	case d.TTLPropertyPath != "":
		return badRequest("A ttlPropertyPath is not supported by this engine.")
	case mode != "" && !strings.EqualFold(mode, "LastWriterWins") && !strings.EqualFold(mode, "Custom"):
		return badRequest("The mode '%s' of the conflict resolution policy must be LastWriterWins or Custom.", mode)
	}
	if err := d.checkSpatial(); err != nil {
		return err
	}
	for _, embedding := range d.VectorEmbeddingPolicy.VectorEmbeddings { // dotnet/efcore#38557
		if checkKeyPath(embedding.Path) != nil {
			return badRequest("%s", errorsMessage("The Vector Embedding Policy has an invalid Path:"+embedding.Path+". Specify the correct path for vector properties of your documents."))
		}
	}
	// Vector and full text indexes need a policy of their path (learn.microsoft.com/azure/cosmos-db/
	// index-policy, "Vector indexes" and "Full-text indexes").
	for _, index := range d.IndexingPolicy.VectorIndexes {
		if !slices.Contains([]string{"flat", "quantizedflat", "diskann"}, strings.ToLower(index.Type)) {
			return badRequest("The type '%s' of a vector index must be flat, quantizedFlat or diskANN.", index.Type)
		}
		if !hasTypedPath(d.VectorEmbeddingPolicy.VectorEmbeddings, index.Path) {
			return badRequest("The vector index on '%s' needs an embedding of this path in the vector embedding policy.", index.Path)
		}
	}
	for _, index := range d.IndexingPolicy.FullTextIndexes {
		if !hasTypedPath(d.FullTextPolicy.FullTextPaths, index.Path) {
			return badRequest("The full text index on '%s' needs this path in the full text policy.", index.Path)
		}
	}
	return nil
}

func hasTypedPath(paths []typedPath, path string) bool {
	return slices.ContainsFunc(paths, func(p typedPath) bool { return p.Path == path })
}

// checkSpatial checks the spatial indexes: those of a Geometry have a bounding box, those of a
// Geography none. The texts of the service are in dotnet-v3's tests: EmulatorTests/
// CosmosContainerTests.cs (SpatialTest), Fluent/ContainerSettingsTests.cs
// (ContainerNegativeSpatialIndexTest).
func (d checkedParts) checkSpatial() error {
	configured := d.GeospatialConfig.Type
	geometry := strings.EqualFold(configured, "Geometry")
	if configured != "" && !geometry && !strings.EqualFold(configured, "Geography") {
		return badRequest("The type '%s' of the geospatialConfig must be Geography or Geometry.", configured)
	}
	for _, spatial := range d.IndexingPolicy.SpatialIndexes {
		if err := checkIndexingPath(spatial.Path, false); err != nil {
			return err
		}
		path, box := spatial.Path, spatial.BoundingBox
		if len(spatial.Types) == 0 {
			return errDefinition("The spatial data types array cannot be empty. Assign at least one spatial type for the 'types' array for the path '%s'.", path)
		}
		for _, kind := range spatial.Types {
			if !slices.Contains([]string{"point", "linestring", "polygon", "multipolygon"}, strings.ToLower(kind)) {
				return badRequest("The spatial type '%s' must be Point, LineString, Polygon or MultiPolygon.", kind)
			}
		}
		switch {
		case !geometry && box != nil:
			return errDefinition("Incorrect parameter 'boundingBox' specified for 'Geography' collection")
		case !geometry:
		case box == nil:
			return errDefinition("Required parameter 'boundingBox' for 'Geometry' collection is missing in spatial path '%s'", path)
		case box.XMin == nil || box.XMax == nil || box.YMin == nil || box.YMax == nil:
			return badRequest("The boundingBox of the spatial path '%s' must have xmin, ymin, xmax and ymax.", path)
		case *box.XMax <= *box.XMin:
			return errDefinition("The value of parameter 'xmax' must be greater than the value of parameter 'xmin' in 'boundingBox' for spatial path '%s'", path)
		case *box.YMax <= *box.YMin:
			return errDefinition("The value of parameter 'ymax' must be greater than the value of parameter 'ymin' in 'boundingBox' for spatial path '%s'", path)
		}
	}
	return nil
}
