package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cosmosblog/api"
)

// originServer is an API over HTTP that logs refused origins.
type originServer struct {
	*server
	url   string
	clock *clock
}

func newOriginServer(t *testing.T, change func(*api.Options, *stubQuery)) originServer {
	s := originServer{clock: &clock{now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}}
	s.server = newServer(t, func(o *api.Options, q *stubQuery) { o.Now = s.clock.read; change(o, q) })
	over := httptest.NewServer(s.handler)
	t.Cleanup(over.Close)
	s.url = over.URL
	return s
}

// ask sends a request of a page and returns its status, and the refused origins that were logged.
func (s originServer) ask(method, origin string, headers ...string) (status int, logged []map[string]any) {
	s.Helper()
	request, err := http.NewRequest(method, s.url+"/graphql?query={__typename}", nil)
	if err != nil {
		s.Fatal(err)
	}
	if origin != "" {
		request.Header.Set("Origin", origin)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	response.Body.Close()
	for decoder := json.NewDecoder(bytes.NewReader(s.log.Bytes())); decoder.More(); {
		line := map[string]any{}
		if err := decoder.Decode(&line); err != nil {
			s.Fatal(err)
		}
		logged = append(logged, line)
	}
	s.log.Reset()
	return response.StatusCode, logged
}

var preflightHeader = []string{"Access-Control-Request-Method", "POST"}

// The browser does not tell its user why a page's request failed, so the log must.
func TestRefusedOriginsAreLogged(t *testing.T) {
	const vite = "http://localhost:5173"
	only := func(o *api.Options, _ *stubQuery) { o.Origins = []string{page} }
	inDevelopmentOnly := func(o *api.Options, q *stubQuery) { only(o, q); o.Development = true }
	for name, c := range map[string]struct {
		change  func(*api.Options, *stubQuery)
		method  string
		origin  string
		headers []string
		allow   string // empty if nothing is logged
	}{
		"a local page in development":   {inDevelopmentOnly, "OPTIONS", vite, preflightHeader, page + "," + vite},
		"a foreign page in development": {inDevelopmentOnly, "POST", "http://app.test:5173", nil, page + ",http://app.test:5173"},
		"a page in production":          {only, "OPTIONS", vite, preflightHeader, page + "," + vite},
		"the first allowed page":        {func(*api.Options, *stubQuery) {}, "OPTIONS", vite, preflightHeader, vite},
		"a GET of a page":               {only, "GET", vite, nil, page + "," + vite},
		"an allowed page":               {only, "OPTIONS", page, preflightHeader, ""},
		"no page":                       {only, "GET", "", nil, ""},
		"an image of a page":            {only, "GET", "", []string{"Sec-Fetch-Site", "cross-site"}, ""},
	} {
		status, logged := newOriginServer(t, c.change).ask(c.method, c.origin, c.headers...)
		if c.allow == "" {
			if len(logged) > 0 {
				t.Errorf("%s: status %d, logged %v", name, status, logged)
			}
			continue
		}
		if status != 403 || len(logged) != 1 || logged[0]["origin"] != c.origin || logged[0]["level"] != "WARN" ||
			logged[0]["allow"] != "--cors-origins "+c.allow {
			t.Errorf("%s: status %d, logged %v", name, status, logged)
		}
	}
}

// Anyone can send an Origin, so the log must not grow with them, or contain other text.
func TestLogOfRefusedOriginsIsBounded(t *testing.T) {
	s := newOriginServer(t, func(*api.Options, *stubQuery) {})
	count := 0
	for i := range 40 {
		for range 2 {
			_, logged := s.ask("OPTIONS", fmt.Sprintf("http://app%d.example.com", i), preflightHeader...)
			count += len(logged)
		}
	}
	if count != 10 {
		t.Errorf("%d lines in a minute, want 10", count)
	}
	s.clock.pass(time.Minute)
	for _, origin := range []string{"null", "S3CRET", "http://S3CRET/S3CRET", "http://" + strings.Repeat("S3CRET", 100), "http://S3CRET@x"} {
		_, logged := s.ask("OPTIONS", origin, preflightHeader...)
		if text := fmt.Sprint(logged); strings.Contains(text, "S3CRET") || origin == "null" && !strings.Contains(text, "origin:null") {
			t.Errorf("%s: logged %s", origin, text)
		}
	}
	if _, logged := s.ask("OPTIONS", "http://app1.example.com", preflightHeader...); len(logged) != 1 {
		t.Errorf("after a minute: logged %v", logged)
	}
}

// Browsers send the headers of tracing libraries only if the preflight allows them.
func TestPreflightAllowsTracing(t *testing.T) {
	allowed := ", " + strings.ToLower(preflight(newServer(t, allowPage), page).Header().Get("Access-Control-Allow-Headers")) + ","
	for _, name := range []string{"traceparent", "tracestate", "baggage", "sentry-trace"} {
		if !strings.Contains(allowed, ", "+name+",") {
			t.Errorf("%s is not allowed: %s", name, allowed)
		}
	}
}
