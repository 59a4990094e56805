package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"cosmosblog/store/embedded"
	host "cosmosblog/store/embedded/script"
)

// Refuser refuses the n-th operation of every script execution or, where it has a number, makes it fail with that; 0
// refuses none. And it refuses all after the first most; 0 is no limit. It says whether it did.
type Refuser struct {
	Nth, Number, Most atomic.Int64
	Did               atomic.Bool
}

func (r *Refuser) accept(operation int) bool {
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

func (r *Refuser) fail(operation int) *host.OperationError {
	number := int(r.Number.Load())
	if number == 0 || int64(operation) != r.Nth.Load() {
		return nil
	}
	r.Did.Store(true)
	return &host.OperationError{Number: number, Message: "made to fail"}
}

// ScriptWorlds gives a world for both visibilities of a transaction's own writes.
func ScriptWorlds(t *testing.T, f func(t *testing.T, w *World, r *Refuser)) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("own=%t", own), func(t *testing.T) {
			r := &Refuser{}
			f(t, NewScriptWorld(t, r, own), r)
		})
	}
}

// NewScriptWorld gives a world whose scripts' operations are refused as r says; own tells whether queries see own writes.
func NewScriptWorld(t *testing.T, r *Refuser, own bool) *World {
	t.Helper()
	return NewWith(t, embedded.Options{
		QueriesSeeOwnWrites: own,
		Script:              host.Options{Accept: r.accept, Fail: r.fail, Strict: true},
	})
}
