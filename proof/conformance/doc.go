// Package conformance consists of tests only. They check that an account implements the REST
// protocol as clients rely on it, through signed requests and azcosmos.
//
// By default, the tests run against the embedded engine. If COSMOS_CONFORMANCE_ENDPOINT and
// COSMOS_CONFORMANCE_KEY are set, they run against that account. They then use their own
// database, which they delete at the end, and skip the tests that need hooks of the engine:
//
//	COSMOS_CONFORMANCE_ENDPOINT=https://… COSMOS_CONFORMANCE_KEY=… \
//	    go test -tags ci -count=1 -v ./proof/conformance
//
// Each failure names in brackets the basis of the expectation: the service's documentation, the
// tests or source of an SDK, or an assumption. Subfolders test the engine with other clients:
// azcosmos's own tests, and the official JavaScript SDK. The folder outside is a module of its own,
// which uses cosmostest as anybody does.
package conformance
