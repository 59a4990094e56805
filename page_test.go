package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestWebPagesReachNothing sends what a browser would for a page of another site, to everything that listens on loopback
// for programs: the name that the page was loaded from, or its origin.
func TestWebPagesReachNothing(t *testing.T) {
	places := map[string]string{}
	for name, args := range map[string][]string{"engine": nil, "engine with TLS and Entra ID": {"--tls", "--entra"}} {
		engine, environment := engineProcess(t, t.TempDir(), args...)
		defer engine.terminate(t)
		places[name] = strings.TrimPrefix(environment[0], "COSMOS_ENDPOINT=") + "/"
		if args == nil {
			provisioned(t, environment)
			projector := start(t, environment, "projector", "--addr", "127.0.0.1:0")
			defer projector.terminate(t)
			places["projector"] = projector.says(t, `metrics are at (\S+)$`)
		}
	}
	server := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--data", t.TempDir())
	defer server.terminate(t)
	places["the operator's address"] = server.says(t, `are at (\S+/metrics)`)
	places["the API"] = server.says(t, `at (http://\S+/)graphql`) + "healthz"
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // ours is self-signed
	for name, place := range places {
		for _, c := range []struct {
			host, origin string
			isRefused    bool
		}{{"", "", false}, {"", "http://127.0.0.1:3000", false}, {"", "https://evil.example", true}, {"", "null", true}, {"evil.example", "", true}} {
			request, err := http.NewRequest(http.MethodGet, place, nil)
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
			if isRefused := response.StatusCode == http.StatusForbidden; isRefused != c.isRefused {
				t.Errorf("%s, %+v: %s %s", name, c, response.Status, body)
			}
			if h := response.Header; h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
				t.Errorf("%s, %+v: a page can load it as a picture or a script: %v", name, c, h)
			}
		}
	}
}
