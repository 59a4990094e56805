package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"cosmosblog/api"
)

// FuzzHeaders sends arbitrary headers and query strings. The response must be JSON of one of the
// two types, with a status for a client's mistake. Only allowed origins may get CORS headers.
func FuzzHeaders(f *testing.F) {
	for _, accept := range []string{"", "*/*", newerType, "application/json;q=0.1, " + newerType + ";q=1", ", ;,/", "a/b;q=NaN", `*/*;q="`} {
		f.Add("POST", "query={__typename}", accept, "application/json; charset=utf-8", "10.0.0.1, [::1]:1", page, "cross-site", "Bearer good")
		f.Add("GET", "query={viewer{id}}&variables={}&operationName=", accept, "", "::ffff:1.2.3.4", "null", "same-origin", "")
		f.Add("GET", "query=%7B&%zz", accept, "text/plain", ",,", "http://[::1", "none", "Basic x")
		f.Add("OPTIONS", "", accept, "", "", page, "", "")
	}
	s := newServer(f, func(o *api.Options, q *stubQuery) {
		allowPage(o, q)
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // contains the RemoteAddr of httptest's requests
	})
	statuses := []int{200, 204, 400, 401, 403, 404, 405, 415}
	f.Fuzz(func(t *testing.T, method, query, accept, contentType, forwarded, origin, site, authorization string) {
		request := httptest.NewRequest("GET", "/graphql", strings.NewReader(`{"query":"{viewer{id}}"}`))
		request.Method, request.URL = method, &url.URL{Path: "/graphql", RawQuery: query}
		request.Header = http.Header{
			"Accept": {accept}, "Content-Type": {contentType}, "X-Forwarded-For": {forwarded}, "X-Forwarded-Host": {forwarded},
			"Origin": {origin}, "Sec-Fetch-Site": {site}, "Authorization": {authorization}, "Access-Control-Request-Method": {"POST"},
		}
		recorder := httptest.NewRecorder()
		s.handler.ServeHTTP(recorder, request)
		header := recorder.Header()
		if !slices.Contains(statuses, recorder.Code) && authorization != "Bearer panic" && authorization != "Bearer unreachable" {
			t.Errorf("status %d: %s", recorder.Code, recorder.Body)
		}
		kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
		if recorder.Code != 204 && (!json.Valid(recorder.Body.Bytes()) || kind != "application/json" && kind != newerType) {
			t.Errorf("status %d in %s: %s", recorder.Code, kind, recorder.Body)
		}
		if origin != page && origin != "http://localhost:5173" && grantsCORS(header) {
			t.Errorf("origin %q gets CORS headers: %v", origin, header)
		}
	})
}
