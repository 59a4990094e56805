// Package projector keeps the views equal to their source. It reads the change feeds of users and
// posts, and writes the short copies of posts in users and feed. It also writes new usernames to
// the items of renamed users, and follows up deletions.
//
// Leases divide the work. There is one lease for each feed range, and one for each chore: the
// sweeps for renamed users, the deletions of deleted users' items, and the purges of deleted
// posts. The holder of a lease is the only one to work on it, as long as it renews the lease. If
// renewals fail, it loses the lease and stops before its next request. A worker does the work of
// one lease.
//
// The projector alone schedules chores. Package views offers their passes as idempotent steps. A
// runner works on the tasks of one chore in turns, and a throttler, shared by all chores, limits
// the steps that run at a time to what the account's throughput allows.
//
// A planner decides which leases to take. It is a pure function of the observed leases, without
// requests or clocks, and gives any number of projectors an equal share.
//
// Projections run at least once. A checkpoint is written after the views, so a crash repeats
// changes and never skips one. Each view is written under the guard of its source's revision, so
// repeated and late writes change nothing. A change feed returns the latest state of an item, not
// its history, and it starts with the oldest item of the container. So a projector that was away,
// or runs on existing data for the first time, reads on from its checkpoint and catches up.
package projector
