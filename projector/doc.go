// Package projector keeps the views equal to their source. It reads the change feeds of users and
// posts, and writes the short copies of posts in users and feed. It also writes new usernames to
// the items of renamed users, and completes the deletions of users and posts.
//
// Leases divide the work. There is one lease for each feed range, and one for each chore: the
// sweeps for renamed users, the deletions of deleted users' items, and the purges of deleted posts.
// Only the holder of a lease does its work. Its heartbeats keep all its leases. If they fail, it
// loses the leases and stops before its next request. Each lease has one worker.
//
// Package store/chores has the passes, each a function. A runner calls it for each task of a
// chore, in a goroutine of its own. The passes take turns at a throttler, which is shared by all
// chores. It limits the number of concurrent requests to what the account's throughput allows.
//
// A planner decides which leases to take. It is a pure function of the observed leases, without
// requests or clocks, and gives any number of projectors an equal share.
//
// Changes are projected at least once. A checkpoint is written after the views, so a crash repeats
// changes and never skips one. A view is written only if the revision of its source is greater, and
// only if the copy is still in the state that was read. So repeated and late writes change nothing.
// A change feed returns the latest state of each item, not its history, and starts with the oldest
// item of the container. A projector that was stopped, or that runs on existing data for the first
// time, therefore catches up from its checkpoint.
//
// This folder is not for other modules: it may change in any version.
package projector
