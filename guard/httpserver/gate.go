package httpserver

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"cosmosblog/guard/limits"
)

// gate is a listener that bounds the open connections, in all and of each address.
//
// If connections run out, those without a request make room: the allowed idle time shrinks with
// the free connections, and a new connection replaces the one that was idle for longest. If every
// connection is busy, a new one overflows: it may send one request, which the server's Overflow
// answers. There are maxOverflow of these. A new one replaces the oldest whose request has not
// arrived, so slow clients cannot keep probes out.
type gate struct {
	net.Listener
	limits  limits.Limits
	trusted []netip.Prefix // proxies, whose connections belong to many clients
	now     func() time.Time

	mu       sync.Mutex
	changed  *sync.Cond           // a connection became idle or ended, or the gate closed
	closed   bool                 // the gate
	open     int                  // connections within the limits
	of       map[netip.Prefix]int // those of each limited address
	waiting  list.List            // those without a request, the longest-waiting first
	overflow int                  // connections beyond the limits
	pending  list.List            // those whose request has not reached the handler, the oldest first
}

// maxOverflow is the number of connections beyond the limits. Each one takes a few KiB and, except
// for probes, less than a millisecond after its request has arrived.
const maxOverflow = 64

func newGate(listener net.Listener, l limits.Limits, trusted []netip.Prefix) *gate {
	g := &gate{Listener: listener, limits: l, trusted: trusted, now: time.Now, of: map[netip.Prefix]int{}}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		g.waitForOverflow()
		connection, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := g.admit(connection); c != nil {
			return c, nil
		}
		connection.Close()
	}
}

// Close implements net.Listener.
func (g *gate) Close() error {
	g.mu.Lock()
	g.closed = true
	g.changed.Broadcast()
	g.mu.Unlock()
	return g.Listener.Close()
}

// waitForOverflow waits while neither the limits nor the overflow have room for a connection.
func (g *gate) waitForOverflow() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.closed && g.open >= g.limits.Connections && g.waiting.Len() == 0 && g.isOverflowFull() {
		g.changed.Wait()
	}
}

func (g *gate) isOverflowFull() bool { return g.overflow >= maxOverflow && g.pending.Len() == 0 }

// admit counts a new connection, and closes those that it replaces. It returns nil if there is no
// room for it.
func (g *gate) admit(connection net.Conn) *gatedConn {
	c := &gatedConn{Conn: connection, gate: g, address: g.limitedAddress(connection.RemoteAddr())}
	g.mu.Lock()
	replaced, ok := g.makeRoom(c)
	g.mu.Unlock()
	for _, old := range replaced {
		old.Conn.Close() // the server then closes old itself, which has no further effect
	}
	if !ok {
		return nil
	}
	return c
}

// makeRoom counts c and returns the connections to close for it. It returns false if c has no
// room, not even in the overflow.
func (g *gate) makeRoom(c *gatedConn) (replaced []*gatedConn, ok bool) {
	replaced = g.expire()
	switch {
	case c.address.IsValid() && g.of[c.address] >= g.limits.AddressConnections:
		replaced, ok = g.replace(replaced, func(old *gatedConn) bool { return old.address == c.address })
	case g.open >= g.limits.Connections:
		replaced, ok = g.replace(replaced, func(*gatedConn) bool { return true })
	default:
		ok = true
	}
	if ok {
		g.open++
		g.of[c.address]++
		c.wait(&g.waiting)
		return replaced, true
	}
	if g.overflow >= maxOverflow {
		oldest := g.pending.Front()
		if oldest == nil {
			return replaced, false
		}
		replaced = append(replaced, g.forget(oldest.Value.(*gatedConn)))
	}
	g.overflow++
	c.overflow = true
	c.wait(&g.pending)
	return replaced, true
}

