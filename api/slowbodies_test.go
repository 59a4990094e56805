package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"cosmosblog/guard/limits"
)

// post sends a request with a declared length, and returns its answers.
func (s *slowServer) post(body string, length int) *bufio.Reader {
	s.Helper()
	connection, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { connection.Close() })
	connection.SetDeadline(time.Now().Add(20 * time.Second)) // a test that fails does not hang
	fmt.Fprintf(connection, "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", length, body)
	return bufio.NewReader(connection)
}

// statusOf reads an answer and returns its status, or 0 if there is none.
func statusOf(answers *bufio.Reader) int {
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// paddedQuery has more bytes than the pool of bodies has left after exhaust.
var paddedQuery = `{"query":"{__typename}"` + strings.Repeat(" ", 200) + "}"

// declared is the length of the bodies that exhaust sends in part.
const declared = 2 << 20

// exhaust sends unfinished bodies that use up the pool of bodies. It returns their answers.
func (s *slowServer) exhaust(bodies, bytes int) (stalled []*bufio.Reader) {
	s.Helper()
	for range bodies {
		stalled = append(stalled, s.post(strings.Repeat(" ", bytes), declared))
		for range bytes / stalledPart {
			<-s.arrived
		}
	}
	if got := statusOf(s.post(paddedQuery, len(paddedQuery))); got != http.StatusTooManyRequests {
		s.Errorf("a complete body: status %d", got)
	}
	return stalled
}

// stalledPart is the number of bytes after which watch reports a part of a body. The length of an
// unfinished body is a multiple of it.
const stalledPart = 1 << 10

// watch returns a handler that reports how far the unfinished bodies have arrived.
func (s *slowServer) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == declared {
			r.Body = &watchedBody{ReadCloser: r.Body, arrived: s.arrived}
		}
		next.ServeHTTP(w, r)
	})
}

type watchedBody struct {
	io.ReadCloser
	arrived    chan struct{}
	unreported int // bytes
}

// Read reports the bytes of earlier calls, because the server has processed those.
func (b *watchedBody) Read(p []byte) (int, error) {
	for ; b.unreported >= stalledPart; b.unreported -= stalledPart {
		b.arrived <- struct{}{}
	}
	n, err := b.ReadCloser.Read(p)
	b.unreported += n
	return n, err
}

// A client that sends its body slowly must not keep others from sending theirs.
func TestSlowBodiesMakeRoom(t *testing.T) {
	const held = 64 << 10
	s := newSlowServer(t, func(l *limits.Limits) { l.AllBodiesBytes = 4*held + 100 })
	stalled := s.exhaust(4, held)
	s.clock.pass(time.Second)
	for range 3 {
		if got := statusOf(s.post(paddedQuery, len(paddedQuery))); got != 200 {
			t.Errorf("a complete body: status %d", got)
		}
	}
	stopped := make(chan int, len(stalled))
	for _, answers := range stalled {
		go func() { stopped <- statusOf(answers) }()
	}
	if got := <-stopped; got != 408 {
		t.Errorf("a body that was stopped: status %d", got)
	}
}

// A client must not take memory for a body that it declares and never sends.
func TestDeclaredBodiesTakeNoMemory(t *testing.T) {
	const bodies, held = 32, 64<<10 + stalledPart
	s := newSlowServer(t, func(l *limits.Limits) { l.AllBodiesBytes = bodies*held + 100 })
	heap := func() int {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int(stats.HeapAlloc)
	}
	before := heap()
	s.exhaust(bodies, held)
	if taken := heap() - before; taken > 5*bodies*held {
		t.Errorf("%d bytes are in use for %d bodies of %d bytes", taken, bodies, held)
	}
}
