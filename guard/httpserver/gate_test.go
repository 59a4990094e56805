package httpserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"cosmosblog/guard/limits"
)

// crowd is a server with few connections, whose clients claim an address each. Its handler answers
// at once, except at /wait, where it waits for the end of the test.
type crowd struct {
	*testing.T
	listener *claimingListener
	gate     *gate
	arrived  chan struct{} // receives for each request at /wait

	mu  sync.Mutex
	now time.Time
}

// claimingListener lets each connection claim the next of some addresses.
type claimingListener struct {
	net.Listener
	claims chan string
}

func (l *claimingListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	claim := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(<-l.claims), 1234))
	return claimingConn{connection, claim}, nil
}

type claimingConn struct {
	net.Conn
	claim net.Addr
}

func (c claimingConn) RemoteAddr() net.Addr { return c.claim }

func newCrowd(t *testing.T, connections, perAddress int, trusted ...netip.Prefix) *crowd {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{T: t, listener: &claimingListener{inner, make(chan string, 1)}, arrived: make(chan struct{}),
		now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
	l := limitsWith(func(l *limits.Limits) { l.Connections, l.AddressConnections = connections, perAddress })
	c.gate = newGate(c.listener, l, trusted)
	c.gate.now = func() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
	ended := make(chan struct{})
	answer := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				c.arrived <- struct{}{}
				<-ended
			}
			io.WriteString(w, text)
		})
	}
	s := newDrainingServer(t.Context(), Server{Handler: answer("room"), Overflow: answer("full"), Limits: l, Logger: discard})
	go s.http.Serve(c.gate)
	t.Cleanup(func() { close(ended); s.http.Close() })
	return c
}

// client is a connection to a crowd.
type client struct {
	*testing.T
	net.Conn
	answers *bufio.Reader
}

// connect opens a connection of an address.
func (c *crowd) connect(address string) *client {
	c.Helper()
	connection, err := net.Dial("tcp", c.listener.Addr().String())
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { connection.Close() })
	c.listener.claims <- address
	connection.SetDeadline(time.Now().Add(5 * time.Second)) // a test that fails does not hang
	return &client{c.T, connection, bufio.NewReader(connection)}
}

// ask sends a request and returns the answer, or the error if there is none.
func (c *client) ask(path string) string {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	response, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	if response.Close {
		return string(text) + ", closed"
	}
	return string(text)
}

// wants sends a request and checks its answer.
func (c *client) wants(answer string) *client {
	c.Helper()
	if got := c.ask("/"); got != answer {
		c.Errorf("got %q, want %q", got, answer)
	}
	return c
}

// wait sends a request that the server is busy with until the test ends.
func (c *crowd) wait(address string) {
	c.Helper()
	fmt.Fprint(c.connect(address), "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case <-c.arrived:
	case <-time.After(5 * time.Second):
		c.Fatal("the request did not arrive")
	}
}

// isClosed reports whether the server has closed the connection. It waits if it has not.
func (c *client) isClosed() bool {
	_, err := c.answers.ReadByte()
	return err == io.EOF
}

// pass lets time pass.
func (c *crowd) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

const anna, bert = "203.0.113.1", "203.0.113.2"

// settled waits until n connections are open and the server knows that all of them are idle.
func (c *crowd) settled(n int) {
	c.Helper()
	for end := time.Now().Add(5 * time.Second); ; {
		c.gate.mu.Lock()
		idle, open := c.gate.waiting.Len(), c.gate.open
		c.gate.mu.Unlock()
		if idle == n && open == n {
			return
		}
		if time.Now().After(end) {
			c.Fatalf("%d of %d connections are idle, want %d", idle, open, n)
		}
	}
}

// One host must not lock out the others with connections that it does not use.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	c := newCrowd(t, 20, 20)
	first := c.connect(anna).wants("room")
	c.settled(1)
	for n := range 19 {
		c.connect(anna).wants("room")
		c.settled(n + 2)
	}
	last := c.connect(bert).wants("room")
	if !first.isClosed() {
		t.Error("the connection that was idle for longest is open")
	}
	last.wants("room")
}

