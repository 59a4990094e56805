package embedded

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"cosmosblog/store/embedded/query"
	"cosmosblog/store/embedded/value"
)

// region is the name that Microsoft's emulators give their one location. Clients are written for it: azcosmos's own tests
// are.
const region = "South Central US"

// readAccount describes the account. Its one location is the address under which the client came, because clients send
// their later requests there.
func (r *request) readAccount() (*response, error) {
	scheme := "http"
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https"
	}
	location := []map[string]string{{"name": region, "databaseAccountEndpoint": scheme + "://" + r.Host + "/"}}
	body, err := json.Marshal(map[string]any{
		"_self": "", "id": "embedded", "_rid": "embedded", "media": "//media/", "addresses": "//addresses/", "_dbs": "//dbs/",
		"writableLocations":            location,
		"readableLocations":            location,
		"enableMultipleWriteLocations": false,
		"userConsistencyPolicy":        map[string]any{"defaultConsistencyLevel": "Session"},
		"userReplicationPolicy":        map[string]any{"asyncReplication": false, "minReplicaSetSize": 1, "maxReplicasetSize": 1},
		"systemReplicationPolicy":      map[string]any{"minReplicaSetSize": 1, "maxReplicasetSize": 1},
		"readPolicy":                   map[string]any{"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
		"queryEngineConfiguration":     queryEngineConfiguration,
	})
	return &response{status: http.StatusOK, body: body}, err
}

// queryEngineConfiguration is read by SDKs that plan queries; it states the limits of the language.
const queryEngineConfiguration = `{"maxSqlQueryInputLength":524288,"maxJoinsPerSqlQuery":0,"maxLogicalAndPerSqlQuery":500,"maxLogicalOrPerSqlQuery":500,"maxUdfRefPerSqlQuery":0,"maxInExpressionItemsCount":16000,"queryMaxInMemorySortDocumentCount":500,"maxQueryRequestTimeoutFraction":0.9,"sqlAllowNonFiniteNumbers":false,"sqlAllowAggregateFunctions":true,"sqlAllowSubQuery":false,"sqlAllowScalarSubQuery":false,"allowNewKeywords":true,"sqlAllowLike":false,"sqlAllowGroupByClause":false,"maxSpatialQueryCells":0,"spatialMaxGeometryPointCount":0,"sqlDisableOptimizationFlags":0,"sqlAllowTop":true,"enableSpatialIndexing":false}`

func (r *request) listDatabases() (*response, error) { return r.definitions("", "Databases", nil) }

func (r *request) postDatabases() (*response, error) {
	if r.isQuery() {
		return r.queryDefinitions("", "Databases")
	}
	t, ok, err := r.throughput()
	if err != nil {
		return nil, err
	}
	shared := &t
	if !ok {
		shared = nil
	}
	d, err := r.engine.createDatabase(r.body, shared)
	if err != nil {
		return nil, err
	}
	return definitionResponse(http.StatusCreated, d.resource, manageCharge), nil
}

func (r *request) readDatabase() (*response, error) {
	d, err := r.engine.database(r.names[0])
	if err != nil {
		return nil, errResourceNotFound
	}
	return definitionResponse(http.StatusOK, d.resource, metadataCharge), nil
}

func (r *request) deleteDatabase() (*response, error) {
	d, err := r.engine.database(r.names[0])
	if err != nil {
		return nil, errResourceNotFound
	}
	return noContent(manageCharge), r.engine.deleteDatabase(d.name)
}

func (r *request) listContainers() (*response, error) {
	return r.definitions(r.database.rid, "DocumentCollections", nil)
}

func (r *request) postContainers() (*response, error) {
	if r.isQuery() {
		return r.queryDefinitions(r.database.rid, "DocumentCollections")
	}
	t, ok, err := r.throughput()
	if err != nil {
		return nil, err
	}
	if !ok && !r.engine.hasOffer(r.database.rid) {
		t.manual = leastThroughput // the service's default, unless the database's throughput is shared
	}
	c, err := r.engine.createContainer(r.database.name, r.body, t)
	if err != nil {
		return nil, err
	}
	return definitionResponse(http.StatusCreated, c.resource, manageCharge), nil
}

