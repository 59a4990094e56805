package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/graph/model"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/request"
)

// clock is a time that tests change.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// largeAnswer is the size of an answer that does not fit into the buffers of a connection.
const largeAnswer = 7 << 20

// slowServer is an API over HTTP whose query {viewer{username}} has a large answer.
type slowServer struct {
	*httptest.Server
	testing.TB
	clock *clock

	arrived chan struct{} // receives when a body has sent what exhaust sends, and the server has it
}

func newSlowServer(t *testing.T, change func(*limits.Limits)) *slowServer {
	t.Helper()
	s := &slowServer{TB: t, clock: &clock{now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}, arrived: make(chan struct{})}
	username := strings.Repeat("x", largeAnswer)
	handler := newServer(t, func(o *api.Options, q *stubQuery) {
		o.Limits = limits.Default()
		change(&o.Limits)
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		o.Now = s.clock.read
		q.viewer = func(context.Context) (*blog.User, error) { return &blog.User{Username: username}, nil }
	}).handler
	s.Server = httptest.NewServer(s.watch(handler))
	t.Cleanup(s.Server.Close)
	return s
}

// stall sends a request of which nothing is read but the first bytes of its answer.
func (s *slowServer) stall(query string) net.Conn {
	s.Helper()
	connection, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { connection.Close() })
	connection.(*net.TCPConn).SetReadBuffer(64 << 10)
	connection.SetDeadline(time.Now().Add(10 * time.Second)) // a test that fails does not hang
	body := fmt.Sprintf(`{"query": %q}`, query)
	fmt.Fprintf(connection, "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := io.ReadFull(connection, make([]byte, 100)); err != nil {
		s.Fatal(err)
	}
	return connection
}

// get sends a query and returns the status and the beginning of the answer.
func (s *slowServer) get(query string) (status int, header http.Header, answer string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), "GET", s.URL+"/graphql?query="+query, nil)
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "identity") // compressed, the answer would be small
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text[:min(200, len(text))])
}

// A client that does not read its answer must not keep others from running operations.
func TestSlowReadersHoldNoSlots(t *testing.T) {
	s := newSlowServer(t, func(l *limits.Limits) { l.InFlight = 1 })
	s.stall("{viewer{username}}")
	if status, _, answer := s.get("{__typename}"); status != 200 {
		t.Errorf("status %d: %s", status, answer)
	}
}

// The memory of answers that are not read is bounded. Answers that were just sent are not slow, so
// a further one is rejected. Later, it takes the place of the slowest.
func TestAnswersInFlightAreBounded(t *testing.T) {
	// While an answer is made, it counts three times.
	s := newSlowServer(t, func(l *limits.Limits) { l.AllAnswersBytes = 5 * largeAnswer })
	const query = "{viewer{username}}"
	first := s.stall(query) // an answer is a little larger than largeAnswer
	s.clock.pass(time.Second / 2)
	second := s.stall(query)
	status, header, answer := s.get(query)
	if status != 429 || header.Get("Retry-After") != "1" || !strings.Contains(answer, "OVERLOADED") {
		t.Errorf("status %d, %v: %s", status, header, answer)
	}
	if status, _, answer := s.get("{__typename}"); status != 200 {
		t.Errorf("a small answer: status %d: %s", status, answer)
	}
	s.clock.pass(time.Second / 2)
	if status, _, answer := s.get(query); status != 200 {
		t.Errorf("after a second: status %d: %s", status, answer)
	}
	if n, err := io.Copy(io.Discard, first); n >= largeAnswer || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the slowest answer was completed: %d bytes, %v", n, err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(second, largeAnswer)); n < largeAnswer {
		t.Errorf("the other answer was cut: %d bytes, %v", n, err)
	}
	if status, _, answer := s.get(query); status != 200 {
		t.Errorf("after all were read: status %d: %s", status, answer)
	}
}

// While an answer is sent, nothing of its request is in memory but what the answer's share counts.
func TestAnswersTakeTheirBytes(t *testing.T) {
	const clients = 6
	s := newSlowServer(t, func(*limits.Limits) {})
	stall := func(n int) {
		s.stall(fmt.Sprintf("query Client%d{viewer{username}} # %s", n, strings.Repeat("x", 500<<10)))
	}
	stall(0)
	before := heapBytes()
	for n := range clients {
		stall(n + 1)
	}
	const most = clients * (largeAnswer + 64<<10) // with the buffers of a connection
	if taken := heapBytes() - before; taken < clients*largeAnswer || taken > most {
		t.Errorf("%d bytes are in use for %d answers, want at most %d", taken, clients, most)
	}
}

// What operations have read counts before they have an answer. A query for which there is no room
// is rejected, and so is one whose answer has none.
func TestOperationsTakeMemory(t *testing.T) {
	const all = 10 << 20
	type operation struct {
		bytes int         // that it reads
		taken chan bool   // whether there was room
		end   chan string // the username that it returns
		reply chan reply
	}
	begun := make(chan operation)
	s := newServer(t, func(o *api.Options, q *stubQuery) {
		o.Limits = limits.Default()
		o.Limits.AllAnswersBytes = all
		q.viewer = func(ctx context.Context) (*blog.User, error) {
			o := <-begun
			o.taken <- request.Of(ctx).Memory.Take(o.bytes)
			return &blog.User{Username: <-o.end}, nil
		}
	})
	begin := func(bytes int, fits bool) operation {
		o := operation{bytes, make(chan bool), make(chan string), make(chan reply)}
		go func() { o.reply <- s.query("{viewer{username}}") }()
		begun <- o
		if got := <-o.taken; got != fits {
			t.Errorf("room for %d bytes: %v", bytes, got)
		}
		return o
	}
	check := func(name string, o operation, username string, status int) {
		o.end <- username
		if r := <-o.reply; r.Code != status || status == 429 && !strings.Contains(r.Body.String(), "OVERLOADED") {
			t.Errorf("%s: %d %.200s", name, r.Code, r.Body)
		}
	}
	first := begin(all/2, true) // bytes that are read count twice
	second := begin(all/4, false)
	small := begin(100, true)
	check("a read without room", second, "b", 429)
	check("an answer without room", small, strings.Repeat("x", all/3), 429)
	check("a small answer", begin(100, true), "c", 200)
	check("the first", first, "a", 200)
	check("a read that has room again", begin(all/2, true), "d", 200)
	check("an answer that has room again", begin(100, true), strings.Repeat("x", all/4), 200)
}

// The client must know that a mutation was executed.
func TestAnswersOfMutationsInFlight(t *testing.T) {
	s := newServer(t, func(o *api.Options, q *stubQuery) {
		o.Limits = limits.Default()
		o.Limits.AllAnswersBytes = 1 << 20
		q.deletePost = func(context.Context) (*model.DeletePostPayload, error) {
			return &model.DeletePostPayload{Post: &blog.Post{ID: "p_a", PostHead: blog.PostHead{Title: strings.Repeat("x", largeAnswer)}}}, nil
		}
	})
	id := blog.IDSource{}.NewPostID("", "")
	r := s.query(`mutation{deletePost(input:{id:"` + id + `"}){post{title}}}`)
	if r.Code != 200 || string(r.Data) != "null" || r.codes() != "LIMIT_EXCEEDED" ||
		!strings.Contains(r.Errors[0].Message, "mutation succeeded") {
		t.Errorf("got %d %.300s", r.Code, r.Body)
	}
}
