// Package apitest is for tests of the whole API: a GraphQL client, a handler that records the
// requests that reach an engine, a verifier of tokens, and parts of a process in the background.
// Only tests import it.
package apitest
