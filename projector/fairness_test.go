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

	"cosmosblog/store"
)

const (
	cityExpire  = 20 * time.Second
	cityBalance = 5 * time.Second
)

// city is a number of projectors and what they share: leases, of which each write is conditional. There are no requests in it;
// what happens between two of them is drawn.
type city struct {
	*rapid.T
	now    time.Time
	leases map[string]store.Lease
	writes int
	nodes  []*node
	depth  int  // of what happens while a write is under way
	calm   bool // no write is late or gets lost, nobody dies
	moves  int  // how often a lease got another owner
}

// node is a projector without its work: it looks at the leases, and later does what it planned.
type node struct {
	*city
	name      string
	offset    time.Duration // of its clock: no two show the same
	dead      bool
	asleep    bool
	sightings sightings
	held      map[string]*heldLease
	plan      *plan
}

func newCity(t *rapid.T) *city {
	c := &city{T: t, now: time.Now(), leases: map[string]store.Lease{}}
	for i := range rapid.IntRange(1, 12).Draw(t, "leases") {
		id := fmt.Sprintf("lease.%d", i)
		c.leases[id] = store.Lease{ID: id, ETag: "new"}
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		c.nodes = append(c.nodes, &node{city: c, name: fmt.Sprintf("node-%d", i), sightings: sightings{}, held: map[string]*heldLease{},
			offset: time.Duration(rapid.IntRange(-1000, 1000).Draw(t, "offset")) * time.Hour})
	}
	return c
}

func (n *node) clock() time.Time { return n.now.Add(n.offset) }

func (n *node) look() {
	s := situation{me: n.name, expire: cityExpire, held: map[string]bool{}}
	for id := range n.held {
		s.held[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(n.leases)) {
		lease := n.leases[id]
		s.leases = append(s.leases, sightedLease{lease, n.sightings.unchanged(id, lease.ETag, n.clock())})
	}
	planned := planLeases(s)
	n.plan = &planned
}

// act does what was planned as Projector.take does.
func (n *node) act() {
	if n.plan == nil {
		return
	}
	planned := *n.plan
	n.plan = nil
	for _, lease := range slices.Concat(planned.mine, planned.steal) {
		n.acquire(lease)
	}
	for _, lease := range planned.free {
		if planned.take == 0 {
			return
		}
		if n.acquire(lease) {
			planned.take--
			if lease.Owner != "" {
				n.nobodyElseBelieves(lease.ID)
			}
		}
	}
}

func (n *node) acquire(lease store.Lease) bool {
	if n.dead || n.held[lease.ID] != nil {
		return false
	}
	held := &heldLease{write: n.write, now: n.clock, expire: cityExpire, answer: time.Hour, often: 1, lease: lease,
		writing: make(chan struct{}, 1)}
	if held.take(context.Background(), n.name) != nil || n.dead {
		return false
	}
	n.held[lease.ID] = held
	return true
}

// nobodyElseBelieves checks what expiry by one's own clock is for: whoever had the lease knows by now that it may be gone.
func (n *node) nobodyElseBelieves(id string) {
	for _, other := range n.nodes {
		if held := other.held[id]; other != n && held != nil && held.check() == nil {
			n.Fatalf("%s took %s, which had expired, and %s works on", n.name, id, other.name)
		}
	}
}

func (n *node) renew() {
	for _, id := range slices.Sorted(maps.Keys(n.held)) {
		if n.held[id] != nil && errors.Is(n.held[id].save(context.Background()), store.ErrLeaseLost) {
			delete(n.held, id)
		}
	}
}

var errNoAnswer = errors.New("no answer")

// write is one conditional write. Before and after it anything may happen, and its answer may get lost.
func (n *node) write(_ context.Context, lease store.Lease) (store.Lease, error) {
	n.meanwhile()
	current := n.leases[lease.ID]
	if n.dead {
		return lease, errNoAnswer
	}
	if current.ETag != lease.ETag {
		return lease, store.ErrLeaseLost
	}
	n.writes++
	if current.Owner != lease.Owner {
		n.moves++
	}
	lease.ETag = fmt.Sprint(n.writes)
	n.leases[lease.ID] = lease
	n.meanwhile()
	if !n.calm && rapid.IntRange(0, 9).Draw(n.T, "lost") == 0 {
		return lease, errNoAnswer
	}
	return lease, nil
}

func (c *city) meanwhile() {
	if c.calm || c.depth > 1 {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	for rapid.IntRange(0, 3).Draw(c.T, "meanwhile") == 0 {
		c.happen()
	}
}

// happen lets one thing happen.
func (c *city) happen() {
	n := rapid.SampledFrom(c.nodes).Draw(c.T, "node")
	what := rapid.IntRange(0, 19).Draw(c.T, "what")
	switch {
	case what == 0 && rapid.IntRange(0, 3).Draw(c.T, "dies") == 0:
		n.dead = true
	case what == 1:
		n.asleep = !n.asleep
	case what < 7:
		c.now = c.now.Add(time.Duration(rapid.IntRange(1, 8000).Draw(c.T, "milliseconds")) * time.Millisecond)
	case n.dead || n.asleep || c.depth > 0 && n.isWriting():
	case what < 11:
		n.look()
	case what < 15:
		n.act()
	default:
		n.renew()
	}
}

// isWriting tells whether a node is in the middle of a write of its own: it does one thing after the other.
func (n *node) isWriting() bool {
	for _, held := range n.held {
		if len(held.writing) > 0 {
			return true
		}
	}
	return false
}

// round is Balance in which all is well: each living node renews, looks and acts, in any order.
func (c *city) round() {
	c.now = c.now.Add(cityBalance)
	living := c.living()
	nodes := rapid.Permutation(living).Draw(c.T, "order")
	together := rapid.Bool().Draw(c.T, "together")
	for _, n := range nodes {
		n.renew()
		n.look()
		if !together {
			n.act()
		}
	}
	for _, n := range nodes {
		n.act()
	}
}

func (c *city) living() []*node {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n.dead })
}

// counts gives how many leases each living node works on. It fails where one is worked on by none or by two.
func (c *city) counts() []int {
	var counts []int
	for _, n := range c.living() {
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

// However projectors die, sleep and wake, and whatever becomes of their requests: nobody takes an expired lease from
// somebody who believes to have it. Once all is well, everything is owned after one expiry, then everybody has as much
// as the others but for one lease, and then nothing moves any more.
func TestProjectorsShareFairly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCity(t)
		for range rapid.IntRange(0, 150).Draw(t, "happenings") {
			c.happen()
		}
		if len(c.living()) == 0 {
			c.nodes[0].dead = false
		}
		for _, n := range c.nodes {
			n.asleep = false
		}
		c.calm = true
		for range int(cityExpire/cityBalance) + 1 {
			c.round()
		}
		if counts := c.counts(); sum(counts) != len(c.leases) {
			t.Fatalf("of %d leases, the living have %v", len(c.leases), counts)
		}
		for range len(c.leases) + 20 { // a thief is too late where the owner renewed since it looked
			c.round()
		}
		counts := c.counts()
		if slices.Max(counts)-slices.Min(counts) > 1 || sum(counts) != len(c.leases) {
			t.Fatalf("%d leases are shared as %v", len(c.leases), counts)
		}
		c.moves = 0
		for range 10 {
			c.round()
		}
		if c.moves > 0 {
			t.Fatalf("%d leases move though they are shared as %v", c.moves, counts)
		}
	})
}
