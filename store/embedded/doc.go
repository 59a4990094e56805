// Package embedded is an engine that speaks the REST protocol of Azure Cosmos DB (NoSQL API), as far as azcosmos and this
// project's own requests need it: databases, containers, items, queries, the change feed, stored procedures and triggers.
// An Engine is an http.Handler; it may be called in process or served on a port. It keeps its items in Pebble, in a
// folder or in memory, and knows nothing of what they mean: it imports nothing of this project but the packages inside it
// (value: JSON; query: the query language; script: the host of the server-side JavaScript).
//
// # How it is built
//
// A request goes: ServeHTTP (route.go) → a handler in the file of its resource (item.go, queries.go, changefeed.go, …) →
// a transaction in one logical partition (transaction.go) → a commit (commit.go). Every write goes that way, a single
// item's as well as a batch's or a stored procedure's, so that there is one place that knows what a commit writes.
//
// # Order and durability
//
// A transaction holds the lock of its logical partition from its first read to its commit. The commit takes the next log
// sequence number of its physical range and hands its batch to Pebble under the range's lock, so that batches reach the
// write-ahead log in the order of their numbers; then both locks are given back, and the answer waits for the disk, with
// everybody else who waits (group commit; while they are many, the log waits for more of them). What a transaction is
// answered rests on what is on disk, also where it only read or was refused; so do point reads and the change feed. Queries
// see what is committed, waited for or not. A number is never used twice: each range writes down, ahead, up to which number
// it may count (keyRange.ceiling), and goes on above it after a crash.
//
// Locks, in the order in which they are taken: Engine.gate (shared by requests, Close alone takes it whole),
// Engine.catalogMu (definitions of databases, containers and scripts), a partition's lock (lock.go), keyRange.mu. Of them
// reads of items and queries take the gate alone; the change feed takes keyRange.mu for the time of a snapshot. A change of a
// container's definition that concerns its items takes those of all its ranges, for as long as it takes (rebuild.go).
package embedded
