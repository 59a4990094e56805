package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"cosmosblog/internal/httpapi"
)

// TestDevelopmentBehindAProxy checks that a proxy on this machine does not open the development
// features to other machines, even if it addresses the server as this machine.
func TestDevelopmentBehindAProxy(t *testing.T) {
	local := netip.MustParsePrefix("127.0.0.0/8")
	for _, c := range []struct {
		name          string
		headers       []string // that the proxy adds, as alternating names and values
		isDevelopment bool
		trusted       []netip.Prefix
		status        int
	}{
		{"no proxy", nil, true, nil, 200},
		{"an address", []string{"X-Forwarded-For", "203.0.113.1"}, true, nil, 403},
		{"a local address", []string{"X-Forwarded-For", "127.0.0.1"}, true, nil, 403},
		{"a host", []string{"X-Forwarded-Host", "blog.example.com"}, true, nil, 403},
		{"a scheme", []string{"X-Forwarded-Proto", "https"}, true, nil, 403},
		{"an empty value", []string{"X-Forwarded-For", ""}, true, nil, 403},
		{"RFC 7239", []string{"Forwarded", "for=203.0.113.1"}, true, nil, 403},
		{"RFC 9110", []string{"Via", "1.1 proxy"}, true, nil, 403},
		{"nginx", []string{"X-Real-IP", "203.0.113.1"}, true, nil, 403},
		{"production", []string{"X-Forwarded-For", "203.0.113.1", "Via", "1.1 proxy"}, false, nil, 200},

		{"a trusted proxy, this machine", []string{"X-Forwarded-For", "127.0.0.1"}, true, []netip.Prefix{local}, 200},
		{"a trusted proxy, its host", []string{"X-Forwarded-For", "::1", "X-Forwarded-Host", "localhost:5173"}, true, []netip.Prefix{local}, 200},
		{"a trusted proxy, another machine", []string{"X-Forwarded-For", "203.0.113.1"}, true, []netip.Prefix{local}, 403},
		{"a trusted proxy, a forged address", []string{"X-Forwarded-For", "127.0.0.1, 203.0.113.1"}, true, []netip.Prefix{local}, 403},
		{"a trusted proxy, another host", []string{"X-Forwarded-For", "127.0.0.1", "X-Forwarded-Host", "evil.example"}, true, []netip.Prefix{local}, 403},
		{"a trusted proxy without addresses", []string{"Via", "1.1 proxy"}, true, []netip.Prefix{local}, 403},
	} {
		server := httptest.NewServer(newServer(t, func(o *httpapi.Options, _ *stubQuery) {
			o.Development, o.Proxies = c.isDevelopment, c.trusted
		}).handler)
		target, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target) // the Host, too
			for i := 0; i < len(c.headers); i += 2 {
				r.Out.Header.Set(c.headers[i], c.headers[i+1])
			}
		}})
		response, err := http.Get(proxy.URL + "/graphql?query={__typename}")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != c.status || c.status == 403 && !strings.Contains(string(text), "--trusted-proxy") {
			t.Errorf("%s: status %d, want %d: %s", c.name, response.StatusCode, c.status, text)
		}
		proxy.Close()
		server.Close()
	}
}
