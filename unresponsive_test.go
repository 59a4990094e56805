//go:build ci

package main

import (
	"net/http"
	"net/http/httptrace"
	"syscall"
	"testing"
	"time"
)

// TestStopWithUnresponsiveDatabase suspends the engine's process, so that neither a request nor
// the release of the leases completes.
func TestStopWithUnresponsiveDatabase(t *testing.T) {
	t.Parallel()
	engine, environment := serveEngine(t, t.TempDir())
	provisionWith(t, environment)
	data := t.TempDir()
	server, anonymous := serving(t, environment, "--data", data)
	anna, _ := signUp(t, anonymous, data, "anna")
	anna.CreatePost(t, "There", "The projector is at work.")
	waitForFeed(t, anonymous, "There")
	if err := engine.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer engine.command.Process.Signal(syscall.SIGCONT)
	sent, ended := make(chan struct{}), make(chan struct{})
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) },
	}), http.MethodGet, anonymous.URL+"/graphql?query={feed{nodes{id}}}", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
	}()
	<-sent
	began := time.Now()
	server.terminate(t)
	t.Logf("the server ended within %v", time.Since(began))
	<-ended
}
