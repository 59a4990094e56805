package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func fetch(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s %v\n%s", url, response.Status, err, text)
	}
	return string(text)
}

// A server tells its metrics in development to this machine, and in production where it is told to and nowhere else.
func TestWhereAServerTellsItsMetrics(t *testing.T) {
	const metric = `cosmosblog_projector_lag_seconds{container="posts",range="-FF"}`
	data := filepath.Join(t.TempDir(), "data")
	development, api := serving(t, nil, "--data", data)
	if text := fetch(t, api.url+"/metrics"); !strings.Contains(text, metric) {
		t.Errorf("got %s", text)
	}
	development.terminate(t)

	production := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--production", "--data", data, "--metrics-addr", "127.0.0.1:0")
	own := production.says(t, `at (http://\S+)/metrics`)
	public := production.says(t, `at (http://\S+)/graphql`)
	if text := fetch(t, own+"/metrics"); !strings.Contains(text, metric) || !strings.Contains(text, "go_goroutines") {
		t.Errorf("got %s", text)
	}
	for _, url := range []string{own, public} {
		if text := fetch(t, url+"/readyz"); !strings.Contains(text, `"lag":[{"container":"posts","range":"-FF","changes":0,"seconds":0,`) {
			t.Errorf("%s: got %s", url, text)
		}
	}
	checkStatus(t, public+"/metrics", http.StatusNotFound)
	production.terminate(t)
}
