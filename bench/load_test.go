//go:build ci

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/bench/bare"
)

// serving starts a handler and returns its address.
func serving(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// sending starts a server that answers the first request of each connection with the parts, one
// packet each, and then closes the connection.
func sending(t *testing.T, parts ...string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			request := make([]byte, 4096)
			if _, err := conn.Read(request); err == nil {
				for _, part := range parts {
					io.WriteString(conn, part)
				}
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

// exchange sends one request to an address.
func exchange(t *testing.T, address string) (answer, error) {
	t.Helper()
	c, err := dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	return c.exchange(newHead(address, "/graphql", "", "").append(nil, []byte("{}")))
}

// TestLoadCountsRequests compares the numbers of requests and latencies of a load with those of
// its server.
func TestLoadCountsRequests(t *testing.T) {
	var served atomic.Int64
	var mu sync.Mutex
	bodies := map[string]bool{}
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		served.Add(1)
		mu.Lock()
		defer mu.Unlock()
		if bodies[string(text)] {
			t.Errorf("the body %s was sent twice", text)
		}
		bodies[string(text)] = true
		io.WriteString(w, `{"data":{}}`)
	})
	o := &operation{name: "comment", requests: &mutations{
		users: []head{newHead(address, "/graphql", "one", ""), newHead(address, "/graphql", "two", "")},
		posts: []string{"a", "b", "c"},
		body:  func(b []byte, post string, n int) []byte { return fmt.Appendf(b, "%s %d", post, n) },
	}}
	const connections = 5
	l, err := openLoad(t.Context(), address, o, connections)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if got := served.Load(); got != connections {
		t.Errorf("opening sent %d requests, want one on each of %d connections", got, connections)
	}
	s, err := l.run(t.Context(), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if want := int(served.Load()) - connections; s.requests != want || len(s.latencies) != want {
		t.Errorf("%d requests and %d latencies, but the server got %d", s.requests, len(s.latencies), want)
	}
	if s.requests < connections || s.elapsed < 20*time.Millisecond {
		t.Errorf("%d requests in %v", s.requests, s.elapsed)
	}
	for _, latency := range s.latencies {
		if latency <= 0 || latency > s.elapsed {
			t.Errorf("a latency of %v in a slice of %v", latency, s.elapsed)
		}
	}
}

// TestAnswers reads answers in all forms that HTTP/1.1 allows, in one packet and in single bytes.
func TestAnswers(t *testing.T) {
	large := strings.Repeat("0123456789", 30_000) // more than the buffer
	for name, c := range map[string]struct{ sent, body string }{
		"length":          {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: x\r\n\r\nhello", "hello"},
		"other case":      {"HTTP/1.1 200 OK\r\ncontent-LENGTH:5\r\n\r\nhello", "hello"},
		"empty":           {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
		"chunks":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", "hello"},
		"a large chunk":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n493E0\r\n" + large + "\r\n0\r\n\r\n", large},
		"a large body":    {"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + large, large},
		"other statuses":  {"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", "gone"},
		"a long header":   {"HTTP/1.1 200 OK\r\nX: " + large + "\r\nContent-Length: 5\r\n\r\nhello", "hello"},
		"several answers": {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK", "hello"},
	} {
		ways := map[string][]string{"at once": {c.sent}}
		if len(c.sent) < 1000 {
			ways["by byte"] = strings.Split(c.sent, "")
		}
		for way, parts := range ways {
			t.Run(name+" "+way, func(t *testing.T) {
				a, err := exchange(t, sending(t, parts...))
				if err != nil {
					t.Fatal(err)
				}
				if string(a.body) != c.body {
					t.Errorf("got %d bytes: %s", len(a.body), excerpt(a.body))
				}
				if want, _, _ := strings.Cut(c.sent, "\r\n\r\n"); string(a.head) != want+"\r\n" {
					t.Errorf("got the header %s", excerpt(a.head))
				}
				if status := c.sent[len("HTTP/1.1 "):][:3]; fmt.Sprint(a.status) != status {
					t.Errorf("got the status %d, want %s", a.status, status)
				}
			})
		}
	}
}

func TestMalformedAnswers(t *testing.T) {
	for name, sent := range map[string]string{
		"cut header":         "HTTP/1.1 200 OK\r\nContent-Le",
		"cut body":           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
		"cut chunk":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
		"no last chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n",
		"chunk without end":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
		"size of a chunk":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nhel\r\n0\r\n\r\n",
		"negative length":    "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
		"enormous length":    "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n",
		"neither of the two": "HTTP/1.1 200 OK\r\n\r\nhello",
		"another protocol":   "SSH-2.0-OpenSSH\r\n\r\n",
		"nothing":            "",
	} {
		t.Run(name, func(t *testing.T) {
			if a, err := exchange(t, sending(t, sent)); err == nil {
				t.Errorf("got %d %q", a.status, a.body)
			}
		})
	}
}

// TestLoadFails requires that a load reports a failed request with its text, and does not count it.
func TestLoadFails(t *testing.T) {
	const good = `{"data":{"post":{"id":"p"}}}`
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		text    string
	}{
		"status": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "too busy", 429) }, "HTTP 429: too busy"},
		"GraphQL error": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"errors":[{"message":"no such post"}],"data":null}`)
		}, "no such post"},
		"other body": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":{"post":null}}`) }, `{"post":null}`},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, strings.Repeat("x", len(good)))
		}, "differs from the first one"},
		"disconnect": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			var served atomic.Int64
			address := serving(t, func(w http.ResponseWriter, r *http.Request) {
				if served.Add(1) > 50 {
					c.handler(w, r)
					return
				}
				io.WriteString(w, good)
			})
			reads, _, err := record(address, [][]byte{newHead(address, "/graphql", "", "").append(nil, []byte("{}"))})
			if err != nil {
				t.Fatal(err)
			}
			l, err := openLoad(t.Context(), address, &operation{name: "post", requests: reads}, 4)
			if err != nil {
				t.Fatal(err)
			}
			defer l.close()
			s, err := l.run(t.Context(), time.Minute)
			if err == nil || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "post: ") {
				t.Errorf("the load returns the error %v", err)
			}
			if s.requests > 45 {
				t.Errorf("the load counts %d requests of 45 that succeeded", s.requests)
			}
		})
	}
}

