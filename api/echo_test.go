package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cosmosblog/api"
)

// markedRequests are rejected requests, with the marker at each place where clients choose the
// text. For errors in documents, see queryErrors.
var markedRequests = []struct{ name, method, target, body, headers string }{
	{"a path", "GET", "/S3CRET", "", ""},
	{"a path below graphql", "POST", "/graphql/S3CRET", `{"query":"{__typename}"}`, ""},
	{"a path with dots", "GET", "/S3CRET/../graphql", "", ""},
	{"a path with two slashes", "GET", "//S3CRET/", "", ""},
	{"a file of the Playground", "GET", "/playground/S3CRET", "", ""},
	{"a method", "S3CRET", "/graphql", "", ""},
	{"a method on a read-only path", "S3CRET", "/healthz", "", ""},
	{"a query string", "GET", "/graphql?S3CRET=S3CRET", "", ""},
	{"a malformed query string", "GET", "/graphql?query=S3CRET;S3CRET&%S3CRET", "", ""},
	{"a query by GET", "GET", "/graphql?query={S3CRET}", "", ""},
	{"variables by GET", "GET", "/graphql?query={__typename}&variables=S3CRET", "", ""},
	{"extensions by GET", "GET", "/graphql?query={__typename}&extensions=[%22S3CRET%22]", "", ""},
	{"a name by GET", "GET", "/graphql?query={__typename}&operationName=S3CRET", "", ""},
	{"a mutation by GET", "GET", "/graphql?query=" + url.QueryEscape(`mutation S3CRET{S3CRET:deletePost(input:{id:"S3CRET"}){post{id}}}`), "", ""},
	{"a token", "POST", "/graphql", `{"query":"{__typename}"}`, "Authorization: Bearer S3CRET"},
	{"another scheme", "POST", "/graphql", `{"query":"{__typename}"}`, "Authorization: S3CRET S3CRET"},
	{"a media type", "POST", "/graphql", `{"query":"{__typename}"}`, "Content-Type: application/S3CRET"},
	{"a charset", "POST", "/graphql", `{"query":"{__typename}"}`, "Content-Type: application/json; charset=S3CRET"},
	{"a boundary", "POST", "/graphql", `--S3CRET`, "Content-Type: multipart/form-data; boundary=S3CRET"},
	{"an Accept header", "POST", "/graphql", `{"query":"{"}`, "Accept: S3CRET/S3CRET; q=0.S3CRET"},
	{"an origin", "GET", "/graphql?query={__typename}", "", "Origin: https://S3CRET.example"},
	{"a preflight's origin", "OPTIONS", "/graphql", "", "Origin: https://S3CRET.example|Access-Control-Request-Method: S3CRET|Access-Control-Request-Headers: S3CRET"},
	{"a site", "GET", "/graphql?query={__typename}", "", "Sec-Fetch-Site: cross-site|Referer: https://S3CRET.example"},
	{"other headers", "POST", "/graphql", `{`, "S3CRET: S3CRET|Cookie: S3CRET=S3CRET|X-Forwarded-For: S3CRET|X-Forwarded-Host: S3CRET|Traceparent: S3CRET|X-Request-Id: S3CRET"},
	{"a body", "POST", "/graphql", `S3CRET`, ""},
	{"a body of text", "POST", "/graphql", `"S3CRET"`, ""},
	{"a batch", "POST", "/graphql", `[{"query":"{S3CRET}"}]`, ""},
	{"a member", "POST", "/graphql", `{"S3CRET":"S3CRET"}`, ""},
	{"a duplicate member", "POST", "/graphql", `{"query":"{__typename}","S3CRET":1,"S3CRET":2}`, ""},
	{"a query of another type", "POST", "/graphql", `{"query":{"S3CRET":"S3CRET"}}`, ""},
	{"variables of another type", "POST", "/graphql", `{"query":"{__typename}","variables":"S3CRET"}`, ""},
	{"extensions of another type", "POST", "/graphql", `{"query":"{__typename}","extensions":"S3CRET"}`, ""},
	{"a name of another type", "POST", "/graphql", `{"query":"{__typename}","operationName":["S3CRET"]}`, ""},
	{"a persisted query", "POST", "/graphql", `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"S3CRET"}}}`, ""},
	{"an id", "POST", "/graphql", `{"query":"{S:user(id:\"S3CRET\"){id}}"}`, ""},
	{"a cursor", "POST", "/graphql", `{"query":"{feed(after:\"S3CRET\"){nodes{id}}}"}`, ""},
	{"a price", "POST", "/graphql", `{"query":"query S3CRET{S3CRET:feed(first:100){S3CRET:nodes{S3CRET:comments(first:100){S3CRET:nodes{S3CRET:id}}}}}"}`, ""},
	{"too deep", "POST", "/graphql", `{"query":"` + strings.ReplaceAll(nested(13), "author", "S3CRET:author") + `"}`, ""},
	{"too many aliases", "POST", "/graphql", `{"query":"` + strings.ReplaceAll(aliases(31), "a", "S3CRET") + `"}`, ""},
}

// TestResponsesDoNotRepeatRequests checks that neither the body nor the headers repeat a rejected
// request.
func TestResponsesDoNotRepeatRequests(t *testing.T) {
	t.Parallel()
	for _, development := range []bool{false, true} {
		for _, c := range markedRequests {
			t.Run(fmt.Sprintf("%s, development %v", c.name, development), func(t *testing.T) {
				s := newServer(t, func(o *api.Options, q *stubQuery) { allowPage(o, q); o.Development = development })
				r := s.do(c.method, c.target, c.body, headersOf(c.headers)...)
				if len(r.Errors) == 0 {
					t.Fatalf("status %d: the request was not rejected: %.500s", r.Code, r.Body)
				}
				if whole := fmt.Sprint(r.Header(), r.Body); strings.Contains(strings.ToUpper(whole), "S3CRET") {
					t.Errorf("status %d: %.1000s", r.Code, whole)
				}
			})
		}
	}
}

// headersOf parses names and values separated by `|`. It adds a Content-Type if there is none.
func headersOf(text string) (headers []string) {
	for line := range strings.SplitSeq(text, "|") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			headers = append(headers, name, value)
		}
	}
	if !strings.Contains(text, "Content-Type") {
		headers = append(headers, "Content-Type", "application/json")
	}
	return headers
}

// TestForeignHostIsNotRepeated checks that development does not repeat a rejected Host.
func TestForeignHostIsNotRepeated(t *testing.T) {
	r := newServer(t, inDevelopment).doAs("S3CRET.example:8080")
	if r.Code != 403 || strings.Contains(fmt.Sprint(r.Header(), r.Body), "S3CRET") {
		t.Errorf("status %d, %s", r.Code, r.Body)
	}
}