func (r *request) readContainer() (*response, error) {
	return definitionResponse(http.StatusOK, r.container.resource, metadataCharge), nil
}

func (r *request) replaceContainer() (*response, error) {
	c, err := r.engine.replaceContainer(r.database.name, r.container.name, r.Header.Get("If-Match"), r.body)
	if err != nil {
		return nil, err
	}
	return definitionResponse(http.StatusOK, c.resource, manageCharge), nil
}

func (r *request) deleteContainer() (*response, error) {
	return noContent(manageCharge), r.engine.deleteContainer(r.database.name, r.container.name)
}

// readRanges lists the physical ranges; read as a change feed, those that came since an etag. Clients repeat the request
// with the etag they got until the answer is 304.
func (r *request) readRanges() (*response, error) {
	c := r.container
	etag := fmt.Sprintf(`"%d"`, c.nextRangeID())
	known := r.Header.Get("If-None-Match")
	if known == etag {
		return (&response{status: http.StatusNotModified, charge: metadataCharge}).with("Etag", etag), nil
	}
	first := 0 // the lowest id that the client does not know
	if n, err := strconv.Atoi(strings.Trim(known, `"`)); err == nil && n < c.nextRangeID() && r.Header.Get("A-Im") != "" {
		first = n
	}
	list := []map[string]any{}
	for _, keyRange := range c.ranges {
		if int(keyRange.id) < first {
			continue
		}
		list = append(list, map[string]any{
			"_rid":               childRID(c.databaseNumber, c.number, kindRange, uint64(keyRange.id)),
			"id":                 keyRange.idText(),
			"minInclusive":       keyRange.minText(),
			"maxExclusive":       keyRange.maxText(),
			"ridPrefix":          keyRange.id,
			"throughputFraction": 1 / float64(len(c.ranges)),
			"status":             "online",
			"parents":            append([]string{}, keyRange.parents...),
			"_lsn":               keyRange.applied.Load(),
		})
	}
	body, err := json.Marshal(map[string]any{"_rid": c.rid, "PartitionKeyRanges": list, "_count": len(list)})
	return (&response{status: http.StatusOK, body: body, charge: metadataCharge}).with("Etag", etag), err
}

func definitionResponse(status int, resource []byte, charge float64) *response {
	answer := &response{status: status, body: resource, charge: charge}
	if parsed, err := value.Parse(resource); err == nil {
		etag, _ := parsed.Get("_etag").AsString()
		answer.with("Etag", etag)
	}
	return answer
}

func noContent(charge float64) *response {
	return &response{status: http.StatusNoContent, charge: charge}
}

// definitions lists the databases, or the containers of r.database; where keep is given, those that it keeps.
func (r *request) definitions(rid, name string, keep *query.Bound) (*response, error) {
	return listDefinitions(rid, name, r.definitionDocuments(), keep)
}

func listDefinitions(rid, name string, documents []query.Document, keep *query.Bound) (*response, error) {
	if keep == nil {
		rows := make([][]byte, len(documents))
		for i, d := range documents {
			rows[i] = d.Text
		}
		return listResponse(rid, name, rows, metadataCharge), nil
	}
	at := 0
	rows := keep.Run(func() (query.Document, bool, error) {
		if at == len(documents) {
			return query.Document{}, false, nil
		}
		at++
		return documents[at-1], true, nil
	}, false, query.Progress{})
	var kept [][]byte
	for {
		row, ok, err := rows.Next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return listResponse(rid, name, kept, queryCharge(1, len(documents), 0)), nil
		}
		kept = append(kept, row)
	}
}

func (r *request) queryDefinitions(rid, name string) (*response, error) {
	bound, _, err := r.parseQuery()
	if err != nil {
		return nil, err
	}
	return r.definitions(rid, name, bound)
}

func (r *request) definitionDocuments() []query.Document {
	var documents []query.Document
	add := func(resource []byte) {
		root, _ := value.Parse(resource)
		documents = append(documents, query.Document{Text: resource, Root: root})
	}
	if r.database == nil {
		for _, d := range sorted(r.engine.catalog.Load().databases) {
			add(d.resource)
		}
		return documents
	}
	for _, c := range sorted(r.database.containers) {
		add(c.resource)
	}
	return documents
}
