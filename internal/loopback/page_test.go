package loopback_test

import (
	"net/http/httptest"
	"testing"

	"cosmosblog/internal/loopback"
)

func TestServes(t *testing.T) {
	for _, c := range []struct {
		host    string
		origins []string
		serves  bool
		local   bool // IsLocalPage, which ignores the host
	}{
		{"127.0.0.1:8080", nil, true, true},
		{"localhost", []string{"http://localhost:3000"}, true, true},
		{"[::1]:8080", []string{"https://[::1]"}, true, true},
		{"127.0.0.1:8080", []string{"https://evil.example"}, false, false},
		{"127.0.0.1:8080", []string{"null"}, false, false},
		{"127.0.0.1:8080", []string{""}, false, false},
		{"127.0.0.1:8080", []string{"http://localhost.evil.example"}, false, false},
		{"127.0.0.1:8080", []string{"http://localhost@evil.example"}, false, false},
		{"127.0.0.1:8080", []string{"http://localhost", "https://evil.example"}, false, false},
		{"127.0.0.1:8080", []string{"chrome-extension://abcdef"}, false, false},
		{"127.0.0.1:8080", []string{"http://%zz"}, false, false},
		{"evil.example:8080", nil, false, true},
		{"evil.example:8080", []string{"http://evil.example:8080"}, false, false},
		{"", nil, false, true},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.Header["Origin"] = c.host, c.origins
		if serves, local := loopback.Serves(r), loopback.IsLocalPage(r); serves != c.serves || local != c.local {
			t.Errorf("Host %q, Origin %q: %v, %v", c.host, c.origins, serves, local)
		}
	}
}
