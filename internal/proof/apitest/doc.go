// Package apitest is for tests of the whole API: a GraphQL client, a handler that records the
// requests that reach an engine, and a verifier of tokens. Only tests import it.
package apitest
