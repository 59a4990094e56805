package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"cosmosblog/bench/plot"
)

// attackMemory is the memory limit of the server that is attacked.
const attackMemory = "700MiB"

// attack is a way to use everything that the limits allow to some addresses.
type attack struct {
	name      string
	addresses int
	streams   int // of each address
	// body returns the body of the request for the stream of a number.
	body func(post string, n int) []byte
	// overSockets opens each stream on a WebSocket of its own, after a document that is not valid.
	overSockets bool
}

func shortDocument(post string, n int) []byte {
	return encodeBody(fmt.Sprintf("subscription { postChanged(id: %q) { %s likeCount } } # %d", post, strings.Repeat("id ", 220), n), nil)
}

var attacks = []attack{
	{"long documents", 1, 100, func(post string, n int) []byte {
		return encodeBody(fmt.Sprintf("subscription { postChanged(id: %q) { %s likeCount } } # %d %s", post, strings.Repeat("id ", 240), n, strings.Repeat("x", 17<<10)), nil)
	}, false},
	{"short documents", 4, 100, shortDocument, false},
	{"short documents of ten", 10, 100, shortDocument, false},
	{"WebSockets", 1, 100, shortDocument, true},
	{"long answers", 1, 100, func(post string, n int) []byte {
		var fields strings.Builder
		for i := range 25 {
			fmt.Fprintf(&fields, "c%d: comments(first: 50) { nodes { id content author { id username } } } ", i)
		}
		return encodeBody(fmt.Sprintf("subscription { postChanged(id: %q) { %s likeCount } } # %d", post, fields.String(), n), nil)
	}, false},
	{"nested objects", 1, 100, func(post string, n int) []byte {
		var fields strings.Builder
		for i := range 8 {
			fmt.Fprintf(&fields, "c%d: comments(first: 50) { nodes { id post { id title likeCount author { id username } } } } ", i)
		}
		return encodeBody(fmt.Sprintf("subscription { postChanged(id: %q) { %s likeCount } } # %d", post, fields.String(), n), nil)
	}, false},
	{"variables that are not declared", 18, 100, func(post string, n int) []byte {
		small := map[string]any{}
		for i := range 400 {
			small[fmt.Sprint("v", i)] = map[string]any{"a": map[string]any{}}
		}
		small["p"] = post
		return encodeBody(fmt.Sprintf("subscription ($p: ID!) { postChanged(id: $p) { likeCount } } # %d", n), small)
	}, false},
}

// attacked is what another client sees of an attack, and what it costs the server.
type attacked struct {
	Name      string  `json:"name"`
	Streams   int     `json:"streams"`           // that were opened
	Refused   int     `json:"refused"`           // streams
	Alone     float64 `json:"aloneMillis"`       // the median of another client's queries
	Likes     float64 `json:"likesMillis"`       // with the likes, but without streams
	Under     float64 `json:"underMillis"`       // with the streams and likes
	Processor float64 `json:"processors"`        // that the server uses then
	Charged   float64 `json:"charged"`           // of them, to the clients of streams
	States    float64 `json:"statesPerSecond"`   // that the streams received, of all
	Open      float64 `json:"openMebibytes"`     // of the process, when the streams are open
	Memory    float64 `json:"greatestMebibytes"` // of the process, at most
}

