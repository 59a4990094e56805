package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// underWay sends all of a request but its end, and gives what sends that and reads the answer.
func underWay(t *testing.T, address string) (finish func() *http.Response) {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	const body = `{"query":"{ feed { nodes { id } } }"}`
	fmt.Fprintf(connection, "POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		address, len(body), body[:10])
	return func() *http.Response {
		t.Helper()
		io.WriteString(connection, body[10:])
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

// What is under way when the process is told to end is answered. Nothing new is taken, and whoever asks the operator's
// address is told to send it elsewhere.
func TestShutdownDrains(t *testing.T) {
	p := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--metrics-addr", "127.0.0.1:0")
	operator := p.says(t, `at (http://\S+)/metrics`)
	api, err := url.Parse(p.says(t, `at (http://\S+)/graphql`))
	if err != nil {
		t.Fatal(err)
	}
	checkStatus(t, operator+"/readyz", http.StatusOK)
	finish := underWay(t, api.Host)
	eventually(t, "the request is under way", patience, func() bool {
		return strings.Contains(fetch(t, operator+"/metrics"), "\ncosmosblog_requests_in_flight 1\n")
	})
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it takes no more requests", patience, func() bool {
		connection, err := net.Dial("tcp", api.Host)
		if err == nil {
			connection.Close()
		}
		return err != nil
	})
	checkStatus(t, operator+"/readyz", http.StatusServiceUnavailable)
	answer := finish()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != `{"data":{"feed":{"nodes":[]}}}` {
		t.Errorf("got %s %s %v", answer.Status, text, err)
	}
	if code := p.wait(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
	if log := p.stderr.String(); !strings.Contains(log, "cause.process=") {
		t.Errorf("the log does not tell why it was not ready: %s", log)
	}
}
