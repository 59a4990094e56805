package api_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"testing"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/guard/request"
)

func TestAddressOfClient(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"203.0.113.9:1234", nil, "203.0.113.9"},
		{"203.0.113.9:1234", []string{"198.51.100.1"}, "203.0.113.9"}, // any client can send the header
		{"10.1.2.3:1234", nil, "10.1.2.3"},
		{"10.1.2.3:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[::ffff:10.1.2.3]:1234", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"[2001:db8::1]:1234", []string{"2001:470::7"}, "2001:470::7"},
		{"10.1.2.3:1234", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"}, // the client claims to be 1.1.1.1
		{"10.1.2.3:1234", []string{"1.1.1.1, 198.51.100.1, 10.9.9.9"}, "198.51.100.1"},
		{"10.1.2.3:1234", []string{"1.1.1.1", "198.51.100.1,10.9.9.9"}, "198.51.100.1"},
		{"10.1.2.3:1234", []string{"10.7.7.7, 10.9.9.9"}, "10.7.7.7"},
		{"10.1.2.3:1234", []string{"198.51.100.1, garbage"}, "10.1.2.3"},
		{"10.1.2.3:1234", []string{"garbage, 10.9.9.9"}, "10.9.9.9"},
		{"10.1.2.3:1234", []string{""}, "10.1.2.3"},
		{"10.1.2.3:1234", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"10.1.2.3:1234", []string{"[2001:470::7]:4711"}, "2001:470::7"},
		{"10.1.2.3:1234", []string{"[2001:470::7]"}, "2001:470::7"},
		{"@", []string{"198.51.100.1"}, "invalid IP"}, // a Unix socket
	} {
		var got netip.Addr
		s := newServer(t, func(o *api.Options, q *stubQuery) {
			o.Proxies = trusted
			q.viewer = func(ctx context.Context) (*blog.User, error) {
				got = request.Of(ctx).Address
				return nil, nil
			}
		})
		r := httptest.NewRequest("GET", "/graphql?query={viewer{id}}", nil)
		r.RemoteAddr = c.peer
		for _, text := range c.forwarded {
			r.Header.Add("X-Forwarded-For", text)
		}
		s.handler.ServeHTTP(httptest.NewRecorder(), r)
		if got.String() != c.want {
			t.Errorf("%s, forwarded for %q: %v, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

// TestForwardedHost checks that the host for same-origin checks comes from a trusted proxy only.
func TestForwardedHost(t *testing.T) {
	for _, c := range []struct {
		peer      string
		forwarded []string
		status    int
	}{
		{"10.1.2.3:1234", nil, 403},
		{"10.1.2.3:1234", []string{"blog.example.com"}, 200},
		{"10.1.2.3:1234", []string{"blog.example.com", "other.example.com"}, 403},
		{"203.0.113.9:1234", []string{"blog.example.com"}, 403},
	} {
		s := newServer(t, func(o *api.Options, _ *stubQuery) {
			o.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		})
		request := httptest.NewRequest("GET", "/graphql?query={__typename}", nil)
		request.Host, request.RemoteAddr = "backend:8080", c.peer
		request.Header.Set("Origin", "https://blog.example.com")
		for _, host := range c.forwarded {
			request.Header.Add("X-Forwarded-Host", host)
		}
		recorder := httptest.NewRecorder()
		s.handler.ServeHTTP(recorder, request)
		if recorder.Code != c.status {
			t.Errorf("%s, %q: status %d, want %d", c.peer, c.forwarded, recorder.Code, c.status)
		}
	}
}
