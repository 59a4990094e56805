package projector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cosmosblog/proof/testseed"
	"cosmosblog/store/changefeed"
)

const (
	clusterExpire  = 20 * time.Second
	clusterBalance = 5 * time.Second
)

// cluster simulates projectors that share leases by conditional writes, without requests. rapid
// draws the events, also those between the steps of a write.
type cluster struct {
	*rapid.T
	now    time.Time
	leases map[string]changefeed.Lease
	beats  map[string]changefeed.Heartbeat // by owner
	writes int
	nodes  []*node
	depth  int  // of events within a write
	calm   bool // no late or lost writes, no deaths
	moves  int  // changes of owner
}

// node is a projector without its work: it observes the leases and carries out its plan later.
type node struct {
	*cluster
	name         string
	offset       time.Duration // of its clock, which differs from all others
	dead         bool
	asleep       bool
	beating      bool // in the middle of the write of a heartbeat
	pulse        *pulse
	observations observations
	held         map[string]*heldLease
	plan         *plan
}

func newCluster(t *rapid.T) *cluster {
	c := &cluster{T: t, now: time.Now(), leases: map[string]changefeed.Lease{}, beats: map[string]changefeed.Heartbeat{}}
	for i := range rapid.IntRange(1, 12).Draw(t, "leases") {
		id := fmt.Sprintf("lease.%d", i)
		c.leases[id] = changefeed.Lease{ID: id, ETag: "new"}
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		c.nodes = append(c.nodes, &node{cluster: c, name: fmt.Sprintf("node-%d", i), pulse: &pulse{expire: clusterExpire}, observations: observations{}, held: map[string]*heldLease{},
			offset: time.Duration(rapid.IntRange(-1000, 1000).Draw(t, "offset")) * time.Hour})
	}
	return c
}

func (n *node) clock() time.Time { return n.now.Add(n.offset) }

// observe observes all leases and makes a plan. Leases that are not valid any more have no worker.
func (n *node) observe() {
	if !n.pulse.isAlive(n.pulse.lapses(), n.clock()) {
		n.beat()
	}
	s := snapshot{self: n.name, expire: clusterExpire, held: map[string]bool{}}
	for id, held := range n.held {
		if held != nil && n.leases[id].Owner == n.name {
			held.isOurs(n.clock())
		}
		if held != nil && held.check() != nil {
			delete(n.held, id)
			continue
		}
		s.held[id] = true
	}
	l := changefeed.Listing{Heartbeats: n.beats}
	for _, id := range slices.Sorted(maps.Keys(n.leases)) {
		l.Leases = append(l.Leases, n.leases[id])
	}
	s.leases = n.observations.ofLeases(l, n.clock())
	planned := planLeases(s)
	n.plan = &planned
}

// act carries out the plan as Projector.take does.
func (n *node) act() {
	if n.plan == nil {
		return
	}
	planned := *n.plan
	n.plan = nil
	for _, lease := range planned.lost {
		if held := n.held[lease.ID]; held != nil && errors.Is(held.save(context.Background()), changefeed.ErrLeaseLost) {
			delete(n.held, lease.ID)
		}
	}
	for _, lease := range slices.Concat(planned.reclaim, planned.steal) {
		n.acquire(lease)
	}
	for _, lease := range planned.free {
		if planned.takeFree == 0 {
			return
		}
		if n.acquire(lease) {
			planned.takeFree--
			if lease.Owner != "" {
				n.noOtherHolder(lease.ID)
			}
		}
	}
}

func (n *node) acquire(lease changefeed.Lease) bool {
	if n.dead || n.held[lease.ID] != nil {
		return false
	}
	held := &heldLease{write: n.write, now: n.clock, pulse: n.pulse, lapse: n.pulse.lapses(), renew: time.Hour, writeTimeout: time.Hour, checkpointAfter: 1, lease: lease,
		writing: make(chan struct{}, 1)}
	if held.take(context.Background(), n.name) != nil || n.dead {
		return false
	}
	n.held[lease.ID] = held
	return true
}

// noOtherHolder checks the purpose of expiry by local clocks: the former owner of a lease knows
// by now that the lease may be lost, unless it has taken the lease back already.
func (n *node) noOtherHolder(id string) {
	for _, other := range n.nodes {
		if held := other.held[id]; other != n && n.leases[id].Owner == n.name && held != nil && held.check() == nil {
			n.Fatalf("%s took the expired lease %s, but %s still believes to hold it", n.name, id, other.name)
		}
	}
}