// expire forgets the connections that wait for longer than allowed, and returns them. Up to
// half of the connections may wait for IdleTime. Beyond that, the time shrinks with the free ones.
func (g *gate) expire() (expired []*gatedConn) {
	for e := g.waiting.Front(); e != nil; e = g.waiting.Front() {
		free, all := g.limits.Connections-g.open, g.limits.Connections
		allowed := g.limits.IdleTime * time.Duration(min(2*free, all)) / time.Duration(all)
		longest := e.Value.(*gatedConn)
		if g.now().Sub(longest.since) <= allowed {
			break
		}
		expired = append(expired, g.forget(longest))
	}
	return expired
}

// replace forgets the longest-waiting connection that fits, and appends it to replaced. It returns
// false if there is none.
func (g *gate) replace(replaced []*gatedConn, fits func(*gatedConn) bool) ([]*gatedConn, bool) {
	for e := g.waiting.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*gatedConn); fits(c) {
			return append(replaced, g.forget(c)), true
		}
	}
	return replaced, false
}

// forget stops counting a connection, and returns it.
func (g *gate) forget(c *gatedConn) *gatedConn {
	if c.forgotten {
		return c
	}
	c.forgotten = true
	c.leaveList()
	if c.overflow {
		g.overflow--
	} else {
		g.open--
		if g.of[c.address]--; g.of[c.address] == 0 {
			delete(g.of, c.address)
		}
	}
	g.changed.Broadcast()
	return c
}

// limitedAddress returns the network that a connection counts for (limits.NetworkOf). It is invalid
// if the address has no limit. This applies to trusted proxies, to this machine, where proxies run
// too, and to sockets.
func (g *gate) limitedAddress(remote net.Addr) netip.Prefix {
	peer, err := netip.ParseAddrPort(remote.String())
	address := peer.Addr().Unmap().WithZone("")
	isTrusted := func(network netip.Prefix) bool { return network.Contains(address) }
	if err != nil || g.limits.AddressConnections == 0 || address.IsLoopback() || slices.ContainsFunc(g.trusted, isTrusted) {
		return netip.Prefix{}
	}
	return limits.NetworkOf(address)
}

// gatedConn is a connection that a gate counts until it is closed.
type gatedConn struct {
	net.Conn
	gate     *gate
	address  netip.Prefix // invalid if it has no limit
	overflow bool         // it is beyond the limits

	// Guarded by the gate's mutex.
	since     time.Time // when it began to wait
	list      *list.List
	element   *list.Element // of list; nil if it is in none
	forgotten bool
}

// gatedConnOf returns a server's connection as its gate returned it, or nil if there was no gate.
func gatedConnOf(connection net.Conn) *gatedConn {
	if encrypted, ok := connection.(*tls.Conn); ok {
		connection = encrypted.NetConn()
	}
	c, _ := connection.(*gatedConn)
	return c
}

// Close implements net.Conn.
func (c *gatedConn) Close() error {
	c.gate.mu.Lock()
	c.gate.forget(c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// track follows the connection's requests. It does nothing without a gate.
func (c *gatedConn) track(state http.ConnState) {
	if c == nil || c.overflow {
		return
	}
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	switch state {
	case http.StateActive:
		c.leaveList()
	case http.StateIdle:
		c.wait(&c.gate.waiting)
	}
}

// protect keeps an overflow connection from being replaced while its request is answered. The
// function that it returns ends this.
func (c *gatedConn) protect() (done func()) {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	c.leaveList()
	return func() {
		c.gate.mu.Lock()
		defer c.gate.mu.Unlock()
		c.wait(&c.gate.pending)
	}
}

// wait puts the connection at the end of a list. The gate's mutex must be locked.
func (c *gatedConn) wait(in *list.List) {
	if c.forgotten || c.element != nil {
		return
	}
	c.since, c.list, c.element = c.gate.now(), in, in.PushBack(c)
	c.gate.changed.Broadcast()
}

// leaveList removes the connection from its list. The gate's mutex must be locked.
func (c *gatedConn) leaveList() {
	if c.element != nil {
		c.list.Remove(c.element)
		c.list, c.element = nil, nil
	}
}