// benchmarkAttack opens everything that an address may, likes a post again and again, and measures
// the queries of a client of another address. It needs the addresses of 127.0.0.0/8, as Linux has
// them.
func benchmarkAttack(ctx context.Context, o *options) (*report, error) {
	if err := os.Setenv("GOMEMLIMIT", attackMemory); err != nil { // of the server
		return nil, err
	}
	w, err := newWorld(ctx, o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	r := newReport(o, nil)
	for i, a := range attacks {
		fmt.Fprintf(w.progress, "%s\n", a.name)
		data := filepath.Join(w.folder, fmt.Sprint("data", i))
		process, err := w.program.serve(ctx, data, filepath.Join(w.folder, fmt.Sprint(i, ".log")))
		if err != nil {
			return nil, err
		}
		w.processes = append(w.processes, process)
		measured, err := a.measure(ctx, w, data, process)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		r.Attacked = append(r.Attacked, measured)
		if err := w.end(); err != nil {
			return nil, err
		}
	}
	r.addAttacked()
	return r, nil
}

// measure carries out an attack on the server of a data folder.
func (a attack) measure(ctx context.Context, w *world, data string, process *process) (m attacked, err error) {
	m.Name = a.name
	l, err := newLiker(ctx, w, data)
	if err != nil {
		return m, err
	}
	if err := l.comment(50); err != nil {
		return m, err
	}
	if m.Alone, err = queries(process.address, w.slice); err != nil {
		return m, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var liking sync.WaitGroup
	defer liking.Wait()
	defer stop()
	liking.Go(func() { err = l.likeUntil(ctx) })
	if m.Likes, err = queries(process.address, w.slice); err != nil {
		return m, err
	}
	var received atomic.Int64
	var streams []net.Conn
	defer func() {
		for _, s := range streams {
			s.Close()
		}
	}()
	for n := range a.addresses * a.streams {
		s, isOpen, err := a.open(process.address, n, l.post, &received)
		if err != nil {
			return m, fmt.Errorf("after %d streams: %w", len(streams), err)
		}
		if streams = append(streams, s); !isOpen {
			m.Refused++
		}
	}
	m.Streams = len(streams) - m.Refused
	m.Open = residentMebibytes(process.command.Process.Pid)
	before, _ := processorTime(process.command.Process.Pid)
	chargedBefore, _ := process.metrics(ctx)
	statesBefore, begun := received.Load(), time.Now()
	if m.Under, err = queries(process.address, w.slice); err != nil {
		return m, err
	}
	after, _ := processorTime(process.command.Process.Pid)
	m.Processor = (after - before).Seconds() / time.Since(begun).Seconds()
	charged, _ := process.metrics(ctx)
	const name = "cosmosblog_subscriptions_processor_seconds_total"
	m.Charged = (charged[name] - chargedBefore[name]) / time.Since(begun).Seconds()
	m.States = float64(received.Load()-statesBefore) / time.Since(begun).Seconds()
	m.Memory = peakMebibytes(process.command.Process.Pid)
	return m, err
}

// comment writes some comments on the post.
func (l *liker) comment(n int) error {
	c, err := newClient(l.address)
	if err != nil {
		return err
	}
	defer c.close()
	for i := range n {
		document := `mutation ($p: ID!, $c: String!) { createComment(input: {postId: $p, content: $c}) { comment { id } } }`
		content := fmt.Sprint(i, strings.Repeat(" A comment.", 20))
		if err := c.ask(l.head, document, map[string]string{"p": l.post, "c": content}, nil); err != nil {
			return err
		}
	}
	return nil
}

// likeUntil likes the post, or withdraws the like, twenty times a second until ctx ends.
func (l *liker) likeUntil(ctx context.Context) error {
	c, err := newClient(l.address)
	if err != nil {
		return err
	}
	defer c.close()
	for ctx.Err() == nil {
		_, _ = l.change(c) // a server without a place refuses it
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// queries asks for the feed for some time, and returns the median of the times to an answer in
// milliseconds. What is refused is asked again.
func queries(address string, most time.Duration) (float64, error) {
	c, err := newClient(address)
	if err != nil {
		return 0, err
	}
	defer c.close()
	query := newHead(address, "/graphql", "", "").append(nil, encodeBody(`{ feed(first: 10) { nodes { id title likeCount author { username } recentComments { excerpt } } } }`, nil))
	var all []float64
	for end := time.Now().Add(most); time.Now().Before(end); {
		begun := time.Now()
		for {
			a, err := c.exchange(query)
			if err != nil {
				return 0, err
			}
			if checkAnswer(a) == nil {
				break
			}
		}
		all = append(all, float64(time.Since(begun).Microseconds())/1000)
		time.Sleep(2 * time.Millisecond)
	}
	return median(all), nil
}

// open opens a stream from the address with a number, and counts what it receives. It reports
// whether the stream was not refused.
func (a attack) open(server string, n int, post string, received *atomic.Int64) (_ net.Conn, isOpen bool, err error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, 0, byte(1+n/a.streams))}, Timeout: time.Minute}
	c, err := dialer.Dial("tcp", server)
	if err != nil {
		return nil, false, err
	}
	body, counted := a.body(post, n), &stateCounter{received: received, first: make(chan bool, 1)}
	if a.overSockets {
		err = counted.subscribe(c, server, body)
		return c, err == nil && counted.isOpen(), err
	}
	_, err = fmt.Fprintf(c, "POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", server, len(body), body)
	if err != nil {
		return c, false, err
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(c, 4<<10), nil)
	if err != nil {
		return c, false, err
	}
	go func() {
		_, _ = io.Copy(counted, response.Body)
		counted.begin(false)
	}()
	return c, counted.isOpen(), nil
}

// subscribe makes a connection a WebSocket, and subscribes twice: by a document that is not valid,
// and by a request.
func (s *stateCounter) subscribe(connection net.Conn, server string, request []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	over := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return connection, nil }}
	socket, _, err := websocket.Dial(ctx, "ws://"+server+"/graphql", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: over}, Subprotocols: []string{"graphql-transport-ws"},
	})
	if err != nil {
		return err
	}
	socket.SetReadLimit(-1)
	for _, message := range []string{
		`{"type":"connection_init"}`, `{"type":"subscribe","id":"x","payload":{"query":"{x}"}}`,
		`{"type":"subscribe","id":"s","payload":` + string(request) + `}`,
	} {
		if err := socket.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return err
		}
	}
	go func() {
		defer s.begin(false)
		for {
			_, text, err := socket.Read(context.Background())
			switch {
			case err != nil, bytes.HasPrefix(text, []byte(`{"id":"s","type":"error"`)):
				return
			case bytes.Contains(text[:min(len(text), 60)], []byte(`"type":"next"`)):
				s.received.Add(1)
				s.begin(true)
			}
		}
	}()
	return nil
}

