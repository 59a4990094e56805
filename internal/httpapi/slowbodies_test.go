package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/internal/limits"
)

// A client that sends its body slowly must not keep others from sending theirs.
func TestSlowBodiesMakeRoom(t *testing.T) {
	const held = 64 << 10
	s := newSlowServer(t, func(l *limits.Limits) { l.AllBodiesBytes = 4*held + 100 })
	send := func(body string, length int) (net.Conn, *bufio.Reader) {
		connection, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		connection.SetDeadline(time.Now().Add(10 * time.Second)) // a test that fails does not hang
		fmt.Fprintf(connection, "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body)
		return connection, bufio.NewReader(connection)
	}
	status := func(answers *bufio.Reader) int {
		t.Helper()
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	query := `{"query":"{__typename}"` + strings.Repeat(" ", 200) + "}"
	var stalled []*bufio.Reader
	for range 4 {
		_, answers := send(strings.Repeat(" ", held), 2<<20)
		stalled = append(stalled, answers)
	}
	for end := time.Now().Add(5 * time.Second); ; { // until the four bodies have arrived
		_, answers := send(query, len(query))
		if got := status(answers); got == 429 {
			break
		} else if got != 200 || time.Now().After(end) {
			t.Fatalf("status %d", got)
		}
	}
	s.clock.pass(time.Second)
	for range 3 {
		_, answers := send(query, len(query))
		if got := status(answers); got != 200 {
			t.Errorf("a complete body: status %d", got)
		}
	}
	stopped := make(chan int, len(stalled))
	for _, answers := range stalled {
		go func() {
			response, err := http.ReadResponse(answers, nil)
			if err != nil { // the test ended, or the body was not stopped
				response = &http.Response{}
			}
			stopped <- response.StatusCode
		}()
	}
	if got := <-stopped; got != 408 {
		t.Errorf("a body that was stopped: status %d", got)
	}
}
