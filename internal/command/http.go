package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"cosmosblog/internal/limits"
)

// When the process was told to end, requests that are under way may go on for drainTime; then they are told to end and
// have abandonTime for it. With what is left of 10 s, the projector gives its leases back and the engine closes.
const (
	drainTime   = 4 * time.Second
	abandonTime = time.Second
)

// Listen listens on the address of the setting --addr, for as many connections at once as the limits grant: others wait
// to be accepted. Errors are sentences.
func Listen(addr string, l limits.Limits) (net.Listener, error) { return listenFor("--addr", addr, l) }

// listenFor listens on the address of a setting.
func listenFor(setting, addr string, l limits.Limits) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("another process listens on %s already: end it, or choose another address with %s", addr, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not listen on %s: choose a port above 1023 with %s", addr, setting)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return netutil.LimitListener(listener, l.Connections), nil
}

// ServeHTTP answers requests until ctx ends; then it takes no more connections, waits for the requests that are under way, but
// not for long, and returns with no connection left. It holds them to the limits' times and
// header bytes. Error: the listener's.
func ServeHTTP(ctx context.Context, listener net.Listener, handler http.Handler, l limits.Limits, logger *slog.Logger) error {
	return serveHTTP(ctx, listener, handler, l, logger, drainTime)
}

func serveHTTP(ctx context.Context, listener net.Listener, handler http.Handler, l limits.Limits, logger *slog.Logger, drainTime time.Duration) error {
	s := newServer(ctx, handler, l, logger)
	accepted := make(chan error, 1)
	go func() { accepted <- s.http.Serve(listener) }()
	select {
	case err := <-accepted:
		return fmt.Errorf("serving %s: %w", listener.Addr(), err)
	case <-ctx.Done():
		s.leaving.Store(true)
		listener.Close()
		<-accepted // until then Shutdown would close the listener again, which is an error, and connections could still come
		s.retire(drainTime / 10)
		return s.drain(drainTime, abandonTime)
	}
}

// server is an http.Server that knows which requests it is answering, and which connections brought none yet.
type server struct {
	http    http.Server
	abandon context.CancelFunc // ends the requests' contexts
	answers sync.WaitGroup
	silent  sync.Map // net.Conn → nothing

	leaving atomic.Bool   // each answer is the last of its connection
	open    atomic.Int64  // connections
	closed  chan struct{} // told of connections that were closed
}

func newServer(ctx context.Context, handler http.Handler, l limits.Limits, logger *slog.Logger) *server {
	requests, abandon := context.WithCancel(context.WithoutCancel(ctx))
	s := &server{abandon: abandon, closed: make(chan struct{}, 1)}
	s.http = http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.answers.Add(1)
			defer s.answers.Done()
			if s.leaving.Load() {
				w.Header().Set("Connection", "close")
			}
			handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: l.HeaderTime,
		ReadTimeout:       l.ReadTime,
		WriteTimeout:      l.WriteTime,
		IdleTimeout:       l.IdleTime,
		MaxHeaderBytes:    l.HeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnState:         s.noteState,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	s.http.DisableGeneralOptionsHandler = true // it would answer OPTIONS * past the handler
	s.http.RegisterOnShutdown(s.closeSilent)
	return s
}

func (s *server) noteState(connection net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.open.Add(1)
		s.silent.Store(connection, nil)
		return
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
		select {
		case s.closed <- struct{}{}:
		default: // somebody is to be told already
		}
	}
	s.silent.Delete(connection)
}

// retire waits for a while for connections to end, each by an answer that says that it was the last there. Shutdown would
// close them under requests that were sent and not read yet, of which a client cannot tell what became.
func (s *server) retire(most time.Duration) {
	over := time.After(most)
	for s.open.Load() > 0 {
		select {
		case <-s.closed:
		case <-over:
			return
		}
	}
}

// closeSilent closes connections that browsers and connection pools open ahead of need. Shutdown would wait seconds for
// a request on them.
func (s *server) closeSilent() {
	s.silent.Range(func(connection, _ any) bool {
		connection.(net.Conn).Close()
		return true
	})
}

// drain waits for the requests that are under way, then tells those that are left to end and waits for them too: nobody
// uses what is closed afterwards.
func (s *server) drain(drainTime, abandonTime time.Duration) error {
	defer s.abandon()
	patience, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := s.http.Shutdown(patience)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	s.abandon()
	err = s.http.Close()
	ended := make(chan struct{})
	go func() { s.answers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(abandonTime):
	}
	return err
}
