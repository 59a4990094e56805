// Package graphqljs consists of tests only. They compare the GraphQL server with graphql-js, the
// reference implementation, in its versions 16 and 17. All need Node.js and its packages, and are
// skipped without -graphqljs; the script run installs the packages and sets it.
package graphqljs
