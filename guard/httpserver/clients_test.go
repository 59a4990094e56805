package httpserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"cosmosblog/guard/limits"
)

// limitsWith returns the default limits with a change, such as a time short enough for a test.
func limitsWith(change func(*limits.Limits)) limits.Limits {
	l := limits.Default()
	change(&l)
	return l
}

// serve runs a server until the test ends and returns a connection to it.
func serve(t *testing.T, handler http.Handler, l limits.Limits) net.Conn {
	t.Helper()
	listener := listenOnLoopback(t)
	s := newDrainingServer(t.Context(), Server{Handler: handler, Limits: l, Logger: discard})
	go s.http.Serve(listener)
	t.Cleanup(func() { s.http.Close() })
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

// TestSlowClientsAreDisconnected hangs if the server waits for slow clients.
func TestSlowClientsAreDisconnected(t *testing.T) {
	shortHeaderTime := limitsWith(func(l *limits.Limits) { l.HeaderTime = time.Millisecond })
	shortIdleTime := limitsWith(func(l *limits.Limits) { l.IdleTime = time.Millisecond })
	for name, c := range map[string]struct {
		limits limits.Limits
		sends  string
		answer string // a prefix; empty if the connection is closed without a response
	}{
		"no headers":       {shortHeaderTime, "", ""},
		"half the headers": {shortHeaderTime, "GET / HTTP/1.1\r\nHost: ", ""},
		"between requests": {shortIdleTime, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK"},
	} {
		t.Run(name, func(t *testing.T) {
			connection := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), c.limits)
			io.WriteString(connection, c.sends)
			answer, err := io.ReadAll(connection)
			if errors.Is(err, syscall.ECONNRESET) && c.answer == "" {
				err = nil // what was sent arrived after the server had closed the connection
			}
			if err != nil || !strings.HasPrefix(string(answer), c.answer) || c.answer == "" && len(answer) > 0 {
				t.Errorf("got %q, %v", answer, err)
			}
		})
	}
}

func TestSlowBodiesTimeOut(t *testing.T) {
	read := make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		read <- err
		w.WriteHeader(http.StatusRequestTimeout)
	})
	connection := serve(t, handler, limitsWith(func(l *limits.Limits) { l.ReadTime = 200 * time.Millisecond }))
	io.WriteString(connection, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	answer, err := io.ReadAll(connection) // the server does not wait for the rest of the body
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408") {
		t.Errorf("got %q, %v", answer, err)
	}
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading the body: %v", err)
	}
}

func TestSlowReadersTimeOut(t *testing.T) {
	written := make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 1<<20); ; {
			if _, err := w.Write(part); err != nil {
				written <- err
				return
			}
		}
	})
	connection := serve(t, handler, limitsWith(func(l *limits.Limits) { l.WriteTime = 20 * time.Millisecond }))
	io.WriteString(connection, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-written; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing: %v", err)
	}
}

func TestLargeHeadersAreRejected(t *testing.T) {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the request reached the handler") })
	connection := serve(t, handler, limitsWith(func(l *limits.Limits) { l.HeaderBytes = 1 << 10 }))
	long := strings.Repeat("x", 16<<10) // net/http allows 4 KiB more than the limit
	go fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", long)
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %v, %v", answer, err)
	}
}
