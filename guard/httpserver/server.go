package httpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"cosmosblog/guard/limits"
)

// After SIGTERM, requests in flight have drainTime to finish. Then their contexts end, and they
// have abandonTime to return. The process has 10 s in all. In the remaining time, the projector
// releases its leases and the engine closes.
const (
	drainTime   = 4 * time.Second
	abandonTime = time.Second
)

// Server is an HTTP server that finishes its requests before it stops.
type Server struct {
	Handler http.Handler
	// Overflow answers the requests on connections beyond the limits of Listen. Each such connection
	// has one request, which is a probe or should be rejected quickly. Handler if nil.
	Overflow  http.Handler
	Limits    limits.Limits // times and header bytes of requests
	Logger    *slog.Logger
	DrainTime time.Duration // for requests in flight when the context ends; 4 s if 0
}

// Serve answers requests until ctx ends or the listener fails. When ctx ends, it closes the
// listener and waits for the requests in flight, at most 1.1 times DrainTime and then a second.
// It closes all connections before it returns. The end of ctx is not an error.
func (s Server) Serve(ctx context.Context, listener net.Listener) error {
	d := newDrainingServer(ctx, s)
	accepted := make(chan error, 1)
	go func() { accepted <- d.http.Serve(listener) }()
	select {
	case err := <-accepted:
		return fmt.Errorf("serving %s: %w", listener.Addr(), err)
	case <-ctx.Done():
		close(d.draining)
		listener.Close()
		// Until Serve returns, connections could still arrive, and Shutdown would close the listener
		// again, which is an error.
		<-accepted
		most := cmp.Or(s.DrainTime, drainTime)
		d.retireConnections(most / 10)
		return d.drain(most, abandonTime)
	}
}

// drainingServer is an http.Server that tracks its requests and its idle new connections.
type drainingServer struct {
	http     http.Server
	abandon  context.CancelFunc // ends the contexts of the requests
	requests sync.WaitGroup
	unused   sync.Map // set of net.Conn: connections without a request so far

	draining chan struct{} // closed at the end: each response is then the last of its connection
	open     atomic.Int64  // connections
	closed   chan struct{} // receives after a connection was closed
}

func newDrainingServer(ctx context.Context, options Server) *drainingServer {
	ctx, abandon := context.WithCancel(context.WithoutCancel(ctx))
	s := &drainingServer{abandon: abandon, closed: make(chan struct{}, 1), draining: make(chan struct{})}
	ctx = context.WithValue(ctx, drainingKey{}, s.draining)
	ctx = context.WithValue(ctx, baseKey{}, ctx)
	l := options.Limits
	overflow := options.Overflow
	if overflow == nil {
		overflow = options.Handler
	}
	s.http = http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.requests.Add(1)
			defer s.requests.Done()
			connection, _ := r.Context().Value(gatedConnKey{}).(*gatedConn)
			isOverflow := connection != nil && connection.overflow
			if isOverflow || isClosed(s.draining) {
				w.Header().Set("Connection", "close")
			}
			if isOverflow {
				defer connection.protect()()
				overflow.ServeHTTP(w, r)
				return
			}
			options.Handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: l.HeaderTime,
		ReadTimeout:       l.ReadTime,
		WriteTimeout:      l.WriteTime,
		IdleTimeout:       l.IdleTime,
		MaxHeaderBytes:    l.HeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         s.trackConnection,
		ConnContext: func(ctx context.Context, connection net.Conn) context.Context {
			return context.WithValue(ctx, gatedConnKey{}, gatedConnOf(connection))
		},
		ErrorLog: slog.NewLogLogger(options.Logger.Handler(), slog.LevelWarn),
	}
	s.http.DisableGeneralOptionsHandler = true // it would answer OPTIONS * without calling the handler
	s.http.RegisterOnShutdown(s.closeUnused)
	return s
}

type drainingKey struct{}

type baseKey struct{}

// Detached returns a context for work that goes on when the client of a request disconnects, for at
// most a time. Like the context of the request, it ends when the server abandons its requests. The
// caller must cancel it.
func Detached(ctx context.Context, atMost time.Duration) (context.Context, context.CancelFunc) {
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), atMost)
	base, ok := ctx.Value(baseKey{}).(context.Context)
	if !ok {
		return detached, cancel
	}
	stop := context.AfterFunc(base, cancel)
	return detached, func() { stop(); cancel() }
}

// Draining returns a channel that is closed when the server of a request begins to stop. A request
// that would last until its client disconnects must end then: the server waits for it. Without a
// Server, the channel is nil, and never closed.
func Draining(ctx context.Context) <-chan struct{} {
	draining, _ := ctx.Value(drainingKey{}).(chan struct{})
	return draining
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// gatedConnKey is the key of the connection in the context of its requests.
type gatedConnKey struct{}

func (s *drainingServer) trackConnection(connection net.Conn, state http.ConnState) {
	gatedConnOf(connection).track(state)
	switch state {
	case http.StateNew:
		s.open.Add(1)
		s.unused.Store(connection, nil)
		return
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
		select {
		case s.closed <- struct{}{}:
		default: // a wake-up is pending
		}
	}
	s.unused.Delete(connection)
}

// retireConnections waits until each connection has sent a last response that announces its end,
// or the time is over. Shutdown would close connections whose next request is sent but not yet
// read, and a client cannot know whether that request was executed.
func (s *drainingServer) retireConnections(most time.Duration) {
	over := time.After(most)
	for s.open.Load() > 0 {
		select {
		case <-s.closed:
		case <-over:
			return
		}
	}
}

// closeUnused closes connections that browsers and connection pools opened in advance. Shutdown
// would wait seconds for a request on them.
func (s *drainingServer) closeUnused() {
	s.unused.Range(func(connection, _ any) bool {
		connection.(net.Conn).Close()
		return true
	})
}

// drain waits for the requests in flight, then ends the contexts of the rest and waits for those
// too. Afterwards, no request uses the parts that the process closes next.
func (s *drainingServer) drain(drainTime, abandonTime time.Duration) error {
	defer s.abandon()
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	s.abandon()
	err = s.http.Close()
	ended := make(chan struct{})
	go func() { s.requests.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(abandonTime):
	}
	return err
}
