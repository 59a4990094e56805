package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"cosmosblog/engine/value"
)

// region is the name that Microsoft's emulators give their only location. Some clients depend on
// it, including azcosmos's own tests.
const region = "South Central US"

// readAccount describes the account. Its only location is the address from the request's Host
// header, because clients send later requests to that location.
func (r *request) readAccount() (*response, error) {
	scheme := "http"
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https"
	}
	location := []map[string]string{{"name": region, "databaseAccountEndpoint": scheme + "://" + r.Host + "/"}}
	account := r.engine.account.Load()
	body, err := json.Marshal(map[string]any{
		"_self": "", "id": "embedded", "_rid": "embedded", "media": "//media/", "addresses": "//addresses/", "_dbs": "//dbs/",
		"writableLocations":            location,
		"readableLocations":            location,
		"enableMultipleWriteLocations": account.writesInSeveralRegions,
		"userConsistencyPolicy":        map[string]any{"defaultConsistencyLevel": account.consistency},
		"userReplicationPolicy":        map[string]any{"asyncReplication": false, "minReplicaSetSize": 1, "maxReplicasetSize": 1},
		"systemReplicationPolicy":      map[string]any{"minReplicaSetSize": 1, "maxReplicasetSize": 1},
		"readPolicy":                   map[string]any{"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
		"queryEngineConfiguration":     queryEngineConfiguration,
	})
	return &response{status: http.StatusOK, body: body}, err
}

// queryEngineConfiguration states the limits of the query language. SDKs that build query plans
// read it.
const queryEngineConfiguration = `{"maxSqlQueryInputLength":524288,"maxJoinsPerSqlQuery":0,"maxLogicalAndPerSqlQuery":500,"maxLogicalOrPerSqlQuery":500,"maxUdfRefPerSqlQuery":0,"maxInExpressionItemsCount":16000,"queryMaxInMemorySortDocumentCount":500,"maxQueryRequestTimeoutFraction":0.9,"sqlAllowNonFiniteNumbers":false,"sqlAllowAggregateFunctions":true,"sqlAllowSubQuery":false,"sqlAllowScalarSubQuery":false,"allowNewKeywords":true,"sqlAllowLike":false,"sqlAllowGroupByClause":false,"maxSpatialQueryCells":0,"spatialMaxGeometryPointCount":0,"sqlDisableOptimizationFlags":0,"sqlAllowTop":true,"enableSpatialIndexing":false}`

func (r *request) listDatabases() (*response, error) {
	var definitions []json.RawMessage
	for _, d := range sorted(r.engine.catalog.Load().databases) {
		definitions = append(definitions, d.resource)
	}
	return r.listDefinitions("", "Databases", definitions)
}

func (r *request) postDatabases() (*response, error) {
	if IsQuery(r.Header) {
		return r.listDatabases()
	}
	t, err := r.throughput()
	if err != nil {
		return nil, err
	}
	d, err := r.engine.createDatabase(r.body, t)
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
	return r.readDefinition(d.resource)
}

func (r *request) deleteDatabase() (*response, error) {
	d, err := r.engine.database(r.names[0])
	if err != nil {
		return nil, errResourceNotFound
	}
	return noContent(manageCharge), r.engine.deleteDatabase(d.name, r.Header.Get("If-Match"))
}

func (r *request) listContainers() (*response, error) {
	var definitions []json.RawMessage
	for _, c := range sorted(r.database.containers) {
		definitions = append(definitions, c.resource)
	}
	return r.listDefinitions(r.database.rid, "DocumentCollections", definitions)
}

func (r *request) postContainers() (*response, error) {
	if IsQuery(r.Header) {
		return r.listContainers()
	}
	t, err := r.throughput()
	if err != nil {
		return nil, err
	}
	if t.limit() == 0 && r.engine.catalog.Load().offerOf(r.database.rid) == nil {
		if limit := r.engine.options.ThroughputLimit; limit > 0 { // "you must pass an explicit throughput"; the text is ours
			return nil, errorf(http.StatusBadRequest, substatusOverLimit, "Your account is currently configured with a total throughput limit of %d RU/s. A new container needs an explicit throughput.", limit)
		}
		t.manual = minThroughput // the service's default, unless the database's throughput is shared
	}
	c, err := r.engine.createContainer(r.database.name, r.body, t)
	if err != nil {
		return nil, err
	}
	return definitionResponse(http.StatusCreated, c.resource, manageCharge), nil
}

func (r *request) readContainer() (*response, error) {
	answer, err := r.readDefinition(r.container.resource)
	if err == nil {
		err = r.withQuota(answer)
	}
	return answer, err
}

func (r *request) replaceContainer() (*response, error) {
	c, err := r.engine.replaceContainer(r.database.name, r.container.name, r.Header.Get("If-Match"), r.body)
	if err != nil {
		return nil, err
	}
	return definitionResponse(http.StatusOK, c.resource, manageCharge), nil
}

func (r *request) deleteContainer() (*response, error) {
	return noContent(manageCharge), r.engine.deleteContainer(r.database.name, r.container.name, r.Header.Get("If-Match"))
}

// readRanges lists the physical ranges. If it is read as a change feed, it lists only the ranges
// created since an etag. Clients repeat the request with the etag they received until the status
// is 304.
func (r *request) readRanges() (*response, error) {
	c := r.container
	etag := fmt.Sprintf(`"%d"`, c.nextRangeID())
	known := r.Header.Get("If-None-Match")
	if known == etag {
		return (&response{status: http.StatusNotModified, charge: metadataCharge}).with("Etag", etag), nil
	}
	first := 0 // the lowest id unknown to the client
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

// readDefinition returns a definition, or 304 if the client's If-None-Match has the current
// etag.
func (r *request) readDefinition(resource []byte) (*response, error) {
	answer := definitionResponse(http.StatusOK, resource, metadataCharge)
	if known := r.Header.Get("If-None-Match"); known != "" && matchDefinition(resource, known) == nil {
		answer.status, answer.body = http.StatusNotModified, nil
	}
	return answer, nil
}
