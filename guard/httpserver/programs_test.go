package httpserver

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestProgramsOnlyRejectsWebPages(t *testing.T) {
	teapot := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	const loopback, network = "127.0.0.1", "0.0.0.0"
	for _, c := range []struct {
		addr, host, origin string
		accepted           bool
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
		handler := ProgramsOnly(&net.TCPAddr{IP: net.ParseIP(c.addr), Port: 8081}, teapot)
		r, w := httptest.NewRequest("GET", "/dbs", nil), httptest.NewRecorder()
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		handler.ServeHTTP(w, r)
		if accepted := w.Code == http.StatusTeapot; accepted != c.accepted {
			t.Errorf("%+v: status %d", c, w.Code)
		}
		if c.accepted {
			continue
		}
		var rejection struct{ Code, Message string }
		err := json.Unmarshal(w.Body.Bytes(), &rejection)
		if err != nil || w.Code != http.StatusForbidden || rejection.Code != "Forbidden" || rejection.Message == "" {
			t.Errorf("%+v: status %d, %s, %v", c, w.Code, w.Body, err)
		}
	}
}
