package embedded

import (
	"fmt"
	"net/http"
)

// planQuery answers a client that asks what it would have to do itself in answering a query, as the SDKs of .NET, Java and
// JavaScript do before or beside the query. It tells the client to do nothing but to send the query as it is to the ranges
// that its partition key lies in, or to all. A query that would leave more to the client is refused as one across partitions
// is: this engine makes no plans.
func (r *request) planQuery() (*response, error) {
	bound, _, err := r.engine.parseQuery(r.body)
	if err != nil {
		return nil, err
	}
	if r.Header.Get("X-Ms-Documentdb-Partitionkey") == "" {
		if err := refuseAcross(bound); err != nil {
			return nil, err
		}
	}
	plan := fmt.Appendf(nil, emptyPlan, bound.SelectsValue())
	return &response{status: http.StatusOK, body: plan, charge: metadataCharge}, nil
}

// emptyPlan leaves nothing to do; whether results are objects is in it because Java unwraps those that are not.
const emptyPlan = `{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":null,"limit":null,` +
	`"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"groupByAliases":[],"aggregates":[],"groupByAliasToAggregateType":{},` +
	`"rewrittenQuery":"","hasSelectValue":%t,"dCountInfo":null,"hasNonStreamingOrderBy":false},` +
	`"queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}],"hybridSearchQueryInfo":null}`