// isOpen reports whether the stream was not refused.
func (s *stateCounter) isOpen() bool {
	select {
	case isOpen := <-s.first:
		return isOpen
	case <-time.After(100 * time.Millisecond): // its first state waits
		return true
	}
}

// stateCounter counts the states of a stream that are written to it.
type stateCounter struct {
	received *atomic.Int64
	first    chan bool // receives whether the first answer is a state
}

func (s *stateCounter) begin(isState bool) {
	select {
	case s.first <- isState:
	default:
	}
}

// Write implements io.Writer.
func (s *stateCounter) Write(text []byte) (int, error) {
	if n := bytes.Count(text, []byte("event: next")); n > 0 {
		s.received.Add(int64(n))
		s.begin(!bytes.Contains(text, []byte(`{"errors"`)))
	}
	return len(text), nil
}

// peakMebibytes returns the greatest memory of a process so far, or 0 on systems without /proc.
func peakMebibytes(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kibibytes, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
	return kibibytes / 1024
}

// addAttacked adds the table and the plot of the attacks to the report.
func (r *report) addAttacked() {
	r.table.header = []string{"Attack", "Streams", "refused", "Median alone, ms", "with likes", "with streams", "Processors", "charged", "States/s", "Memory when open, MiB", "at most"}
	r.plot = &plot.Plot{Title: "Milliseconds of another client's query", Names: []string{"alone", "with likes", "with streams"}}
	for _, m := range r.Attacked {
		r.table.add(m.Name, fmt.Sprint(m.Streams), fmt.Sprint(m.Refused), plot.Number(m.Alone), plot.Number(m.Likes), plot.Number(m.Under),
			plot.Number(m.Processor), plot.Number(m.Charged), plot.Number(m.States), plot.Number(m.Open), plot.Number(m.Memory))
		r.plot.Rows = append(r.plot.Rows, plot.Row{Label: m.Name, Values: []float64{m.Alone, m.Likes, m.Under}})
	}
}
