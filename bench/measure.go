package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// side is a server that takes its turns in a comparison.
type side struct {
	name         string
	address      string
	process      *process // nil if the benchmark did not start it
	isCosmosblog bool     // it has the program's metrics
	operations   map[string]*operation
}

// settings are common to all comparisons.
type settings struct {
	rounds      int
	slice       time.Duration // how long a turn of an operation takes
	connections int
	operations  []string
	coding      string // Accept-Encoding; may be empty
	progress    io.Writer
}

// result has the turns of one operation on one side.
type result struct {
	rates       []float64 // requests per second, by round
	requests    int
	latencies   []time.Duration
	processor   time.Duration // user and system time of the server
	isTimed     bool          // processor is known
	allocations float64       // of the server; 0 if they are not known
	elapsed     time.Duration
	generator   time.Duration // processor time of the load generator; 0 if it is not known
}

// comparison has the results of measure by operation and side.
type comparison map[string]map[string]*result

// measure drives all operations of all sides in turns. In each round, every operation runs on each
// side for a short slice, and the order of the sides alternates. Load from other processes then
// affects all sides. Ratios are those of neighbouring slices. A first round is not counted.
//
// Renames come last, because the second pass over the items of a renamed user starts later, when
// it would slow other turns.
func measure(ctx context.Context, sides []*side, s settings) (comparison, error) {
	c := comparison{}
	for _, name := range s.operations {
		c[name] = map[string]*result{}
		for _, side := range sides {
			if side.operations[name] != nil {
				c[name][side.name] = &result{}
			}
		}
	}
	isRename := func(name string) bool { return name == "rename" }
	for _, names := range [][]string{
		slices.DeleteFunc(slices.Clone(s.operations), isRename),
		slices.DeleteFunc(slices.Clone(s.operations), func(name string) bool { return !isRename(name) }),
	} {
		for round := -1; round < s.rounds && len(names) > 0; round++ {
			fmt.Fprintf(s.progress, "round %d of %d: %v\n", round+1, s.rounds, names)
			for _, name := range names {
				if err := c.round(ctx, sides, s, name, round); err != nil {
					return nil, err
				}
			}
		}
	}
	return c, nil
}

// round gives each side a turn with an operation.
func (c comparison) round(ctx context.Context, sides []*side, s settings, name string, round int) error {
	sides = slices.Clone(sides)
	if round%2 != 0 {
		slices.Reverse(sides)
	}
	for _, side := range sides {
		r := c[name][side.name]
		if r == nil {
			continue
		}
		t, err := side.turn(ctx, s, side.operations[name])
		if err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
		if round < 0 {
			continue
		}
		r.rates = append(r.rates, t.rate())
		r.requests += t.requests
		r.latencies = append(r.latencies, t.latencies...)
		r.processor += t.processor
		r.isTimed = t.isTimed
		r.allocations += t.allocations
		r.elapsed += t.elapsed
		r.generator += t.generator
	}
	return nil
}

// turn is a slice with what it cost.
type turn struct {
	slice
	generator   time.Duration
	processor   time.Duration
	isTimed     bool
	allocations float64
}

// turn drives an operation for one slice. After writes, it waits until the projector has processed
// them, so that their costs include the views and do not slow the next turn.
func (s *side) turn(ctx context.Context, with settings, o *operation) (t turn, err error) {
	l, err := openLoad(ctx, s.address, o, with.connections)
	if err != nil {
		return t, err
	}
	defer l.close()
	before, err := s.usage(ctx)
	if err != nil {
		return t, err
	}
	generator, _ := processorTime(os.Getpid())
	if t.slice, err = l.run(ctx, with.slice); err != nil {
		return t, err
	}
	now, _ := processorTime(os.Getpid())
	t.generator = now - generator
	reads := 0
	if o.isWrite && s.isCosmosblog {
		if reads, err = s.process.settle(ctx); err != nil {
			return t, err
		}
	}
	return t, s.addUsage(ctx, &t, before, reads)
}

// usage is what a server has used so far.
type usage struct {
	processor   time.Duration
	allocations float64
	ofMetrics   float64 // allocations that one request of /metrics causes
}

func (s *side) usage(ctx context.Context) (u usage, err error) {
	if s.process == nil {
		return u, nil
	}
	if s.isCosmosblog {
		first, err := s.process.allocations(ctx)
		if err != nil {
			return u, err
		}
		if u.allocations, err = s.process.allocations(ctx); err != nil {
			return u, err
		}
		u.ofMetrics = u.allocations - first
	}
	u.processor, _ = processorTime(s.process.command.Process.Pid)
	return u, nil
}

// addUsage adds what the server used since before, without the allocations of reading its metrics
// once at the end and reads times meanwhile.
func (s *side) addUsage(ctx context.Context, t *turn, before usage, reads int) error {
	if s.process == nil {
		return nil
	}
	var processor time.Duration
	processor, t.isTimed = processorTime(s.process.command.Process.Pid)
	t.processor = processor - before.processor
	if !s.isCosmosblog {
		return nil
	}
	allocations, err := s.process.allocations(ctx)
	t.allocations = max(0, allocations-before.allocations-float64(reads+1)*before.ofMetrics)
	return err
}
