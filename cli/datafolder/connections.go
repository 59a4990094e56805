package datafolder

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// newHTTPClient returns net/http's client for an account, with room for many connections to one
// host. Each connection is closed within five minutes of its opening, unless its last request takes
// longer. now is its clock.
func newHTTPClient(now func() time.Time) *http.Client {
	return &http.Client{Transport: &generations{now: now}}
}

// generations is an http.RoundTripper that begins again with new connections every generationTime,
// and at each CloseIdleConnections. The names of an account's endpoints lead to another region
// after a failover, or to another gateway, but open connections stay where they are. It may be used
// concurrently, and keeps only one transport: a former one goes when its last request ends.
type generations struct {
	now func() time.Time

	mu      sync.Mutex
	current *http.Transport // nil before the first request
	begun   time.Time       // when current was new
}

// RoundTrip implements http.RoundTripper.
func (g *generations) RoundTrip(request *http.Request) (*http.Response, error) {
	return g.transport().RoundTrip(request)
}

// transport returns the transport for a request.
func (g *generations) transport() *http.Transport {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == nil || g.now().Sub(g.begun) >= generationTime {
		g.renew()
	}
	return g.current
}

// CloseIdleConnections closes idle connections, and the others when their requests end.
func (g *generations) CloseIdleConnections() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.renew()
}

// renew begins a generation. net/http closes connections of the former one as they become idle. The
// caller holds g.mu.
func (g *generations) renew() {
	if g.current != nil {
		g.current.CloseIdleConnections()
	}
	g.current, g.begun = newTransport(), g.now()
}

func newTransport() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	transport.MaxIdleConns = maxIdleConnections
	transport.MaxIdleConnsPerHost = maxIdleConnections
	transport.IdleConnTimeout = idleTimeout
	transport.ResponseHeaderTimeout = responseTimeout
	return transport
}

// Timeouts of requests to an account. Longer ones would not help: a script may run for 5 s, and
// clients retry their requests.
const (
	dialTimeout     = 5 * time.Second
	responseTimeout = 20 * time.Second
)

// The life of a connection: no request begins on it after generationTime. With HTTP/2, it ends
// idleTimeout after its last answer, otherwise with it. Altogether that is less than five minutes,
// after which azure-cosmos-dotnet-v3 renews connections, too (pull request 3762).
const (
	generationTime = 4 * time.Minute
	idleTimeout    = 30 * time.Second
)
