// Package conformance has no code but its tests: they hold an account to what clients of the REST protocol rely on, by signed
// requests and by azcosmos. By themselves they drive the embedded engine. Where COSMOS_CONFORMANCE_ENDPOINT and
// COSMOS_CONFORMANCE_KEY are set, they drive that account instead, in a database of its own that is deleted at the end, and
// say what they leave out because it takes the engine's own hooks:
//
//	COSMOS_CONFORMANCE_ENDPOINT=https://… COSMOS_CONFORMANCE_KEY=… go test -count=1 -v ./internal/conformance
//
// What a failure says in brackets is what the expectation rests on: the service's documentation, the tests or source of an
// SDK, or an assumption. The folders beside these tests drive the engine by clients: azcosmos's own tests, and the
// official JavaScript SDK.
package conformance
