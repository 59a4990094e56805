// Package query is the SQL language of Cosmos DB (NoSQL API), as far as the embedded engine speaks it: a lexer, a
// recursive-descent parser, the syntax tree, and the evaluation of a query over items.
//
// A text becomes a Query (Parse), which is immutable and may be kept; a Query and the values of its parameters become
// a Bound, in which every expression is a Go closure; a Bound is Run over a Source of items and gives Rows. What the
// language leaves out (JOIN, GROUP BY, LIKE, subqueries, user-defined functions, geography, full text) is refused by
// a *SyntaxError that says where and why; so is everything that the service itself refuses and that a test should
// therefore not be able to rely on.
//
// The order of work is that of the service:
//
//	FROM → WHERE → ORDER BY → SELECT (with aggregates) → DISTINCT → OFFSET → TOP or LIMIT
//
// The package knows nothing of storage. It tells its caller what a query needs of it: Conditions and Disjuncts for
// seeking, Order for choosing an index, Streams for paging, RefusedAcrossPartitions and CountsOnly.
package query
