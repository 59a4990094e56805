package engine

import (
	"fmt"
	"net/http"
)

// planQuery returns a query plan. The SDKs of .NET, Java and JavaScript request one before or in
// parallel with a query, to find out what the client must compute. The plan only requires the
// client to send the query unchanged to the ranges of its partition key, or to all ranges. The
// engine creates no other plans. If a query needs work by the client, the engine rejects it with
// the same error as a cross-partition query.
func (r *request) planQuery() (*response, error) {
	bound, _, err := r.engine.parseQuery(r.body)
	if err != nil {
		return nil, err
	}
	if r.Header.Get("X-Ms-Documentdb-Partitionkey") == "" {
		if err := rejectCrossPartition(bound); err != nil {
			return nil, err
		}
	}
	plan := fmt.Appendf(nil, emptyPlan, bound.SelectsValue())
	return &response{status: http.StatusOK, body: plan, charge: metadataCharge}, nil
}

// emptyPlan is a plan that leaves no work to the client. It states whether results are objects,
// because the Java SDK unwraps other results.
const emptyPlan = `{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":null,"limit":null,` +
	`"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"groupByAliases":[],"aggregates":[],"groupByAliasToAggregateType":{},` +
	`"rewrittenQuery":"","hasSelectValue":%t,"dCountInfo":null,"hasNonStreamingOrderBy":false},` +
	`"queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}],"hybridSearchQueryInfo":null}`
