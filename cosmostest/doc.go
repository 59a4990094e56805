// Package cosmostest is an Azure Cosmos DB account (NoSQL API) for tests. It runs in the process of
// the test, starts within milliseconds, and needs nothing installed.
//
//	func TestOrders(t *testing.T) {
//		account := cosmostest.New(t, cosmostest.Options{})
//		orders := NewOrders(account.Client(nil)) // your code, with an azcosmos client
//		…
//		account.Inject(cosmostest.First(2, cosmostest.Refuse(429, "x-ms-retry-after-ms: 1")))
//		…
//	}
//
// The account speaks the service's REST protocol: items, queries, batches, patches, the change
// feed, time to live, and stored procedures and triggers in JavaScript. It rejects what it does not
// support, instead of approximating it. docs/compatibility.md lists both.
//
// Programs require it as a module of its own, which adds nothing of the blog to their modules:
//
//	go get cosmosblog/cosmostest
//
// # Clients
//
// An Account is the transport of a first client (Client), and NewTransport returns that of another.
// A program that makes its own client passes it the transport, the account's Key, and any endpoint.
// SDKs of other languages, and processes, use the address that Serve returns.
//
// # Faults
//
// A Fault is a value: Refuse(503) rejects requests, CutBefore and CutAfter close the connection,
// Delay and Silence make a client wait, and Budget bounds its RU/s. First, Nth, From and Writes
// choose the requests. A function of the test is a Fault too. Each transport has its own:
//
//	// The third request succeeds, but its answer is lost.
//	account.Inject(cosmostest.Nth(3, cosmostest.CutAfter))
//
// Options.Scripts makes operations of stored procedures fail, or sends other requests between them.
// Options.Throughput throttles the whole account, by physical range.
//
// # Late reads, splits and regions
//
// Under session consistency, a read with another session's token, or without one, may return an
// older state. Options.Follower adds a replica that does so as the test commands:
//
//	account.Follower.Hold() // reads stay in this state, unless their session token is newer
//
// azcosmos sends only the session tokens that its callers pass to it, in the options of a request.
//
// Split divides a physical range while clients use it, as the service does when a range grows, and
// MergeRanges makes one of the parts again.
//
// Options.Regions gives the account two regions, between which Failover changes. LoseWrites is a
// failover that loses the writes that the follower has not received yet. Restore restores
// containers to the follower's state, and their change feeds do not show the items.
//
// # Time
//
// Options.Now is the account's clock. With a Clock, no test needs to wait for a time to live or a
// throttled second. An account in a bubble of testing/synctest uses the bubble's time.
//
// New checks the stored data at the end of the test: every item, index entry and change.
package cosmostest
