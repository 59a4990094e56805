package datafolder

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"cosmosblog/cosmostest"
)

// TestConnectionsEnd sends requests without a pause, and checks that none uses a connection that is
// older than five minutes, that no request fails, and that old connections close. Clients that keep
// a connection alive stay in a region after its failover, because they do not look up its name
// again (azure-cosmos-dotnet-v3, issue 3658; pull request 3762 renews connections after five
// minutes).
func TestConnectionsEnd(t *testing.T) {
	clock := cosmostest.NewClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	var mu sync.Mutex
	opened := map[net.Conn]time.Time{} // open connections
	total, oldest := 0, time.Duration(0)
	closed := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "{}")
	}))
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		switch state {
		case http.StateNew:
			opened[c] = clock.Now()
			total++
		case http.StateActive:
			oldest = max(oldest, clock.Now().Sub(opened[c]))
		case http.StateClosed:
			delete(opened, c)
			select {
			case closed <- struct{}{}:
			default:
			}
		}
	}
	server.Start()
	defer server.Close()
	client := newHTTPClient(clock.Now)
	const workers, minutes = 4, 60
	for range minutes {
		var wait sync.WaitGroup
		for range workers {
			wait.Go(func() {
				for range 5 {
					response, err := client.Get(server.URL)
					if err != nil {
						t.Error(err)
						return
					}
					io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			})
		}
		wait.Wait()
		clock.Advance(time.Minute)
	}
	if oldest >= 5*time.Minute {
		t.Errorf("a request used a connection that was %v old", oldest)
	}
	client.CloseIdleConnections()
	for open := -1; open != 0; {
		mu.Lock()
		open = len(opened)
		mu.Unlock()
		if open > 0 {
			<-closed
		}
	}
	if total < minutes/4 || total > 2*workers*(minutes/4+1) {
		t.Errorf("%d connections", total)
	}
}

// TestConnectionsInUseEnd checks that CloseIdleConnections also closes connections in use, when
// their requests end, and disturbs none.
func TestConnectionsInUseEnd(t *testing.T) {
	arrived, proceed := make(chan struct{}), make(chan struct{})
	closed := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-proceed
		io.WriteString(w, "{}")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	server.Start()
	defer server.Close()
	client := newHTTPClient(time.Now)
	var wait sync.WaitGroup
	wait.Go(func() {
		response, err := client.Get(server.URL)
		if err != nil {
			t.Error(err)
			return
		}
		if body, err := io.ReadAll(response.Body); string(body) != "{}" || err != nil {
			t.Errorf("%q, %v", body, err)
		}
		response.Body.Close()
	})
	<-arrived
	client.CloseIdleConnections()
	close(proceed)
	wait.Wait()
	<-closed
}
