// Package projector keeps the views equal to their source: it reads the change feeds of users and posts and writes the
// short copies in users and feed, spreads new usernames, and does what follows from a deletion.
//
// The work is divided by leases: one for every feed range, and one for each chore: the sweeps of renamed users, what deleted
// users leave, and the purges of deleted posts. Who has a lease works alone on it for as long as it is renewed; who stops renewing loses it, and
// stops before its next request. What to do about leases is decided by a planner that is a function of what was seen,
// without requests or clocks of its own, so that any number of projectors come to have as many leases each; a worker does
// the work of one lease.
//
// Everything is done at least once. A checkpoint is written after the views are, so that a crash repeats changes and
// never leaves one out; each write of a view is guarded by its source's revision, so that what is repeated or late
// changes nothing. A change feed tells the last state of an item, not its history, and a container's whole past is one
// feed: a projector that was away, or is new on old data, begins where its lease says and catches up.
package projector
