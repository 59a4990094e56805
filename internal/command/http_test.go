package command

import (
	"context"
	"errors"
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

	"cosmosblog/internal/limits"
)

func listenSomewhere(t *testing.T) net.Listener {
	t.Helper()
	listener, err := Listen("127.0.0.1:0", limits.Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

var discard = slog.New(slog.DiscardHandler)

func TestServeHTTPFinishesWhatIsUnderWay(t *testing.T) {
	listener := listenSomewhere(t)
	ctx, stop := context.WithCancel(t.Context())
	arrived := make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-ctx.Done() // told to end while it is under way
		if r.Context().Err() != nil {
			t.Error("the request was abandoned")
		}
		io.WriteString(w, "done")
	})
	served := make(chan error)
	go func() { served <- ServeHTTP(ctx, listener, handler, limits.Default(), discard) }()
	go func() { <-arrived; stop() }()
	response, err := http.Get("http://" + listener.Addr().String())
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
		t.Error("it listens still")
	}
}

// lateListener is a listener whose Accept notices a second late that it was closed. Closing it again is an error, as with
// every listener.
type lateListener struct {
	net.Listener
	ended chan struct{}
	once  sync.Once
}

func (l *lateListener) Accept() (net.Conn, error) {
	<-l.ended
	time.Sleep(time.Second) // of the bubble
	return nil, net.ErrClosed
}

func (l *lateListener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() { close(l.ended); err = nil })
	return err
}

// The end closes the listener before http.Server does, which knows it until it accepts no more.
func TestTheEndIsNoErrorHoweverLateAcceptIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error)
		go func() {
			served <- ServeHTTP(ctx, &lateListener{ended: make(chan struct{})}, http.NotFoundHandler(), limits.Default(), discard)
		}()
		synctest.Wait()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// A client that has a connection cannot know when to send no more on it, but by an answer.
func TestARequestOnAnOpenConnectionIsAnsweredAtTheEnd(t *testing.T) {
	listener := listenSomewhere(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error)
	go func() {
		served <- serveHTTP(ctx, listener, http.NotFoundHandler(), limits.Default(), discard, time.Hour)
	}()
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
		t.Error("the client is not told that this was the last answer")
	}
	if err := <-served; err != nil { // without waiting: no connection is left
		t.Error(err)
	}
}

func TestDrainAbandonsWhatTakesTooLong(t *testing.T) {
	listener := listenSomewhere(t)
	arrived, ended := make(chan struct{}), make(chan struct{})
	s := newServer(t.Context(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
		close(ended)
	}), limits.Default(), discard)
	go s.http.Serve(listener)
	go http.Get("http://" + listener.Addr().String())
	<-arrived
	if err := s.drain(time.Millisecond, time.Hour); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	default:
		t.Error("drain did not wait for the request that it told to end")
	}
}

// TestDrainDoesNotWaitForSilentConnections opens one ahead of need, as browsers do.
func TestDrainDoesNotWaitForSilentConnections(t *testing.T) {
	listener := listenSomewhere(t)
	s := newServer(t.Context(), http.NotFoundHandler(), limits.Default(), discard)
	seen := make(chan struct{})
	note := s.http.ConnState
	s.http.ConnState = func(connection net.Conn, state http.ConnState) {
		note(connection, state)
		if state == http.StateNew {
			close(seen)
		}
	}
	go s.http.Serve(listener)
	silent, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	<-seen
	drained := make(chan error)
	go func() { drained <- s.drain(time.Hour, 0) }()
	select {
	case err := <-drained:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * time.Second): // Shutdown itself would wait for more than five
		t.Error("drain waits for a connection without a request")
	}
}

// Go's server would answer OPTIONS * itself, whatever Host and Origin are.
func TestEveryRequestReachesTheHandler(t *testing.T) {
	listener := listenSomewhere(t)
	s := newServer(t.Context(), http.NotFoundHandler(), limits.Default(), discard)
	go s.http.Serve(listener)
	defer s.http.Close()
	request := &http.Request{Method: http.MethodOptions, Header: http.Header{}, URL: &url.URL{Scheme: "http", Host: listener.Addr().String(), Opaque: "*"}}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("got %s", response.Status)
	}
}

func TestListenOnATakenPort(t *testing.T) {
	listener := listenSomewhere(t)
	_, err := Listen(listener.Addr().String(), limits.Default())
	if err == nil || !strings.Contains(err.Error(), "another process listens on "+listener.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

func TestStart(t *testing.T) {
	t.Run("told to end", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		beside, stop := Start(ctx, "task", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		cancel()
		<-beside.Done() // what stands on the task ends; the task itself waits to be stopped
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("failed by itself", func(t *testing.T) {
		broken := errors.New("broken")
		beside, stop := Start(t.Context(), "task", func(context.Context) error { return broken })
		<-beside.Done()
		if err := stop(); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("failed at the end", func(t *testing.T) {
		broken := errors.New("broken")
		_, stop := Start(t.Context(), "task", func(ctx context.Context) error { <-ctx.Done(); return broken })
		if err := stop(); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}
