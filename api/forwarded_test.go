package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"cosmosblog/api"
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
		{"a trusted proxy, a client that nobody can read", []string{"X-Forwarded-For", "unknown"}, true, []netip.Prefix{local}, 403},
		{"a trusted proxy, a forged header", []string{"X-Forwarded-For", "127.0.0.1", "Forwarded", "for=192.168.1.5"}, true, []netip.Prefix{local}, 403},
		{"a trusted proxy, RFC 7239", []string{"X-Forwarded-For", "127.0.0.1", "Forwarded", `for="[::1]:4711";proto=http, by=_a;for=127.0.0.1`}, true, []netip.Prefix{local}, 200},
		{"a trusted proxy, RFC 7239, hidden", []string{"X-Forwarded-For", "127.0.0.1", "Forwarded", "for=127.0.0.1, for=_hidden"}, true, []netip.Prefix{local}, 403},
		{"a trusted proxy, RFC 7239, no client", []string{"X-Forwarded-For", "127.0.0.1", "Forwarded", "by=_p;proto=http"}, true, []netip.Prefix{local}, 403},
		{"a trusted proxy, a scheme", []string{"X-Forwarded-For", "127.0.0.1", "X-Forwarded-Scheme", "http"}, true, []netip.Prefix{local}, 200},
		{"a trusted proxy, two reports", []string{"X-Forwarded-For", "127.0.0.1", "X-Real-IP", "203.0.113.1"}, true, []netip.Prefix{local}, 403},
		{"a trusted proxy, two equal reports", []string{"X-Forwarded-For", "127.0.0.1", "X-Real-IP", "127.0.0.1", "Via", "1.1 Caddy", "X-Forwarded-Proto", "http"}, true, []netip.Prefix{local}, 200},
		{"a trusted proxy without addresses", []string{"Via", "1.1 proxy"}, true, []netip.Prefix{local}, 403},
	} {
		server := httptest.NewServer(newServer(t, func(o *api.Options, _ *stubQuery) {
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

// TestForwardingHeaders checks that development notices each header by which a proxy reports its
// client.
func TestForwardingHeaders(t *testing.T) {
	s := newServer(t, inDevelopment)
	for _, name := range []string{
		"X-Client-IP", "Fly-Client-IP", "X-Azure-ClientIP", "X-Azure-SocketIP", "X-Cluster-Client-IP", "Fastly-Client-IP",
		"CF-Connecting-IPv6", "X-Original-Forwarded-For", "X-Envoy-External-Address", "X-Appengine-User-IP",
		"Proxy-Client-IP", "X-Vercel-Forwarded-For", "DO-Connecting-IP", "X-NF-Client-Connection-IP", "X-Forwarded",
		"True-Client-IP", "X-ProxyUser-Ip", "Client-IP", "X-MS-Forwarded-Client-IP", "X-Amz-Cf-Id", "X-ARR-LOG-ID",
	} {
		for _, path := range []string{"/graphql?query={__typename}", "/", "/metrics"} {
			if r := s.do("GET", path, "", name, "127.0.0.1"); r.Code != 403 {
				t.Errorf("%s with %s: status %d", path, name, r.Code)
			}
		}
	}
}
