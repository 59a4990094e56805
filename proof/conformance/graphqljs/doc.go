// Package graphqljs consists of tests only. They hold the GraphQL server to the edition of
// September 2025 by way of graphql-js, the reference implementation, in its versions 16 and 17.
//
// TestDocuments writes random documents from a seed: valid ones, and some with one fault, at least
// one kind for each rule of chapter 5; values of all types in all places; wrong variables and names
// of operations; wrong syntax. It sends each to the server over HTTP, subscriptions over
// server-sent events, and to graphql-js (oracle.js, one process). Both must refuse it in the same
// phase: syntax, validation, or variables and the name of the operation. A refused document must
// send nothing to the database, and none may end as INTERNAL. Documents above the server's limits
// are left out, and counted.
//
// If a query runs, its data must be the same: names, order, nulls and values. graphql-js answers
// over a snapshot of the server's data (resolvers.js), which plain queries have read before. Of a
// stream, this is about the first message; of mutations, about createPost, whose answer shows what
// the server took for its input. Not compared are: errors of fields, but for the null in the data;
// the order of lists in an introspection; and the descriptions of built-in types, which the
// specification leaves open.
//
// TestBuiltins needs no Node.js: it compares the server's built-in types and directives with those
// of the edition, which builtins.txt has.
//
// TestSchemas builds the schema as clients do, from introspection and from /schema.graphql. It
// and TestDocuments need Node.js and its packages, and are skipped without -graphqljs; the script
// run installs the packages and sets it. differences_test.go has what is known to differ, with the
// section that decides.
package graphqljs
