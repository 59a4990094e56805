package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cosmosblog/bench/plot"
)

// subscribed is what subscribers of a post see on one server of a data folder, and what they cost
// the server.
type subscribed struct {
	Server      string  `json:"server"`
	Subscribers int     `json:"subscribers"`
	P50         float64 `json:"p50Millis"` // from sending a like until the last subscriber has it
	P99         float64 `json:"p99Millis"`
	Processor   float64 `json:"processorMillis"` // of the server, for each like
	Open        float64 `json:"openMebibytes"`   // in memory when all are open, of the whole process
	Liked       float64 `json:"likedMebibytes"`  // after the likes, with what they left to the garbage collector
}

// benchmarkSubscriptions likes a post on the server that owns a data folder, again and again, and
// measures when its subscribers on that server, or on one beside it, have the new state.
func benchmarkSubscriptions(ctx context.Context, o *options) (*report, error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	data := filepath.Join(w.folder, "data")
	for _, name := range []string{"owner", "beside"} {
		process, err := w.program.serve(ctx, data, filepath.Join(w.folder, name+".log"),
			"--max-connections", strconv.Itoa(o.subscribers+100), "--max-client-subscriptions", "0")
		if err != nil {
			return nil, err
		}
		w.processes = append(w.processes, process)
	}
	l, err := newLiker(ctx, w, data)
	if err != nil {
		return nil, err
	}
	r := newReport(o, nil)
	for _, m := range []struct {
		server      string
		process     *process
		subscribers int
	}{
		{"owner of the folder", w.processes[0], 1},
		{"beside the owner", w.processes[1], 1},
		{"owner of the folder", w.processes[0], min(1000, o.subscribers)},
		{"owner of the folder", w.processes[0], o.subscribers},
	} {
		fmt.Fprintf(w.progress, "%s: %d subscribers\n", m.server, m.subscribers)
		measured, err := l.measure(m.process, m.subscribers, o.samples)
		if err != nil {
			return nil, fmt.Errorf("%s, %d subscribers: %w", m.server, m.subscribers, err)
		}
		measured.Server = m.server
		r.Subscribed = append(r.Subscribed, measured)
	}
	r.addSubscribed()
	return r, w.end()
}

// liker likes a post, and withdraws the like, in turns.
type liker struct {
	address string
	head    head
	post    string
	n       int // likes and withdrawals so far
}

func newLiker(ctx context.Context, w *world, data string) (*liker, error) {
	token, err := w.program.tokens(ctx, data)("ada")
	if err != nil {
		return nil, err
	}
	address := w.processes[0].address
	c, err := newClient(address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	l := &liker{address: address, head: newHead(address, "/graphql", token, "")}
	var made struct{ CreatePost struct{ Post object } }
	err = errors.Join(
		c.ask(l.head, `mutation { createUser(input: {username: "ada"}) { user { id } } }`, nil, nil),
		c.ask(l.head, `mutation { createPost(input: {title: "A title", content: "Some content."}) { post { id } } }`, nil, &made))
	l.post = made.CreatePost.Post.ID
	return l, err
}

// change likes the post or withdraws the like. It returns the number of likes.
func (l *liker) change(c *client) (likes int, err error) {
	l.n++
	document := `mutation ($x: ID!) { likePost(input: {postId: $x}) { post { id } } }`
	if l.n%2 == 0 {
		document = `mutation ($x: ID!) { unlikePost(input: {postId: $x}) { post { id } } }`
	}
	return l.n % 2, c.ask(l.head, document, map[string]string{"x": l.post}, nil)
}

// apart is the time between two likes. A server sends at most twenty states a second.
const apart = 100 * time.Millisecond

// measure opens subscriptions and measures likes, one after the other.
func (l *liker) measure(p *process, subscribers, likes int) (m subscribed, err error) {
	m.Subscribers = subscribers
	streams := make([]*eventStream, 0, subscribers)
	defer func() {
		for _, s := range streams {
			s.Close()
		}
	}()
	for range subscribers {
		s, err := subscribe(p.address, fmt.Sprintf(`subscription { postChanged(id: %q) { likeCount } }`, l.post))
		if err != nil {
			return m, fmt.Errorf("after %d streams: %w", len(streams), err)
		}
		streams = append(streams, s)
	}
	c, err := newClient(l.address) // now, because a server closes connections that are idle for long
	if err != nil {
		return m, err
	}
	defer c.close()
	m.Open = residentMebibytes(p.command.Process.Pid)
	before, _ := processorTime(p.command.Process.Pid)
	var all []float64
	for range likes {
		time.Sleep(apart)
		begun := time.Now()
		count, err := l.change(c)
		if err != nil {
			return m, err
		}
		for _, s := range streams {
			if err := s.until(fmt.Sprintf(`"likeCount":%d}`, count)); err != nil {
				return m, err
			}
		}
		all = append(all, float64(time.Since(begun).Microseconds())/1000)
	}
	after, _ := processorTime(p.command.Process.Pid)
	m.Processor = float64((after - before).Milliseconds()) / float64(likes)
	m.Liked = residentMebibytes(p.command.Process.Pid)
	slices.Sort(all)
	m.P50, m.P99 = quantile(all, 0.5), quantile(all, 0.99)
	return m, nil
}

// eventStream is a stream of server-sent events.
type eventStream struct {
	net.Conn
	lines *bufio.Reader
}

// subscribe opens a stream, and waits for its first event.
func subscribe(address, query string) (*eventStream, error) {
	connection, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	s := &eventStream{connection, bufio.NewReaderSize(connection, 512)}
	_, err = fmt.Fprintf(connection, "GET /graphql?query=%s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", url.QueryEscape(query), address)
	if err == nil {
		err = s.until(`"likeCount"`)
	}
	if err != nil {
		connection.Close()
		return nil, err
	}
	return s, nil
}

// until reads up to the next event with a text.
func (s *eventStream) until(text string) error {
	if err := s.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	for {
		line, err := s.lines.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case bytes.HasPrefix(line, []byte("data: ")) && bytes.Contains(line, []byte(`"errors"`)):
			return fmt.Errorf("the stream sent %s", line)
		case bytes.HasPrefix(line, []byte("data: ")) && bytes.Contains(line, []byte(text)):
			return nil
		}
	}
}

// residentMebibytes returns the memory of a process, or 0 on systems without /proc.
func residentMebibytes(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	var kibibytes float64
	_, _ = fmt.Sscan(rest, &kibibytes) // stays 0
	return kibibytes / 1024
}

// addSubscribed adds the table and the plot of the subscribers to the report.
func (r *report) addSubscribed() {
	r.table.header = []string{"Server", "Subscribers", "p50, ms", "p99, ms", "Processor for a like, ms", "Memory when open, MiB", "after the likes, MiB"}
	r.plot = &plot.Plot{Title: "Milliseconds until all subscribers have a like", Names: []string{"p50", "p99"}}
	for _, m := range r.Subscribed {
		r.table.add(m.Server, fmt.Sprint(m.Subscribers), plot.Number(m.P50), plot.Number(m.P99), plot.Number(m.Processor), plot.Number(m.Open), plot.Number(m.Liked))
		r.plot.Rows = append(r.plot.Rows, plot.Row{Label: fmt.Sprintf("%s, %d", m.Server, m.Subscribers), Values: []float64{m.P50, m.P99}})
	}
}
