package storetest

import (
	"testing"

	"cosmosblog/cosmostest"
)

// Interleaver runs another request between two operations of a script. The scripts of its world run
// under snapshot isolation.
type Interleaver struct {
	at    int
	other func()
}

// Set makes other run once, before the n-th operation of a script, counted from 1, or, with the
// number of operations plus one, after the last. Scripts that other itself executes are not
// interleaved.
func (i *Interleaver) Set(n int, other func()) { i.at, i.other = n, other }

// Clear ends the wait for an operation, and reports whether it came.
func (i *Interleaver) Clear() (came bool) {
	came, i.at = i.at == 0, 0
	return came
}

func (i *Interleaver) before(operation int) {
	if operation == i.at {
		i.at = 0
		i.other()
	}
}

// NewSnapshotWorld returns a world whose scripts run under snapshot isolation. own reports whether
// queries of a script see the writes of its own transaction.
func NewSnapshotWorld(t *testing.T, i *Interleaver, own bool) *World {
	t.Helper()
	return NewWith(t, cosmostest.Options{Scripts: cosmostest.Scripts{
		Snapshot: true, OwnWrites: own, Before: i.before, Strict: true}})
}
