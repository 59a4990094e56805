// Package engine is the embedded engine. It speaks the REST protocol of Azure Cosmos DB (NoSQL
// API): databases, containers, items, queries, the change feed, stored procedures and triggers, as
// far as azcosmos and this project need them. Tests of any program use it by package cosmostest.
//
// The engine is one account with one region in one process: it does not replicate, so every read
// sees the last write whatever Options.Consistency says. It throttles only with Options.Throughput
// and Options.MetadataReads. It has no users and permissions, user-defined functions, conflict
// feeds, unique keys, hierarchical partition keys, or spatial, vector and full-text search. It
// rejects unsupported requests instead of approximating them, and its request charges are estimates
// (docs/compatibility.md).
//
//	engine, err := engine.Open(engine.Options{Dir: "data"}) // in memory without Dir
//	if err != nil {
//		return err
//	}
//	defer engine.Close()
//	go http.ListenAndServe("127.0.0.1:8081", engine)
//
//	key, _ := azcosmos.NewKeyCredential(engine.Key())
//	client, _ := azcosmos.NewClientWithKey("http://127.0.0.1:8081", key, nil)
//	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "shop"}, nil)
//
// An Engine is an http.Handler, so a transport can also call it in process. Items are stored in
// Pebble, in a folder or in memory. The package imports nothing of this project except its own
// subpackages: value (JSON), query (the query language), script (the host of server-side
// JavaScript) and budget (throttling).
//
// # Structure
//
// A request passes through ServeHTTP (serve.go), a handler in its resource's file (item.go,
// queries.go, changefeed.go, …), a transaction in one logical partition (transaction.go), and a
// commit (commit.go). All writes take this path: single items, batches and stored procedures.
// The format of a commit is therefore defined in one place.
//
// # Order and durability
//
// A transaction holds the lock of its logical partition from its first read to its commit. The
// commit takes the next log sequence number of its physical range and hands its batch to Pebble
// under the range's lock. Batches therefore reach the write-ahead log in the order of their
// numbers. Then both locks are released, and the response waits for the disk together with all
// other waiting responses (group commit). If many wait, the log delays its sync so that more can
// join.
//
// The response of a transaction depends only on data that is on disk, even if the transaction
// only read or was rejected. The same holds for point reads and the change feed. Queries see all
// committed data, on disk or not. No number is used twice: each range reserves numbers in
// advance (log.ceiling) and continues above them after a crash.
//
// Locks are taken in this order:
//
//   - Engine.gate: shared by requests; only Close locks it exclusively
//   - Engine.catalogMu: definitions of databases, containers and scripts
//   - a partition's lock (lock.go)
//   - log.mu: the numbers of a physical range
//
// Reads of items and queries lock only the gate. The change feed also takes log.mu while it
// creates its snapshot. A change of a container's definition that affects its items holds log.mu
// of all ranges until it is done (rebuild.go).
//
// This folder is not for other modules: it may change in any version.
package engine
