package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cosmosblog/api"
	"cosmosblog/blog"
)

const newerType = "application/graphql-response+json"

var rejectedRequests = []struct {
	name, method, target, contentType, body string
	status                                  int
	allow                                   string
}{
	{"broken JSON", "POST", "/graphql", "application/json", `{"query":"S3CRET`, 400, ""},
	{"an array", "POST", "/graphql", "application/json", `[{"query":"{viewer{id}}"}]`, 400, ""},
	{"a second value", "POST", "/graphql", "application/json", `{"query":"{viewer{id}}"}{}`, 400, ""},
	{"a query of the wrong type", "POST", "/graphql", "application/json", `{"query":{"S3CRET":1}}`, 400, ""},
	{"variables of the wrong type", "POST", "/graphql", "application/json", `{"query":"{viewer{id}}","variables":["S3CRET"]}`, 400, ""},
	{"invalid UTF-8", "POST", "/graphql", "application/json", "{\"query\":\"{viewer{id}} #\xff\"}", 400, ""},
	{"an unpaired surrogate", "POST", "/graphql", "application/json", `{"query":"{viewer{id}}","variables":{"x":"S3CRET \ud800"}}`, 400, ""},
	{"half a surrogate pair", "POST", "/graphql", "application/json", `{"query":"{viewer{id}}","variables":{"x":"\ud800\u0041"}}`, 400, ""},
	{"an unpaired surrogate in a query", "POST", "/graphql", "application/json", `{"query":"{userByUsername(username:\"S3CRET\\udc00\"){id}}"}`, 200, ""},
	{"a duplicate member", "POST", "/graphql", "application/json", `{"query":"{viewer{id}}","query":"{__typename}"}`, 400, ""},
	{"a duplicate name in a variable", "POST", "/graphql", "application/json", `{"query":"{viewer{id}}","variables":{"x":{"S3CRET":1,"S3CRET":2}}}`, 400, ""},
	{"a member in the wrong case", "POST", "/graphql", "application/json", `{"Query":"{viewer{id}}"}`, 400, ""},
	{"very deep", "POST", "/graphql", "application/json", `{"query":"{viewer{id}}","variables":{"x":` + strings.Repeat("[", 1<<20), 400, ""},
	{"an empty body", "POST", "/graphql", "application/json", ``, 400, ""},
	{"no query", "POST", "/graphql", "application/json", `{"variables":{}}`, 400, ""},
	{"null", "POST", "/graphql", "application/json", `null`, 400, ""},
	{"too large", "POST", "/graphql", "application/json", hugeBody, 413, ""},
	{"plain text", "POST", "/graphql", "text/plain", `{"query":"{viewer{id}}"}`, 415, ""},
	{"a form", "POST", "/graphql", "application/x-www-form-urlencoded", `query={viewer{id}}`, 415, ""},
	{"multipart", "POST", "/graphql", "multipart/form-data; boundary=x", `--x--`, 415, ""},
	{"another charset", "POST", "/graphql", "application/json; charset=utf-7", `{"query":"{viewer{id}}"}`, 415, ""},
	{"compressed", "POST", "/graphql", "application/json", "\x1f\x8b", 415, ""},
	{"no content type", "POST", "/graphql", "", `{"query":"{viewer{id}}"}`, 415, ""},
	{"PUT", "PUT", "/graphql", "application/json", `{"query":"{viewer{id}}"}`, 405, "GET, POST"},
	{"a mutation by GET", "GET", "/graphql?query=" + url.QueryEscape(`mutation{deletePost(input:{id:"x"}){post{id}}}`), "", "", 405, "POST"},
	{"GET without a query", "GET", "/graphql", "", "", 400, ""},
	{"GET with broken variables", "GET", "/graphql?query={viewer{id}}&variables=S3CRET", "", "", 400, ""},
	{"GET with two queries", "GET", "/graphql?query={viewer{id}}&query={__typename}", "", "", 400, ""},
	{"GET with two variables", "GET", "/graphql?query={viewer{id}}&variables={}&variables={}", "", "", 400, ""},
	{"GET with invalid UTF-8", "GET", "/graphql?query={viewer{id}}%23%ff", "", "", 400, ""},
	{"GET with an unpaired surrogate", "GET", `/graphql?query={viewer{id}}&variables={"x":"\ud800"}`, "", "", 400, ""},
	{"GET with variables of the wrong type", "GET", "/graphql?query={viewer{id}}&variables=[1]", "", "", 400, ""},
}

var hugeBody = `{"query":"{viewer{id}}","variables":{"x":"` + strings.Repeat("x", 2<<20) + `"}}`

func TestRejectedRequests(t *testing.T) {
	const secret = "S3CRET"
	for _, c := range rejectedRequests {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, nil)
			headers := []string{"Content-Type", c.contentType}
			if c.name == "compressed" {
				headers = append(headers, "Content-Encoding", "gzip")
			}
			r := s.do(c.method, c.target, c.body, headers...)
			code := "BAD_USER_INPUT"
			switch {
			case c.status == 200:
				code = "GRAPHQL_PARSE_FAILED"
			case c.status == 413:
				code = "LIMIT_EXCEEDED"
			}
			if r.Code != c.status || r.codes() != code || r.Header().Get("Allow") != c.allow {
				t.Errorf("status %d (want %d), codes %q, Allow %q", r.Code, c.status, r.codes(), r.Header().Get("Allow"))
			}
			if body := r.Body.String(); strings.Contains(body, secret) || r.Data != nil {
				t.Errorf("the response repeats the request or has data: %s", body)
			}
			if s.log.Len() > 0 {
				t.Errorf("a client's mistake is logged: %s", s.log)
			}
		})
	}
}

