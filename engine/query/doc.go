// Package query implements the subset of the Cosmos DB (NoSQL API) query language that the
// embedded engine supports. It holds a lexer, a recursive-descent parser, the syntax tree, and
// the evaluation of a query over items.
//
// Parse turns a text into a Query, which is immutable and may be cached. Query.Bind takes
// parameter values and returns a Bound, in which every expression is a Go closure. Bound.Run
// reads a Source of items and returns Rows.
//
// Parse rejects unsupported features (JOIN, GROUP BY, LIKE, subqueries, user-defined functions,
// geography, full text) with a *SyntaxError that holds the position and the reason. It also
// rejects all queries that the service itself rejects, so that a test cannot pass here and fail
// there.
//
// Clauses are evaluated in the order of the service:
//
//	FROM → WHERE → ORDER BY → SELECT (with aggregates) → DISTINCT → OFFSET → TOP or LIMIT
//
// The package does not access storage. Bound describes what a query needs from its caller:
// Conditions and Disjuncts for seeking, Order for choosing an index, Streams for paging,
// RejectedAcrossPartitions and CountsOnly.
package query
