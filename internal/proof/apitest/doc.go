// Package apitest is for tests of the whole API: a GraphQL client, and a handler that records the
// requests that reach an engine. Only tests import it.
package apitest
