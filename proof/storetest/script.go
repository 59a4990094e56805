package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"cosmosblog/cosmostest"
)

// ScriptFaults makes operations of scripts fail. It counts the operations of each execution from 1.
type ScriptFaults struct {
	Nth      atomic.Int64 // the operation that fails; 0 means none
	Number   atomic.Int64 // the error number of that operation; 0 means that it is not accepted
	Most     atomic.Int64 // later operations are not accepted; 0 means no limit
	Injected atomic.Bool  // an operation has failed
}

func (r *ScriptFaults) accept(operation int) bool {
	if most := r.Most.Load(); most > 0 && int64(operation) > most {
		r.Injected.Store(true)
		return false
	}
	if r.Number.Load() != 0 || int64(operation) != r.Nth.Load() {
		return true
	}
	r.Injected.Store(true)
	return false
}

func (r *ScriptFaults) fail(operation int) (number int) {
	if number = int(r.Number.Load()); number == 0 || int64(operation) != r.Nth.Load() {
		return 0
	}
	r.Injected.Store(true)
	return number
}

// ScriptWorlds runs a subtest in two worlds. In one of them, the queries of a script see the writes
// of its own transaction.
func ScriptWorlds(t *testing.T, f func(t *testing.T, w *World, r *ScriptFaults)) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("own=%t", own), func(t *testing.T) {
			r := &ScriptFaults{}
			f(t, NewScriptWorld(t, r, own), r)
		})
	}
}

// NewScriptWorld returns a world whose script operations fail as r determines. own reports
// whether queries of a script see the writes of its own transaction.
func NewScriptWorld(t *testing.T, r *ScriptFaults, own bool) *World {
	t.Helper()
	return NewWith(t, cosmostest.Options{Scripts: cosmostest.Scripts{
		OwnWrites: own, Accept: r.accept, Fail: r.fail, Strict: true}})
}
