package cosmos

import (
	"context"
	"testing"
)

// TestCallsKeepWhatTheyHave derives a context by each function after each other one. None may lose
// what the context had.
func TestCallsKeepWhatTheyHave(t *testing.T) {
	meter, other := new(Meter), WithSession(t.Context())
	functions := map[string]struct {
		derive func(context.Context) context.Context
		has    func(call) bool
	}{
		"WithSession":      {WithSession, func(c call) bool { return c.session != nil }},
		"InSession":        {InSession, func(c call) bool { return c.session != nil }},
		"InSessionOf":      {func(ctx context.Context) context.Context { return InSessionOf(ctx, other) }, func(c call) bool { return c.session != nil }},
		"WithMeter":        {func(ctx context.Context) context.Context { return WithMeter(ctx, meter) }, func(c call) bool { return c.meter != nil }},
		"Metered":          {func(ctx context.Context) context.Context { ctx, _ = Metered(ctx); return ctx }, func(c call) bool { return c.meter != nil }},
		"WithRecorder":     {func(ctx context.Context) context.Context { return WithRecorder(ctx, recorders{}) }, func(c call) bool { return c.recorder != nil }},
		"WithFence":        {func(ctx context.Context) context.Context { return WithFence(ctx, ctx.Err) }, func(c call) bool { return c.fence != nil }},
		"InBackground":     {InBackground, func(c call) bool { return c.background }},
		"withoutConflicts": {withoutConflicts, func(c call) bool { return c.onlyOnce }},
		"withAnswers":      {func(ctx context.Context) context.Context { ctx, _ = withAnswers(ctx); return ctx }, func(c call) bool { return c.answers != nil }},
	}
	for first, f := range functions {
		for second, g := range functions {
			ctx, cancel := context.WithCancel(f.derive(t.Context()))
			defer cancel()
			if c := callOf(g.derive(ctx)); !f.has(c) || !g.has(c) {
				t.Errorf("%s, then %s: %+v", first, second, c)
			}
		}
	}
	if c := callOf(InForeground(InBackground(other))); c.background || c.session == nil {
		t.Errorf("InForeground after InBackground: %+v", c)
	}
}

type recorders struct{}

func (recorders) Record(context.Context, Request) {}
