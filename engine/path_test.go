package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"cosmosblog/engine/value"
)

// TestIndexingPaths creates containers with valid and invalid indexing policies, by the
// documentation of indexing policies (learn.microsoft.com/azure/cosmos-db/index-policy, also "Tuple
// indexes" and "Composite indexes"), Azure/azure-cosmos-dotnet-v2#184 (hyphens), jnhaffey/
// IdentityServer4.Contrib.CosmosDB#4 (a path without its end, and the message), and the
// AzureCosmosDB/cosmosdb-agent-kit's rule index-path-syntax (no wildcard in the middle).
func TestIndexingPaths(t *testing.T) {
	a := newDatabaseOnly(t)
	for i, path := range []string{
		`/a/?`, `/a/*`, `/a/b/c/?`, `/"a-b"/?`, `/"a b"/"c/d"/*`, `/'a-b'/?`, `/"say \"a\""/?`, `/tags/[]/?`, `/tags/[]/name/?`,
		`/tags/[3]/name/*`, `/_ts/?`, `/"_ts"/?`, `/名/?`, `/$type/?`, `/`, `/events/[]/{name, category}/?`,
		`/events/[]/{name/first, name/last}/?`, `/events/[]/{name/[1]/first, category}/?`, `/events/[]/{[1], [3]}/?`,
		`/city/[1]/events/[]/{name, category}/?`,
	} {
		policy := fmt.Sprintf(`{"includedPaths":[{"path":"/*"},{"path":%s}]}`, quoteJSON(path))
		a.must(201, a.send("POST", "dbs/d/colls", definitionWith(fmt.Sprint("c", i), policy)))
		if !strings.Contains(path, "{") {
			policy = fmt.Sprintf(`{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":%s}]}`, quoteJSON(path))
			a.must(201, a.send("POST", "dbs/d/colls", definitionWith(fmt.Sprint("x", i), policy)))
		}
	}
	for path, position := range map[string]int{
		``: 0, `a/?`: 0, `/a`: 2, `/expiration`: 11, `/a/`: 3, `/?`: 1, `//?`: 1, `/a/*/b/?`: 4, `/*/a`: 2, `/a/?/b`: 4, `/path-abc/?`: 5,
		`/a b/?`: 3, `/a@b/?`: 2, `/"a/?`: 1, `/""/?`: 3, `/"a"b/?`: 4, `/tags/[/?`: 7, `/tags/[x]/?`: 7, `/a[]/?`: 2,
		`/events/[]/{name/[]/first, category}/?`: 19, `/events/[]/{name, category}/*`: 28, `/events/[]/{{name, first},category}/?`: 12,
		`/events/{name, category}/?`: 8, `/events/[]/{/name,/category}/?`: 12, `/events/[]/{name/?,category/?}/?`: 17,
		`/city/[]/events/[]/{name, category}/?`: 19, `/events/[]/x/{name}/?`: 13, `/events/[]/{name, category}`: 27,
	} {
		for _, policy := range []string{`{"includedPaths":[{"path":"/*"},{"path":%s}]}`, `{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":%s}]}`} {
			got := a.must(400, a.send("POST", "dbs/d/colls", definitionWith("no", fmt.Sprintf(policy, quoteJSON(path)))))
			if strings.Contains(policy, "excluded") && strings.Contains(path, "{") {
				continue // not even its brace
			}
			message, _ := got.body.Get("message").AsString()
			want := strings.ReplaceAll(fmt.Sprintf("The indexing path '%s' could not be accepted, failed near position '%d'. Please ensure", path, position), "/", `\/`)
			if want = `Message: {"Errors":["` + strings.ReplaceAll(want, `"`, `\"`); !strings.HasPrefix(message, want) {
				t.Errorf("%s: %s, want %s", path, message, want)
			}
		}
	}
	a.must(400, a.send("POST", "dbs/d/colls", definitionWith("no", `{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/events/[]/{a, b}/?"}]}`)))
	for _, policy := range []string{ // the root must be among the paths, in either form
		`{"includedPaths":[{"path":"/n/?"}]}`, `{"excludedPaths":[{"path":"/n/?"}]}`, `{"includedPaths":[{"path":"/\"_etag\"/?"}]}`,
	} {
		if got := a.must(400, a.send("POST", "dbs/d/colls", definitionWith("no", policy))); !strings.Contains(got.text, "special mandatory indexing path") {
			t.Errorf("%s: %s", policy, got.text)
		}
	}
}

