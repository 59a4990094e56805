package httpserver

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/guard/limits"
	"cosmosblog/internal/lifecycle"
)

func listenOnLoopback(t *testing.T) net.Listener {
	t.Helper()
	listener, err := listen("--addr", "127.0.0.1:0", limits.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

var discard = slog.New(slog.DiscardHandler)

// notFound returns a server that answers every request with 404.
func notFound() Server {
	return Server{Handler: http.NotFoundHandler(), Limits: limits.Default(), Logger: discard}
}

// A request that lasts until its client disconnects learns that the server stops, before its
// context ends.
func TestDraining(t *testing.T) {
	listener := listenOnLoopback(t)
	ctx, stop := context.WithCancel(t.Context())
	arrived, ended := make(chan struct{}), make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isClosed(Draining(r.Context())) {
			t.Error("the server stops at once")
		}
		close(arrived)
		<-Draining(r.Context())
		ended <- r.Context().Err()
	})
	served := make(chan error)
	s := Server{Handler: handler, Limits: limits.Default(), Logger: discard}
	go func() { served <- s.Serve(ctx, listener) }()
	go func() { <-arrived; stop() }()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if response, err := client.Get("http://" + listener.Addr().String()); err == nil {
		response.Body.Close()
	}
	if err := <-ended; err != nil {
		t.Errorf("the request was abandoned: %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if Draining(t.Context()) != nil {
		t.Error("there is a channel without a server")
	}
}

func TestServeFinishesRequestsInFlight(t *testing.T) {
	listener := listenOnLoopback(t)
	ctx, stop := context.WithCancel(t.Context())
	arrived := make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-ctx.Done() // the server stops during the request
		if r.Context().Err() != nil {
			t.Error("the request was abandoned")
		}
		io.WriteString(w, "done")
	})
	served := make(chan error)
	s := Server{Handler: handler, Limits: limits.Default(), Logger: discard}
	go func() { served <- s.Serve(ctx, listener) }()
	go func() { <-arrived; stop() }()
	// Serve would wait for an idle connection.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answer, err := io.ReadAll(response.Body); err != nil || string(answer) != "done" {
		t.Errorf("got %q, %v", answer, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		t.Error("the address still accepts connections")
	}
}

// lateListener is a listener whose Accept returns a second after it was closed. Closing it again
// is an error, as with every listener.
type lateListener struct {
	net.Listener
	ended chan struct{}
	once  sync.Once
}

func (l *lateListener) Accept() (net.Conn, error) {
	<-l.ended
	time.Sleep(time.Second) // of synctest
	return nil, net.ErrClosed
}

func (l *lateListener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() { close(l.ended); err = nil })
	return err
}

// Serve closes the listener before http.Server does, which would close it too until its Accept
// has returned.
func TestServeWaitsForALateAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- notFound().Serve(ctx, &lateListener{ended: make(chan struct{})}) }()
		synctest.Wait()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// Only a response can tell the client that its connection accepts no further requests.
func TestShutdownAnswersRequestsOnOpenConnections(t *testing.T) {
	listener := listenOnLoopback(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error)
	s := notFound()
	s.DrainTime = time.Hour
	go func() { served <- s.Serve(ctx, listener) }()
	client := http.Client{Transport: &http.Transport{}}
	ask := func() (isLast bool) {
		response, err := client.Get("http://" + listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		io.Copy(io.Discard, response.Body)
		return response.Close
	}
	if ask() {
		t.Error("the connection ends before the server does")
	}
	stop()
	for err := error(nil); err == nil; {
		var connection net.Conn
		if connection, err = net.Dial("tcp", listener.Addr().String()); err == nil {
			connection.Close()
		}
	}
	if !ask() {
		t.Error("the last response does not close the connection")
	}
	if err := <-served; err != nil { // at once: no connection is open
		t.Error(err)
	}
}

func TestDrainEndsSlowRequests(t *testing.T) {
	listener := listenOnLoopback(t)
	arrived, ended := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
		close(ended)
	})
	s := newDrainingServer(t.Context(), Server{Handler: handler, Limits: limits.Default(), Logger: discard})
	go s.http.Serve(listener)
	go http.Get("http://" + listener.Addr().String())
	<-arrived
	if err := s.drain(time.Millisecond, time.Hour); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	default:
		t.Error("drain did not wait for the request after it ended its context")
	}
}

// Browsers open connections in advance.
func TestDrainDoesNotWaitForUnusedConnections(t *testing.T) {
	listener := listenOnLoopback(t)
	s := newDrainingServer(t.Context(), notFound())
	seen := make(chan struct{})
	track := s.http.ConnState
	s.http.ConnState = func(connection net.Conn, state http.ConnState) {
		track(connection, state)
		if state == http.StateNew {
			close(seen)
		}
	}
	go s.http.Serve(listener)
	unused, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer unused.Close()
	<-seen
	drained := make(chan error)
	go func() { drained <- s.drain(time.Hour, 0) }()
	select {
	case err := <-drained:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * time.Second): // Shutdown itself would wait for more than five
		t.Error("drain waits for an unused connection")
	}
}

// Go's server would answer OPTIONS * itself, without the checks of Host and Origin.
func TestOptionsRequestsReachTheHandler(t *testing.T) {
	listener := listenOnLoopback(t)
	s := newDrainingServer(t.Context(), notFound())
	go s.http.Serve(listener)
	defer s.http.Close()
	request := &http.Request{
		Method: http.MethodOptions,
		Header: http.Header{},
		URL:    &url.URL{Scheme: "http", Host: listener.Addr().String(), Opaque: "*"},
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("got %s", response.Status)
	}
}

func TestListenOnAPortInUse(t *testing.T) {
	taken := listenOnLoopback(t).Addr().String()
	err := lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
		_, err := Listen(r, "--metrics-addr", taken, limits.Default())
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "another process listens on "+taken) ||
		!strings.HasSuffix(err.Error(), "choose another address with --metrics-addr") {
		t.Errorf("got %v", err)
	}
}

func TestListenersCloseWithTheProcess(t *testing.T) {
	var addr string
	err := lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
		listener, err := Listen(r, "--addr", "127.0.0.1:0", limits.Default())
		if err == nil {
			addr = listener.Addr().String()
			err = listener.Close() // as Server.Serve does
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the address still accepts connections")
	}
}
