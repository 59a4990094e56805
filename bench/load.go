package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// operation is a kind of request to one server. It may be used concurrently.
type operation struct {
	name     string
	isWrite  bool
	requests requests
	sent     atomic.Int64 // number of requests so far
}

// requests are the numbered requests of an operation and what their answers must be. They may be
// used concurrently.
type requests interface {
	// Append appends request n to buffer. It returns an error if there are no more requests.
	Append(buffer []byte, n int) ([]byte, error)
	// Check returns an error with the text of the answer if request n failed.
	Check(n int, a answer) error
}

// load is a set of open connections for one operation.
type load struct {
	operation   *operation
	connections []*connection
	failed      atomic.Bool
}

// slice is the result of a load: how many requests succeeded, in which time, and how long each
// took.
type slice struct {
	requests  int
	elapsed   time.Duration
	latencies []time.Duration
}

// rate returns the requests per second.
func (s slice) rate() float64 { return float64(s.requests) / s.elapsed.Seconds() }

// answerTimeout is the time for the last answers of a load.
const answerTimeout = 30 * time.Second

// openLoad opens connections and sends one request on each, so that run meets a server that has
// accepted them.
func openLoad(ctx context.Context, address string, o *operation, connections int) (*load, error) {
	l := &load{operation: o}
	for range connections {
		c, err := dial(address)
		if err != nil {
			l.close()
			return nil, err
		}
		l.connections = append(l.connections, c)
	}
	if _, err := l.run(ctx, 0); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// run sends requests on all connections for a duration, and at least one on each. Each connection
// sends its next request as soon as it has an answer. It returns an error if a request failed: an
// error is never counted.
func (l *load) run(ctx context.Context, duration time.Duration) (slice, error) {
	stop := context.AfterFunc(ctx, func() {
		for _, c := range l.connections {
			_ = c.conn.SetDeadline(time.Unix(1, 0))
		}
	})
	defer stop()
	var (
		group     sync.WaitGroup
		latencies = make([][]time.Duration, len(l.connections))
		failures  = make([]error, len(l.connections))
	)
	start := time.Now()
	for i, c := range l.connections {
		group.Go(func() { latencies[i], failures[i] = l.drive(c, start.Add(duration)) })
	}
	group.Wait()
	s := slice{elapsed: time.Since(start)}
	if ctx.Err() != nil {
		return s, context.Cause(ctx)
	}
	for _, some := range latencies {
		s.requests += len(some)
		s.latencies = append(s.latencies, some...)
	}
	for _, err := range failures {
		if err != nil {
			return s, fmt.Errorf("%s: %w", l.operation.name, err)
		}
	}
	return s, nil
}

// drive sends requests on one connection until the end, or until another connection fails.
func (l *load) drive(c *connection, end time.Time) (latencies []time.Duration, err error) {
	defer func() {
		if err != nil {
			l.failed.Store(true)
		}
	}()
	if err := c.conn.SetDeadline(end.Add(answerTimeout)); err != nil {
		return nil, err
	}
	var request []byte
	for now := time.Now(); !l.failed.Load(); {
		n := int(l.operation.sent.Add(1) - 1)
		if request, err = l.operation.requests.Append(request[:0], n); err != nil {
			return latencies, err
		}
		a, err := c.exchange(request)
		if err != nil {
			return latencies, err
		}
		if err := l.operation.requests.Check(n, a); err != nil {
			return latencies, err
		}
		after := time.Now()
		latencies = append(latencies, after.Sub(now))
		if now = after; !now.Before(end) {
			break
		}
	}
	return latencies, nil
}

func (l *load) close() {
	for _, c := range l.connections {
		c.close()
	}
}

// checkAnswer returns an error with the answer's text if a GraphQL request failed. A compressed
// answer is checked by its status only.
func checkAnswer(a answer) error {
	if a.status != 200 {
		return fmt.Errorf("HTTP %d: %s", a.status, excerpt(a.body))
	}
	if header(a.head, "Content-Encoding") == nil && bytes.Contains(a.body, []byte(`"errors":`)) {
		return errors.New(excerpt(a.body))
	}
	return nil
}

// excerpt returns the beginning of a text for an error message.
func excerpt(text []byte) string {
	const most = 2000
	if len(text) > most {
		return string(text[:most]) + " …"
	}
	return string(text)
}