// TestTooLargeWithoutLength checks that a body without Content-Length is not read beyond its limit.
func TestTooLargeWithoutLength(t *testing.T) {
	s := newServer(t, nil)
	body := `{"query":"{viewer{id}}","variables":{"x":"` + strings.Repeat("x", 3<<20) + `"}}`
	request := httptest.NewRequest("POST", "/graphql", io.NopCloser(strings.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	if request.ContentLength != -1 || recorder.Code != 413 {
		t.Errorf("length %d, status %d, want 413", request.ContentLength, recorder.Code)
	}
}

func TestGET(t *testing.T) {
	s := newServer(t, nil)
	query := url.Values{
		"query":         {`query A($name: String!) { userByUsername(username: $name) { id } } query B { __typename }`},
		"operationName": {"A"},
		"variables":     {`{"name":"ann"}`},
		"extensions":    {`{}`},
	}
	r := s.do("GET", "/graphql?"+query.Encode(), "")
	if r.Code != 200 || string(r.Data) != `{"userByUsername":null}` {
		t.Errorf("status %d: %s", r.Code, r.Body)
	}
}

// A query string is read as browsers write it: by the URL standard, section 5.1
// (application/x-www-form-urlencoded parsing), where a `;` is a plain character, and a % that no
// two hexadecimal digits follow stands for itself.
func TestQueryStrings(t *testing.T) {
	var got string
	s := newServer(t, func(_ *api.Options, q *stubQuery) {
		q.userByUsername = func(_ context.Context, username string) (*blog.User, error) {
			got = username
			return nil, nil
		}
	})
	listening := httptest.NewServer(s.handler)
	defer listening.Close()
	const query = "query={userByUsername(username:%22NAME%22){id}}"
	for raw, want := range map[string]string{
		query + "&utm=a;b":      "NAME",
		"a;b=c&" + query + "&;": "NAME",
		query + "&x=%":          "NAME",
		query + "&x=%zz&%zz=%4": "NAME",
		query + "&&=&=x&y":      "NAME",
		query + "&x=%ff&%ff=1":  "NAME",
		query + "&QUERY=x":      "NAME",
		query + "&utm=1&utm=2":  "NAME",
		"que%72y" + query[5:]:   "NAME",
		"query=query($n:String!){userByUsername(username:$n){id}}&variables={%22n%22:%22a;b%22}":         "a;b",
		"query=query($n:String!){userByUsername(username:$n){id}}&variables={%22n%22:%22a+b%2B%22}":      "a b+",
		"query=query($n:String!){userByUsername(username:$n){id}}&variables={%22n%22:%22a=b%%%c3%a4%22}": "a=b%%ä",
	} {
		got = ""
		response, err := http.Get(listening.URL + "/graphql?" + raw)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != 200 || got != want {
			t.Errorf("%s: status %d, got %q, want %q", raw, response.StatusCode, got, want)
		}
	}
}

// TestArguments checks that invalid arguments are reported at their field, and ids in a list at
// their element.
func TestArguments(t *testing.T) {
	s := newServer(t, nil)
	for query, path := range map[string]string{
		`{user(id:"x"){id}}`:     "[user]",
		`{user(id:5){id}}`:       "[user]",
		`{user(id:"u_a"){id}}`:   "[user]",
		`{nodes(ids:["x"]){id}}`: "[nodes 0]",
	} {
		r := s.query(query)
		if r.codes() != "BAD_USER_INPUT" || fmt.Sprint(r.Errors[0].Path) != path || len(r.Errors[0].Locations) != 1 {
			t.Errorf("%s: %s", query, r.Body)
		}
	}
	r := s.post(`{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":99999999999}}`)
	if r.codes() != "BAD_USER_INPUT" {
		t.Errorf("an Int above 32 bits: %s", r.Body)
	}
}

func TestResponseIsNotCached(t *testing.T) {
	r := newServer(t, nil).query("{__typename}")
	if r.Header().Get("Cache-Control") != "no-store" || r.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers: %v", r.Header())
	}
	if string(r.Data) != `{"__typename":"Query"}` || strings.Contains(r.Body.String(), "errors") {
		t.Errorf("response: %s", r.Body)
	}
}

// TestUnicode checks that Unicode text arrives unchanged, escaped or not.
func TestUnicode(t *testing.T) {
	for _, body := range []string{
		`{"query":"query($n:String!){userByUsername(username:$n){id}}","variables":{"n":"\ud83d\ude80 \u00e4 \\ud800"}}`,
		`{"query":"query($n:String!){userByUsername(username:$n){id}}","variables":{"n":"🚀 ä \\ud800"}}`,
		`{"query":"{userByUsername(username:\"\\ud83d\\ude80 \\u00e4 \\\\ud800\"){id}}"}`,
		`{"query":"{userByUsername(username:\"\"\"🚀 ä \\ud800\"\"\"){id}} # \\ud800"}`,
	} {
		var got string
		s := newServer(t, func(_ *api.Options, q *stubQuery) {
			q.userByUsername = func(_ context.Context, username string) (*blog.User, error) {
				got = username
				return nil, nil
			}
		})
		if r := s.post(body); len(r.Errors) > 0 || got != `🚀 ä \ud800` {
			t.Errorf("%s arrived as %q: %s", body, got, r.Body)
		}
	}
}
