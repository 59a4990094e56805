package command

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestWithoutPages(t *testing.T) {
	reached := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	const loopback, network = "127.0.0.1", "0.0.0.0"
	for _, c := range []struct {
		addr, host, origin string
		reaches            bool
	}{
		{loopback, "127.0.0.1:8081", "", true},
		{loopback, "localhost:8081", "", true},
		{loopback, "localhost:8081", "http://localhost:3000", true},
		{loopback, "evil.example:8081", "", false},
		{loopback, "127.0.0.1:8081", "https://evil.example", false},
		{network, "engine.internal:8081", "", true},
		{network, "engine.internal:8081", "https://evil.example", false},
		{network, "engine.internal:8081", "http://engine.internal:8081", false},
	} {
		handler := withoutPages(&net.TCPAddr{IP: net.ParseIP(c.addr), Port: 8081}, reached)
		r, w := httptest.NewRequest("GET", "/dbs", nil), httptest.NewRecorder()
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		handler.ServeHTTP(w, r)
		if reaches := w.Code == http.StatusTeapot; reaches != c.reaches {
			t.Errorf("%+v: status %d", c, w.Code)
		}
		if c.reaches {
			continue
		}
		var refusal struct{ Code, Message string }
		if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil || w.Code != http.StatusForbidden || refusal.Code != "Forbidden" || refusal.Message == "" {
			t.Errorf("%+v: status %d, %s, %v", c, w.Code, w.Body, err)
		}
	}
}
