package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/guard/limits"
)

// TestClientsBehindProxy checks that a client behind a trusted proxy that sends slowly has a
// limited number of requests in progress, and takes nothing from others.
func TestClientsBehindProxy(t *testing.T) {
	const allowed = 3
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		o.Limits = limits.Default()
		o.Limits.AddressConnections = allowed
		o.Origins = []string{page}
	})
	send := func(peer, client string, body io.Reader) *httptest.ResponseRecorder {
		request := httptest.NewRequest("POST", "/graphql", body)
		request.RemoteAddr = peer
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Origin", page)
		if client != "" {
			request.Header.Set("X-Forwarded-For", client)
		}
		recorder := httptest.NewRecorder()
		s.handler.ServeHTTP(recorder, request)
		return recorder
	}
	const proxy, query = "10.1.2.3:1234", `{"query":"{__typename}"}`
	ended := make(chan int, allowed)
	var slow []io.WriteCloser
	for _, client := range []string{"2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:1:ffff::3"} {
		body, writer := io.Pipe()
		go func() {
			defer body.Close() // if the server has not read it, Write fails
			ended <- send(proxy, client, body).Code
		}()
		if _, err := writer.Write([]byte(query)); err != nil { // returns when the server reads
			t.Fatal(err)
		}
		slow = append(slow, writer)
	}
	for _, c := range []struct {
		name, peer, client string
		status             int
	}{
		{"the same network", proxy, "2001:db8:0:1::1", 429},
		{"another host of it", proxy, "2001:db8:0:1::4", 429},
		{"another network", proxy, "2001:db8:0:2::1", 200},
		{"an IPv4 address", proxy, "203.0.113.1", 200},
		{"the proxy itself", proxy, "", 200},
		{"no proxy", "[2001:db8:0:1::1]:1234", "", 200}, // its connections are limited
	} {
		r := send(c.peer, c.client, strings.NewReader(query))
		if r.Code != c.status || c.status == 429 && r.Header().Get("Retry-After") == "" || r.Header().Get("Access-Control-Allow-Origin") != page {
			t.Errorf("%s: status %d, want %d: %s", c.name, r.Code, c.status, r.Body)
		}
	}
	for _, writer := range slow {
		writer.Close()
		if status := <-ended; status != 200 {
			t.Errorf("a slow request: status %d", status)
		}
	}
	if r := send(proxy, "2001:db8:0:1::1", strings.NewReader(query)); r.Code != 200 {
		t.Errorf("after the slow requests: status %d", r.Code)
	}
}

// TestRejectedBodyIsNotAwaited checks that a rejected request of a client behind a proxy ends at
// once, although its body has not arrived. Otherwise it would hold its connection, which is what
// the limit prevents.
func TestRejectedBodyIsNotAwaited(t *testing.T) {
	s := newSlowServer(t, func(l *limits.Limits) { l.AddressConnections = 1 })
	begin := func(head, body string) *bufio.Reader {
		connection, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		connection.SetDeadline(time.Now().Add(20 * time.Second)) // a test that fails does not hang
		fmt.Fprintf(connection, "%s\r\nHost: x\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n%s", head, body)
		return bufio.NewReader(connection)
	}
	check := func(head string, status int) {
		answer := begin(head, "")
		if got := statusOf(answer); got != status {
			t.Errorf("%q: status %d, want %d", head, got, status)
		}
		if _, err := answer.ReadByte(); err != io.EOF {
			t.Errorf("%q: the connection is open: %v", head, err)
		}
	}
	const length = "\r\nContent-Length: 1000"
	for head, status := range map[string]int{
		"POST /nowhere HTTP/1.1":                                  404,
		"POST /healthz HTTP/1.1":                                  405,
		"PUT /graphql HTTP/1.1":                                   405,
		"POST /graphql HTTP/1.1":                                  415,
		"OPTIONS /graphql HTTP/1.1":                               405,
		"GET /graphql?query={__typename} HTTP/1.1":                200,
		"POST /graphql HTTP/1.1\r\nAuthorization: Bearer x":       401,
		"POST /graphql HTTP/1.1\r\nContent-Type: application/xml": 415,
	} {
		check(head+length, status)
	}
	begin(fmt.Sprintf("POST /graphql HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d", declared),
		strings.Repeat(" ", stalledPart+1))
	<-s.arrived
	check("POST /graphql HTTP/1.1\r\nContent-Type: application/json"+length, 429)
}