// beat writes a heartbeat. Events may happen before and after that, and its answer may be lost.
func (n *node) beat() {
	begun := n.clock()
	n.beating = true
	defer func() { n.beating = false }()
	n.maybeEvents()
	if n.dead {
		return
	}
	n.writes++
	n.beats[n.name] = changefeed.Heartbeat{Owner: n.name, ETag: fmt.Sprint(n.writes)}
	n.maybeEvents()
	if n.calm || rapid.IntRange(0, 9).Draw(n.T, "lost") > 0 {
		n.pulse.beat(begun, n.clock())
	}
}

var errNoAnswer = errors.New("no answer")

// write is a conditional write. Events may happen before and after it, and its answer may be
// lost.
func (n *node) write(_ context.Context, lease changefeed.Lease) (changefeed.Lease, error) {
	n.maybeEvents()
	current := n.leases[lease.ID]
	if n.dead {
		return lease, errNoAnswer
	}
	if current.ETag != lease.ETag {
		return lease, changefeed.ErrLeaseLost
	}
	n.writes++
	if current.Owner != lease.Owner {
		n.moves++
	}
	lease.ETag = fmt.Sprint(n.writes)
	n.leases[lease.ID] = lease
	n.maybeEvents()
	if !n.calm && rapid.IntRange(0, 9).Draw(n.T, "lost") == 0 {
		return lease, errNoAnswer
	}
	return lease, nil
}

func (c *cluster) maybeEvents() {
	if c.calm || c.depth > 1 {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	for rapid.IntRange(0, 3).Draw(c.T, "event") == 0 {
		c.randomEvent()
	}
}

// randomEvent triggers one event.
func (c *cluster) randomEvent() {
	n := rapid.SampledFrom(c.nodes).Draw(c.T, "node")
	kind := rapid.IntRange(0, 19).Draw(c.T, "kind")
	switch {
	case kind == 0 && rapid.IntRange(0, 3).Draw(c.T, "dies") == 0:
		n.dead = true
	case kind == 1:
		n.asleep = !n.asleep
	case kind < 7:
		c.now = c.now.Add(time.Duration(rapid.IntRange(1, 8000).Draw(c.T, "milliseconds")) * time.Millisecond)
	case n.dead || n.asleep || c.depth > 0 && n.isWriting():
	case kind < 11:
		n.observe()
	case kind < 15:
		n.act()
	default:
		n.beat()
	}
}

// isWriting reports whether a node is in the middle of a write. A node does one thing at a
// time.
func (n *node) isWriting() bool {
	if n.beating {
		return true
	}
	for _, held := range n.held {
		if len(held.writing) > 0 {
			return true
		}
	}
	return false
}

// round simulates one balance interval without faults: each node that is alive shows that, observes
// and acts, in any order.
func (c *cluster) round() {
	c.now = c.now.Add(clusterBalance)
	alive := c.alive()
	nodes := rapid.Permutation(alive).Draw(c.T, "order")
	together := rapid.Bool().Draw(c.T, "together")
	for _, n := range nodes {
		n.beat()
		n.observe()
		if !together {
			n.act()
		}
	}
	for _, n := range nodes {
		n.act()
	}
}

func (c *cluster) alive() []*node {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n.dead })
}

// counts returns the number of leases that each node that is alive works on.
func (c *cluster) counts() []int {
	var counts []int
	for _, n := range c.alive() {
		mine := 0
		for id, held := range n.held {
			if held.check() == nil && c.leases[id].Owner == n.name {
				mine++
			}
		}
		counts = append(counts, mine)
	}
	return counts
}

func sum(counts []int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// Whatever projectors die, sleep and wake, and whatever requests fail: no projector takes an
// expired lease whose former owner still believes to hold it. Without faults, all leases have
// an owner after one expiry. Then the loads come to differ by at most one, and no lease moves
// any more.
func TestLeasesAreSharedFairly(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		for range rapid.IntRange(0, 150).Draw(t, "events") {
			c.randomEvent()
		}
		if len(c.alive()) == 0 {
			c.nodes[0].dead = false
		}
		for _, n := range c.nodes {
			n.asleep = false
		}
		c.calm = true
		for range int(clusterExpire/clusterBalance) + 1 {
			c.round()
		}
		if counts := c.counts(); sum(counts) != len(c.leases) {
			t.Fatalf("of %d leases, the nodes alive have %v", len(c.leases), counts)
		}
		for range len(c.leases) + 20 { // stealing fails if the owner wrote the lease meanwhile
			c.round()
		}
		counts := c.counts()
		if slices.Max(counts)-slices.Min(counts) > 1 || sum(counts) != len(c.leases) {
			t.Fatalf("%d leases, shared as %v", len(c.leases), counts)
		}
		c.moves = 0
		for range 10 {
			c.round()
		}
		if c.moves > 0 {
			t.Fatalf("%d leases moved although they were shared as %v", c.moves, counts)
		}
	})
}