// Between half of the connections and all of them, the idle time shrinks from IdleTime to 0.
func TestIdleTimeShrinks(t *testing.T) {
	c := newCrowd(t, 20, 20)
	idle := []*client{}
	for n := range 14 {
		idle = append(idle, c.connect(anna).wants("room"))
		c.settled(n + 1)
	}
	c.pass(70 * time.Second) // of 120; 60 % of it, 72 s, are allowed while 14 of 20 are open
	idle = append(idle, c.connect(bert).wants("room"))
	c.settled(15)
	c.pass(3 * time.Second) // 60 s are allowed while 15 are open, and 72 s while 14 are
	c.connect(bert).wants("room")
	c.settled(14)
	for n, one := range idle[:2] {
		if !one.isClosed() {
			t.Errorf("connection %d is open", n)
		}
	}
	for _, one := range idle[2:] {
		one.wants("room")
	}
}

// If every connection is busy, further ones get an answer and are closed.
func TestBusyConnectionsDoNotKeepProbesOut(t *testing.T) {
	c := newCrowd(t, 3, 3)
	for range 3 {
		c.wait(anna)
	}
	for range maxOverflow { // these send no request
		c.connect(bert)
	}
	for range 3 {
		c.connect(bert).wants("full, closed")
	}
}

// Probes that take their time are not replaced. Further connections then wait.
func TestOverflowIsBounded(t *testing.T) {
	c := newCrowd(t, 1, 1)
	c.wait(anna)
	for range maxOverflow {
		c.wait(bert)
	}
	late := c.connect(anna)
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if c.gate.overflow != maxOverflow || c.gate.open != 1 {
		t.Errorf("%d connections are open, and %d overflow", c.gate.open, c.gate.overflow)
	}
	late.Close()
}

func TestConnectionsOfOneAddress(t *testing.T) {
	c := newCrowd(t, 20, 2, netip.MustParsePrefix("10.0.0.0/8"))
	for range 2 {
		c.wait(anna)
	}
	c.connect(anna).wants("full, closed")
	c.connect("::ffff:" + anna).wants("full, closed")
	c.connect(bert).wants("room").wants("room")
	for _, host := range []string{"1", "2"} {
		c.wait("2001:db8:0:1::" + host)
	}
	c.connect("2001:db8:0:1:ffff::1").wants("full, closed") // the same /64 network
	c.connect("2001:db8:0:2::1").wants("room")
	for _, unlimited := range []string{"10.1.2.3", "127.0.0.1", "::1"} { // a trusted proxy, this machine
		for range 3 {
			c.wait(unlimited)
		}
	}
	c.connect("10.1.2.3").wants("room")
}

// The idle connections of an address make room for its own new ones, and for no others' loss.
func TestIdleConnectionsOfOneAddressMakeRoom(t *testing.T) {
	c := newCrowd(t, 20, 2)
	other := c.connect(bert).wants("room")
	c.settled(1)
	first := c.connect(anna).wants("room")
	c.settled(2)
	c.connect(anna).wants("room")
	c.settled(3)
	c.connect(anna).wants("room")
	if !first.isClosed() {
		t.Error("the first connection is open")
	}
	other.wants("room")
}

// A connection that ends is no longer counted, whoever ends it.
func TestEndedConnectionsAreNotCounted(t *testing.T) {
	c := newCrowd(t, 2, 2)
	for range 10 {
		c.connect(anna).wants("room").Close()
		c.settled(0)
	}
	c.wait(anna)
	c.wait(anna)
	c.connect(bert).wants("full, closed")
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if c.gate.open != 2 || len(c.gate.of) != 1 {
		t.Errorf("%d connections of %d addresses are counted", c.gate.open, len(c.gate.of))
	}
}
