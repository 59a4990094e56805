package cosmos

import (
	"context"
	"maps"
	"math"
	"sync"
	"sync/atomic"
)

// Meter sums what requests are charged, what it cost to read results that were kept, and the
// background work that commands cause. It may be used concurrently. Its methods do nothing, or
// return 0, if it is nil. One that Metered returns also knows the states that were read.
type Meter struct {
	outer *Meter // counts the same, too; nil if there is none

	charged, kept hundredths
	unanswered    atomic.Int64
	wrote         atomic.Bool // see MayHaveWritten

	mu     sync.Mutex
	caused map[string]float64 // price of background work, by the kind of work
	read   SessionTokens      // as ReadState returns them; nil if they are not noted
}

// hundredths is an amount of RU, to which others are added concurrently. The service reports
// charges with two digits.
type hundredths struct{ n atomic.Int64 }

func (h *hundredths) add(charge float64) { h.n.Add(int64(math.Round(100 * charge))) }

func (h *hundredths) load() float64 { return float64(h.n.Load()) / 100 }

// WithMeter returns a context whose requests are added to a meter, beside what records them. It
// replaces the Meter of ctx.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return withCall(ctx, func(c *call) { c.meter = m })
}

// Metered returns a context with a new meter. What is added to it is also added to ctx's Meter.
func Metered(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{outer: callOf(ctx).meter, read: SessionTokens{}}
	return WithMeter(ctx, m), m
}

// ReadState returns the state of a container that all answers to reads of m have, as a session
// token: of each partition key range, the earliest state of an answer. It is empty if there is no
// answer, or if Metered did not return m.
//
// A result belongs to this state, and not to the one that the session of its context has seen: that
// is also of other answers, which may come at the same time.
func (m *Meter) ReadState(container string) string {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read[container].String()
}

// noteRead notes the session token of an answer to a read of a container.
func (m *Meter) noteRead(container, token string) {
	if m == nil || m.read == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read.of(container).MergeEarlier(token)
}

// Charged returns the charge of all requests so far in RU.
func (m *Meter) Charged() float64 {
	if m == nil {
		return 0
	}
	return m.charged.load()
}

// Spent returns the charge of all requests so far, and what it cost once to read the kept results
// that were used, in RU. It does not depend on what is kept.
func (m *Meter) Spent() float64 {
	if m == nil {
		return 0
	}
	return m.charged.load() + m.kept.load()
}

// Caused returns the price of the background work that commands have caused so far in RU, by the
// kind of work.
func (m *Meter) Caused() map[string]float64 {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.caused)
}

// Unanswered returns the number of requests without an answer, whose charge is unknown.
func (m *Meter) Unanswered() int64 {
	if m == nil {
		return 0
	}
	return m.unanswered.Load()
}

// MayHaveWritten reports whether a write of the context's Meter may have been executed: it was
// sent, and the service did not reject it. It is false if ctx has no Meter.
func MayHaveWritten(ctx context.Context) bool {
	m := callOf(ctx).meter
	return m != nil && m.wrote.Load()
}

// noteWrite tells the meter that a write may have been executed.
func (m *Meter) noteWrite() {
	for ; m != nil; m = m.outer {
		m.wrote.Store(true)
	}
}

// Cause adds background work of a kind to the Meter of a context, at its price in RU. The command
// that causes the work calls Cause after it has succeeded.
func Cause(ctx context.Context, work string, price float64) {
	for m := callOf(ctx).meter; m != nil; m = m.outer {
		m.mu.Lock()
		if m.caused == nil {
			m.caused = map[string]float64{}
		}
		m.caused[work] += price
		m.mu.Unlock()
	}
}

// Add adds what requests that another meter has counted were charged.
func (m *Meter) Add(charge float64) { m.charged.add(charge) }

// add adds the charge of a request.
func (m *Meter) add(charge float64, answered bool) {
	for ; m != nil; m = m.outer {
		m.charged.add(charge)
		if !answered {
			m.unanswered.Add(1)
		}
	}
}

// addKept adds what it cost once to read a kept result.
func (m *Meter) addKept(charge float64) {
	for ; m != nil; m = m.outer {
		m.kept.add(charge)
	}
}
