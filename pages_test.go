//go:build ci

package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignWebPagesAreRejected sends the requests of a browser for a page of another site to
// every listener on loopback, with a foreign Host or a foreign Origin.
func TestForeignWebPagesAreRejected(t *testing.T) {
	t.Parallel()
	urls := map[string]string{}
	for name, args := range map[string][]string{"engine": nil, "engine with TLS": {"--tls"}} {
		engine, environment := serveEngine(t, t.TempDir(), args...)
		defer engine.terminate(t)
		urls[name] = strings.TrimPrefix(environment[0], "COSMOS_ENDPOINT=") + "/"
		if args == nil {
			provisionWith(t, environment)
			projector := start(t, environment, "projector", "--addr", "127.0.0.1:0")
			defer projector.terminate(t)
			urls["projector"] = projector.waitForLine(t, `metrics are at (\S+)$`)
		}
	}
	server := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--data", t.TempDir())
	defer server.terminate(t)
	urls["the operator's address"] = server.waitForLine(t, `are at (\S+/metrics)`)
	urls["the API"] = server.waitForLine(t, `at (http://\S+/)graphql`) + "healthz"
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // the certificate is self-signed
	for name, url := range urls {
		for _, c := range []struct {
			host, origin string
			isRejected   bool
		}{{"", "", false}, {"", "http://127.0.0.1:3000", false}, {"", "https://evil.example", true}, {"", "null", true}, {"evil.example", "", true}} {
			request, err := http.NewRequest(http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = c.host
			if c.origin != "" {
				request.Header.Set("Origin", c.origin)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if isRejected := response.StatusCode == http.StatusForbidden; isRejected != c.isRejected {
				t.Errorf("%s, %+v: %s %s", name, c, response.Status, body)
			}
			if h := response.Header; h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
				t.Errorf("%s, %+v: a page can load it as an image or a script: %v", name, c, h)
			}
		}
	}
}

// TestOriginsAreAnnounced checks that the start says which other pages may call the API.
func TestOriginsAreAnnounced(t *testing.T) {
	t.Parallel()
	for line, flags := range map[string][]string{
		`^Web pages of other origins may not call it\. To allow one: (--cors-origins http://\S+)$`:            nil,
		`^Web pages of these other origins may call it: (http://localhost:5173, https://blog\.example\.com)$`: {"--cors-origins", "http://localhost:5173,https://blog.example.com"},
	} {
		p := start(t, nil, append([]string{"--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data")}, flags...)...)
		p.waitForLine(t, line)
		p.terminate(t)
	}
}