func quoteJSON(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

func definitionWith(id, policy string) string {
	return fmt.Sprintf(`{"id":%q,%s,"indexingPolicy":%s}`, id, idKey, policy)
}

// TestCompositePaths has the documentation's composite index through an array, which no query of
// the engine uses.
func TestCompositePaths(t *testing.T) {
	a := newDatabaseOnly(t)
	a.must(201, a.send("POST", "dbs/d/colls", definitionWith("c", `{"compositeIndexes":[
		[{"path":"/familyname","order":"ascending"},{"path":"/children/[]/age","order":"descending"}],
		[{"path":"/pk","order":"Ascending"},{"path":"/\"a/b\"/?","order":"DESCENDING"}]]}`)))
	a.must(201, a.send("POST", "dbs/d/colls/c/docs", `{"id":"1","pk":"p","a/b":1,"familyname":"A","children":[{"age":1}]}`, "pk", "p"))
	a.must(201, a.send("POST", "dbs/d/colls/c/docs", `{"id":"2","pk":"p","a/b":2}`, "pk", "p"))
	query := `{"query":"SELECT c.id FROM c WHERE c.pk = 'p' ORDER BY c.pk, c[\"a/b\"] DESC"}`
	sorted := a.must(200, a.send("POST", "dbs/d/colls/c/docs", query, "x-ms-documentdb-isquery", "true", "Content-Type", "application/query+json", "pk", "p"))
	if got := strings.Join(sorted.ids(), ""); got != "21" {
		t.Errorf("sorted: %s", got)
	}
	for _, composite := range []string{
		`[{"path":"/a","order":"bogus"},{"path":"/b"}]`, `[{"path":"/a/*"},{"path":"/b"}]`, `[{"path":"/a-b"},{"path":"/b"}]`,
		`[{"path":"/"},{"path":"/b"}]`, `[{"path":""},{"path":"/b"}]`, `[{"path":"/a/?/c"},{"path":"/b"}]`, `[{"path":"/a/[x]/c"},{"path":"/b"}]`, `[]`,
	} {
		a.must(400, a.send("POST", "dbs/d/colls", definitionWith("no", `{"compositeIndexes":[`+composite+`]}`)))
		a.must(400, a.send("PUT", "dbs/d/colls/c", definitionWith("c", `{"compositeIndexes":[`+composite+`]}`)))
	}
}

// TestPartsOfDefinitions has the other parts of a definition. Sources: dotnet-v3,
// EmulatorTests/CosmosContainerTests.cs (SpatialTest, TimeToLivePropertyPath) and Fluent/
// ContainerSettingsTests.cs (ContainerNegativeSpatialIndexTest,
// ContainerNegativeComputedPropertyTest); dotnet/efcore#38557;
// learn.microsoft.com/azure/cosmos-db/index-policy.
func TestPartsOfDefinitions(t *testing.T) {
	const (
		point    = `"indexingPolicy":{"spatialIndexes":[{"path":"/location/?","types":["Point","MultiPolygon"]}]}`
		boxed    = `"indexingPolicy":{"spatialIndexes":[{"path":"/location/*","types":["Point"],"boundingBox":{"xmin":0,"ymin":0,"xmax":%d,"ymax":%d}}]}`
		geometry = `,"geospatialConfig":{"type":"Geometry"}`
		vector   = `"indexingPolicy":{"vectorIndexes":[{"path":"/v","type":%q}]}`
		vectors  = `,"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":%q,"dataType":"float32","distanceFunction":"cosine","dimensions":3}]}`
		text     = `"indexingPolicy":{"fullTextIndexes":[{"path":"/text"}]}`
	)
	a := newDatabaseOnly(t)
	for i, part := range []string{
		point, point + `,"geospatialConfig":{"type":"Geography"}`, fmt.Sprintf(boxed, 10, 10) + geometry,
		fmt.Sprintf(vector, "diskANN") + fmt.Sprintf(vectors, "/v"), text + `,"fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/text"}]}`,
		`"conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts"}`, `"computedProperties":[]`,
	} {
		a.must(201, a.send("POST", "dbs/d/colls", fmt.Sprintf(`{"id":"c%d",%s,%s}`, i, idKey, part)))
	}
	for part, message := range map[string]string{
		point + geometry:                    "Required parameter 'boundingBox' for 'Geometry' collection is missing in spatial path '\\\\/location\\\\/?'",
		fmt.Sprintf(boxed, 10, 10):          "Incorrect parameter 'boundingBox' specified for 'Geography' collection",
		fmt.Sprintf(boxed, 0, 1):            "Incorrect parameter",
		fmt.Sprintf(boxed, 0, 1) + geometry: "The value of parameter 'xmax' must be greater than the value of parameter 'xmin' in 'boundingBox'",
		fmt.Sprintf(boxed, 1, 0) + geometry: "The value of parameter 'ymax' must be greater",
		`"indexingPolicy":{"spatialIndexes":[{"path":"/l/*","types":["Point"],"boundingBox":{"xmin":0}}]}` + geometry: "must have xmin",
		`"indexingPolicy":{"spatialIndexes":[{"path":"/l/*"}]}`:                                                       "Assign at least one spatial type for the 'types' array for the path",
		`"indexingPolicy":{"spatialIndexes":[{"path":"/l/*","types":["Circle"]}]}`:                                    "Circle",
		`"indexingPolicy":{"spatialIndexes":[{"path":"/l","types":["Point"]}]}`:                                       "could not be accepted",
		`"geospatialConfig":{"type":"Flat"}`:                                                                          "geospatialConfig",
		fmt.Sprintf(vector, "flat"):                                                                                   "needs an embedding",
		fmt.Sprintf(vector, "tree") + fmt.Sprintf(vectors, "/v"):                                                      "The type 'tree'",
		`"indexingPolicy":{}` + fmt.Sprintf(vectors, "/list/[]/v"):                                                    "The Vector Embedding Policy has an invalid Path:/list/[]/v.",
		text: "needs this path in the full text policy",
		`"conflictResolutionPolicy":{"mode":"Latest"}`:                                      "Latest",
		`"computedProperties":[{"name":"low","query":"SELECT VALUE LOWER(c.name) FROM c"}]`: "not supported",
		`"ttlPropertyPath":"/creationDate"`:                                                 "not supported",
	} {
		if got := a.must(400, a.send("POST", "dbs/d/colls", fmt.Sprintf(`{"id":"no",%s,%s}`, idKey, part))); !strings.Contains(got.text, message) {
			t.Errorf("%s: %s, want %s", part, got.text, message)
		}
	}
	for _, path := range []string{``, `pk`, `/`, `/pk/`, `/pk/?`, `/pk/*`, `/a/[]/b`, `/first-name`, `/asdwqr31 @#$`} {
		got := a.must(400, a.send("POST", "dbs/d/colls", fmt.Sprintf(`{"id":"no","partitionKey":{"paths":[%q],"version":2}}`, path)))
		if !strings.Contains(got.text, "Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.") {
			t.Errorf("%s: %s", path, got.text)
		}
	}
}

// TestStoredDefinitionsOpen opens a folder with definitions that are refused today, and with paths
// whose quoted names have slashes, at which earlier versions divided them.
func TestStoredDefinitionsOpen(t *testing.T) {
	fs := vfs.NewMem()
	a := newAccount(t, Options{Dir: "data", FS: fs})
	a.must(201, a.send("POST", "dbs", `{"id":"d"}`))
	const old = `{"id":"old","partitionKey":{"paths":["/\"a/b\""],"kind":"Hash","version":2},"indexingPolicy":{
		"includedPaths":[{"path":"/n"},{"path":"/a-b/?"},{"path":"/\"a/b\"/?"},{"path":""}],"spatialIndexes":"none","computedProperties":1,
		"compositeIndexes":[[{"path":"/n","order":"bogus"},{"path":"/a-b"}]]}}`
	a.must(201, a.send("POST", "dbs/d/colls", `{"id":"old",`+idKey+`}`))
	c := a.catalog.Load().databases["d"].containers["old"]
	resource, err := value.Parse([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	batch := a.db.NewBatch()
	s := c.stored()
	s.Quotes, s.Resource = false, a.stampContainer(c.databaseNumber, c.number, resource)
	if err := setDefinition(batch, definitionKey(c.databaseNumber, "old"), s); err != nil {
		t.Fatal(err)
	}
	if err := batch.Commit(pebble.Sync); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a = newAccount(t, Options{Dir: "data", FS: fs})
		a.send("POST", "dbs/d/colls/old/docs", `{"id":"1","a/b":"x","a-b":1,"\"a":{"b\"":"y"},"n":1}`, "pk", "y")
		a.must(200, a.send("GET", "dbs/d/colls/old/docs/1", "", "pk", "y"))
		sorted := a.must(200, a.send("POST", "dbs/d/colls/old/docs", `{"query":"SELECT c.id FROM c ORDER BY c.n, c[\"a-b\"]"}`,
			"x-ms-documentdb-isquery", "true", "Content-Type", "application/query+json", "pk", "y"))
		if len(sorted.ids()) != 1 {
			t.Errorf("sorted: %s", sorted.text)
		}
		a.must(400, a.send("PUT", "dbs/d/colls/old", old))
	}
}

// TestStoredKeyPathIsReplaced replaces the definition of a container whose key has a path that is
// refused today. It cannot get another one.
func TestStoredKeyPathIsReplaced(t *testing.T) {
	const path = `"partitionKey":{"paths":["/a-b"],"kind":"Hash","version":2}`
	fs := vfs.NewMem()
	a := newAccount(t, Options{Dir: "data", FS: fs})
	a.must(201, a.send("POST", "dbs", `{"id":"d"}`))
	a.must(400, a.send("POST", "dbs/d/colls", `{"id":"old",`+path+`}`))
	a.must(201, a.send("POST", "dbs/d/colls", `{"id":"old",`+idKey+`}`))
	c := a.catalog.Load().databases["d"].containers["old"]
	resource, err := value.Parse([]byte(`{"id":"old",` + path + `}`))
	if err != nil {
		t.Fatal(err)
	}
	s := c.stored()
	s.Resource = a.stampContainer(c.databaseNumber, c.number, resource)
	batch := a.db.NewBatch()
	if err := errors.Join(setDefinition(batch, definitionKey(c.databaseNumber, "old"), s), batch.Commit(pebble.Sync), a.Close()); err != nil {
		t.Fatal(err)
	}
	a = newAccount(t, Options{Dir: "data", FS: fs})
	a.must(200, a.send("PUT", "dbs/d/colls/old", `{"id":"old","defaultTtl":-1,`+path+`}`))
	a.must(400, a.send("PUT", "dbs/d/colls/old", `{"id":"old","defaultTtl":-1,`+strings.Replace(path, "a-b", "c-d", 1)+`}`))
}

// TestPartitionKeyPaths writes items whose key is under quoted names, and items with an object or
// an array there, which stand under the undefined key (dotnet-v3,
// Microsoft.Azure.Cosmos.Tests/Routing/ DocumentAnalyzerTest.cs).
func TestPartitionKeyPaths(t *testing.T) {
	a := newDatabaseOnly(t)
	const c = "dbs/d/colls/c/docs"
	a.must(201, a.send("POST", "dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/\"a/b\"/\"say \\\"c\\\"\""],"kind":"Hash","version":2}}`))
	a.must(201, a.send("POST", c, `{"id":"1","a/b":{"say \"c\"":"x"}}`, "pk", "x"))
	a.must(200, a.send("GET", c+"/1", "", "pk", "x"))
	a.must(400, a.send("POST", c, `{"id":"2","a/b":{"say \"c\"":"x"}}`, "pk", "y"))
	undefined := []string{"x-ms-documentdb-partitionkey", "[{}]"}
	for i, item := range []string{`{}`, `{"a/b":1}`, `{"a/b":{"say \"c\"":{}}}`, `{"a/b":{"say \"c\"":{"n":1}}}`, `{"a/b":{"say \"c\"":[]}}`, `{"a/b":{"say \"c\"":["x"]}}`} {
		id := fmt.Sprint("u", i)
		item = strings.Replace(item, "{", `{"id":"`+id+`",`, 1)
		item = strings.Replace(item, ",}", "}", 1)
		a.must(201, a.send("POST", c, item, undefined...))
		a.must(200, a.send("PUT", c+"/"+id, item, undefined...))
		a.must(200, a.send("GET", c+"/"+id, "", undefined...))
		a.must(400, a.send("POST", c, strings.Replace(item, id, "other", 1), "pk", "x"))
	}
	list := a.must(200, a.send("POST", c, `{"query":"SELECT c.id FROM c"}`, append(undefined, "x-ms-documentdb-isquery", "true", "Content-Type", "application/query+json")...))
	if got := strings.Join(list.ids(), ""); got != "u0u1u2u3u4u5" {
		t.Errorf("under the undefined key: %s", got)
	}
	a.must(204, a.send("DELETE", c+"/u3", "", undefined...))
	for _, key := range []string{`[{"n":1}]`, `[["x"]]`, `[]`, `["x","y"]`, `{}`} {
		a.must(400, a.send("GET", c+"/u4", "", "x-ms-documentdb-partitionkey", key))
	}
}

// TestAllShortPaths checks all paths of up to five characters: no check ends without a verdict, and
// whatever it accepts has names, unless it leads through an array.
func TestAllShortPaths(t *testing.T) {
	var extend func(path string)
	extend = func(path string) {
		name := strings.TrimSuffix(path, "/*")
		if checkIndexingPath(path, true) == nil && name != "" && name != "/" && !strings.Contains(path, "[") {
			if names, err := (definition{}).parsePath(name); err != nil || len(names) == 0 {
				t.Errorf("the indexing path %s: %v, %v", path, names, err)
			}
		}
		if checkKeyPath(path) == nil {
			if names, err := (definition{}).parsePath(path); err != nil || len(names) == 0 {
				t.Errorf("the key path %s: %v, %v", path, names, err)
			}
		}
		_ = checkCompositePath(path)
		if len(path) == 5 || t.Failed() {
			return
		}
		for _, c := range `/a"\[]{?* ` {
			extend(path + string(c))
		}
	}
	extend("")
}
