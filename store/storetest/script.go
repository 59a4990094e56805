package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"cosmosblog/store/embedded"
	host "cosmosblog/store/embedded/script"
)

// ScriptFaults makes operations of script executions fail. In every execution, the n-th
// operation is not accepted, or fails with Number if that is not 0. If Most is not 0, operations
// after the first Most are not accepted. Did is true once an operation has failed.
type ScriptFaults struct {
	Nth, Number, Most atomic.Int64
	Did               atomic.Bool
}

func (r *ScriptFaults) accept(operation int) bool {
	if most := r.Most.Load(); most > 0 && int64(operation) > most {
		r.Did.Store(true)
		return false
	}
	if r.Number.Load() != 0 || int64(operation) != r.Nth.Load() {
		return true
	}
	r.Did.Store(true)
	return false
}

func (r *ScriptFaults) fail(operation int) *host.OperationError {
	number := int(r.Number.Load())
	if number == 0 || int64(operation) != r.Nth.Load() {
		return nil
	}
	r.Did.Store(true)
	return &host.OperationError{Number: number, Message: "injected"}
}

// ScriptWorlds runs a subtest in two worlds: in one, the queries of a script see the writes of
// its own transaction, in the other they do not.
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
	return NewWith(t, embedded.Options{
		QueriesSeeOwnWrites: own,
		Script:              host.Options{Accept: r.accept, Fail: r.fail, Strict: true},
	})
}