// TestLoadStops requires that a load ends when its context does, even if no answer comes.
func TestLoadStops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var served atomic.Int64
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		if served.Add(1) > 1 {
			cancel(errors.New("interrupted"))
			<-r.Context().Done()
		}
		io.WriteString(w, `{"data":{}}`)
	})
	requests := &recorded{requests: [][]byte{newHead(address, "/graphql", "", "").append(nil, []byte("{}"))}}
	l, err := openLoad(ctx, address, &operation{name: "post", requests: requests}, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.run(ctx, time.Minute)
	l.close()
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("the load returns the error %v", err)
	}
}

// TestMutationsAreDistinct requires that each pair of user and post occurs once, and that then
// likes end.
func TestMutationsAreDistinct(t *testing.T) {
	m := &mutations{isOnce: true, body: func(b []byte, post string, _ int) []byte { return append(b, post...) }}
	for n := range 4 {
		m.users = append(m.users, head(fmt.Sprintf("user %d ", n)))
	}
	for n := range 9 {
		m.posts = append(m.posts, fmt.Sprintf(" post %d", n))
	}
	seen := map[string]bool{}
	for n := range 36 {
		text, err := m.Append(nil, n)
		if err != nil || seen[string(text)] {
			t.Errorf("request %d is %q, %v", n, text, err)
		}
		seen[string(text)] = true
	}
	if text, err := m.Append(nil, 36); err == nil {
		t.Errorf("after all pairs comes %q", text)
	}
}

// TestBareServesTheSame requires that a bare server's answers have the same bytes, apart from the
// date.
func TestBareServesTheSame(t *testing.T) {
	original := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Vary", "Origin")
		w.Header().Add("Vary", "Accept-Encoding")
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", "5000")
		io.WriteString(w, strings.Repeat("x", 5000))
	}
	a, err := exchange(t, serving(t, original))
	if err != nil {
		t.Fatal(err)
	}
	b, err := exchange(t, serving(t, bare.Handler{"/graphql": bare.NewPage(a.status, a.head, a.body)}.ServeHTTP))
	if err != nil {
		t.Fatal(err)
	}
	withoutDate := func(a answer) string {
		return strings.ReplaceAll(string(a.head), string(header(a.head, "Date")), "") + string(a.body)
	}
	if withoutDate(a) != withoutDate(b) {
		t.Errorf("got\n%s\nwant\n%s", withoutDate(b), withoutDate(a))
	}
}
