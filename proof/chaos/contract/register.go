package contract

import "time"

// write is a write to a register, which holds one value. It took effect between invoked and
// completed, if it did. sure reports whether it did.
type write struct {
	value              string
	invoked, completed time.Duration
	sure               bool
	by                 *Operation // nil if it is the initial value
}

// register is the writes to a register, in any order. The first is its initial value.
type register []write

func newRegister(initial string) register {
	return register{{initial, -1, -1, true, nil}}
}

// add adds a write by an operation that may have been executed.
func (r *register) add(o *Operation, value string) {
	if o.mayBeDone() {
		*r = append(*r, write{value, o.Invoked, o.end(), o.isDone(), o})
	}
}

// witness records that a read returned a value. If one write alone can explain it, the write took
// effect by then, whatever its own outcome.
func (r register) witness(value string, completed time.Duration) {
	only := -1
	for i, w := range r {
		if w.value == value && w.invoked < completed {
			if only >= 0 {
				return
			}
			only = i
		}
	}
	if only >= 0 {
		r[only].sure, r[only].completed = true, min(r[only].completed, completed)
	}
}

// permits reports whether a read between two times may return a value. The value must have been
// written before the end, and not certainly been overwritten before the beginning.
func (r register) permits(value string, from, until time.Duration) bool {
	return r.permitsAfter(value, floor{at: from}, until)
}

// permitsAfter is permits for a read of a state that includes at least a floor.
func (r register) permitsAfter(value string, f floor, until time.Duration) bool {
	return r.has(f, until, func(v string) bool { return v == value })
}

// permitsOther reports whether a read between two times may return any other value.
func (r register) permitsOther(value string, from, until time.Duration) bool {
	return r.has(floor{at: from}, until, func(v string) bool { return v != value })
}

func (r register) has(f floor, until time.Duration, matches func(string) bool) bool {
	for _, w := range r {
		if matches(w.value) && w.invoked < until && !r.isOverwritten(w, f) {
			return true
		}
	}
	return false
}

// isOverwritten reports whether another write certainly came after w, and a floor includes it.
func (r register) isOverwritten(w write, f floor) bool {
	for _, x := range r {
		if x.sure && x.invoked > w.completed && f.includes(x.completed, x.by) {
			return true
		}
	}
	return false
}
