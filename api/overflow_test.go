package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cosmosblog/api"
)

// TestOverflowAnswersProbesOnly checks the answers on connections beyond the limits.
func TestOverflowAnswersProbesOnly(t *testing.T) {
	s := newServer(t, allowPage)
	overflow := httptest.NewServer(api.Overflow(s.handler))
	defer overflow.Close()
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/graphql?query={__typename}": 429, "/": 429} {
		request, err := http.NewRequest("GET", overflow.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", page)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != status || !json.Valid(text) {
			t.Errorf("%s: %s, %s, %v", path, response.Status, text, err)
		}
		header := response.Header
		if status == 429 && (!strings.Contains(string(text), "OVERLOADED") || header.Get("Retry-After") != "1" ||
			header.Get("Access-Control-Allow-Origin") != page) {
			t.Errorf("%s: %v, %s", path, header, text)
		}
	}
}
