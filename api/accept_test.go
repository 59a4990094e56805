package api_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
)

const stubState = `subscription { postChanged(id: "p_aaaaaaaaaaaaaaaaaaaaaaaaaa") { title } }`

// firstLines opens a subscription, and returns its response with the first lines of its body.
func firstLines(t *testing.T, listening *httptest.Server, query, accept string) (response *http.Response, lines string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", listening.URL+"/graphql?query="+url.QueryEscape(query), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Accept"] = strings.Split(accept, "|")
	response, err = http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
		if lines += scanner.Text() + "\n"; strings.Contains(lines, "data: ") || strings.Contains(lines, "}") {
			break
		}
	}
	return response, lines
}

// A subscription is sent as an event stream to a client that accepts one by its name (RFC 9110,
// sections 8.3.1 and 12.5.1), also if it prefers JSON for other operations.
func TestAcceptOfSubscriptions(t *testing.T) {
	listening := httptest.NewServer(newServer(t, inDevelopment).handler)
	defer listening.Close()
	for accept, isStream := range map[string]bool{
		"text/event-stream":                                          true,
		"text/event-stream, multipart/mixed":                         true,
		"text/event-stream;charset=utf-8":                            true,
		`text/event-stream; charset="UTF-8"; q=0.5`:                  true,
		"Text/Event-Stream":                                          true,
		"application/json, text/event-stream;q=0.1":                  true,
		"application/json|text/event-stream":                         true,
		`text/plain;x="a,b", text/event-stream`:                      true,
		`text/plain;x="\",text/event-stream;q=0", text/event-stream`: true,
		"text/event-stream;q=0":                                      false,
		"text/event-stream;Q=0.000, */*":                             false,
		"text/event-stream;q=x":                                      false,
		"text/event-stream;charset=utf-16":                           false,
		`text/plain;x=", text/event-stream, "`:                       false,
		"text/event-streams, x-text/event-stream":                    false,
		"*/*":              false,
		"text/*":           false,
		"application/json": false,
		"":                 false,
	} {
		response, lines := firstLines(t, listening, stubState, accept)
		status, contentType, body := 400, "application/json; charset=utf-8", "BAD_USER_INPUT"
		if isStream {
			status, contentType, body = 200, "text/event-stream", `data: {"data":{"postChanged":{"title":"A title"}}}`
		}
		if response.StatusCode != status || response.Header.Get("Content-Type") != contentType || !strings.Contains(lines, body) {
			t.Errorf("%s: %d %s %s", accept, response.StatusCode, response.Header.Get("Content-Type"), lines)
		}
	}
}

// A client that prefers an event stream gets the answers of all operations, and all errors of its
// request, as an event and the end: PROTOCOL.md of graphql-sse, "Distinct connections mode".
func TestEventStreamsOfOtherOperations(t *testing.T) {
	listening := httptest.NewServer(newServer(t, nil).handler)
	defer listening.Close()
	send := func(method, target, body, accept string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, listening.URL+target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {accept}, "Authorization": {"Bearer good"}}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, string(text)
	}
	const wrapped = "event: next\ndata: %\n\nevent: complete\ndata: \n\n"
	hash := strings.Repeat("0", 64)
	const post = "POST"
	for name, c := range map[string]struct{ method, target, body, want string }{
		"a query":                      {post, "/graphql", `{"query":"{viewer{username}}"}`, `{"data":{"viewer":{"username":"ann"}}}`},
		"a query by GET":               {"GET", "/graphql?query={viewer{username}}", "", `{"data":{"viewer":{"username":"ann"}}}`},
		"a syntax error":               {post, "/graphql", `{"query":"{"}`, "GRAPHQL_PARSE_FAILED"},
		"an invalid document":          {post, "/graphql", `{"query":"{nothing}"}`, "GRAPHQL_VALIDATION_FAILED"},
		"an invalid stream":            {post, "/graphql", `{"query":"subscription{nothing}"}`, "GRAPHQL_VALIDATION_FAILED"},
		"a broken stream":              {post, "/graphql", `{"query":"subscription{"}`, "GRAPHQL_PARSE_FAILED"},
		"a wrong variable":             {post, "/graphql", `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":"x"}}`, "BAD_USER_INPUT"},
		"a wrong variable of a stream": {post, "/graphql", `{"query":"subscription($n:ID!){postChanged(id:$n){id}}","variables":{"n":{}}}`, "BAD_USER_INPUT"},
		"an unknown operation":         {post, "/graphql", `{"query":"query A{__typename} subscription B{postChanged(id:1){id}}","operationName":"C"}`, "BAD_USER_INPUT"},
		"no operation":                 {post, "/graphql", `{"query":"query A{__typename} subscription B{postChanged(id:1){id}}"}`, "BAD_USER_INPUT"},
		"an unknown document":          {post, "/graphql", `{"documentId":"unknown"}`, "PERSISTED_QUERY_NOT_FOUND"},
		"an unknown document by GET":   {"GET", "/graphql?documentId=unknown", "", "PERSISTED_QUERY_NOT_FOUND"},
		"an unknown hash":              {post, "/graphql", `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + hash + `"}}}`, "PERSISTED_QUERY_NOT_SUPPORTED"},
		"malformed variables":          {"GET", "/graphql?query={__typename}&variables=[", "", "BAD_USER_INPUT"},
		"no query":                     {"GET", "/graphql", "", "BAD_USER_INPUT"},
	} {
		for _, accept := range []string{"text/event-stream", "Text/Event-Stream;Q=1, application/json;q=0.9", "text/event-stream, */*"} {
			r, body := send(c.method, c.target, c.body, accept)
			begin, end, _ := strings.Cut(wrapped, "%")
			if r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("ETag") != "" ||
				!strings.HasPrefix(strings.TrimPrefix(body, ":\n\n"), begin) || !strings.HasSuffix(body, end) || !strings.Contains(body, c.want) || strings.Count(body, "data:") != 2 {
				t.Errorf("%s, %s: %d %v %s", name, accept, r.StatusCode, r.Header, body)
			}
		}
		for _, accept := range []string{"application/json, text/event-stream", "text/event-stream;q=0.5, */*", newerType + ", application/json, text/event-stream"} {
			r, body := send(c.method, c.target, c.body, accept)
			isStream := strings.Contains(c.body, `"subscription`) && name != "a broken stream" // whose kind is unknown
			if !strings.Contains(body, c.want) || (r.Header.Get("Content-Type") == "text/event-stream") != isStream {
				t.Errorf("%s, %s: %d %v %s", name, accept, r.StatusCode, r.Header, body)
			}
		}
	}
}

// A status that tells the client what to do is not hidden in an event stream.
func TestStatusesOfEventStreams(t *testing.T) {
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Limits = limits.Default()
		o.Limits.BodyBytes = 1000
	})
	for status, r := range map[int]reply{
		401: s.query(stubState, "Accept", "text/event-stream", "Authorization", "Bearer bad"),
		403: s.do("GET", "/graphql?query={__typename}", "", "Accept", "text/event-stream", "Sec-Fetch-Site", "cross-site"),
		405: s.do("GET", "/graphql?query="+url.QueryEscape(`mutation{deletePost(input:{id:"x"}){post{id}}}`), "", "Accept", "text/event-stream"),
		413: s.query(strings.Repeat(" ", 1001), "Accept", "text/event-stream"),
		415: s.do("POST", "/graphql", "{}", "Accept", "text/event-stream"),
	} {
		if r.Code != status || r.Header().Get("Content-Type") != "application/json; charset=utf-8" || len(r.Errors) != 1 {
			t.Errorf("status %d instead of %d: %v %s", r.Code, status, r.Header(), r.Body)
		}
	}
}

// The kind of an operation is found without parsing its document.
func TestKindsOfOperations(t *testing.T) {
	listening := httptest.NewServer(newServer(t, inDevelopment).handler)
	defer listening.Close()
	const state = `postChanged(id: "p_aaaaaaaaaaaaaaaaaaaaaaaaaa")`
	for query, isStream := range map[string]bool{
		`subscription { ` + state + ` { title } }`: true,
		`# query` + "\n" + `subscription subscription { ` + state + ` { ...query } } fragment query on Post { title }`: true,
		`fragment subscription on Post { title } subscription query { ` + state + ` { ...subscription } }`:             true,
		`subscription ($x: [ID!]! = ["{", "("]) @unknown(x: {y: [1]}) { ` + state + ` { title } }`:                     true, // and not valid
		`query subscription { __typename }`: false,
		`{ subscription: __typename }`:      false,
		`query ($subscription: String = "{subscription}") { userByUsername(username: $subscription) { id } }`: false,
		`query { ...subscription } fragment subscription on Query { __typename }`:                             false,
	} {
		response, lines := firstLines(t, listening, query, newerType+", text/event-stream")
		if got := response.Header.Get("Content-Type") == "text/event-stream"; got != isStream || !strings.Contains(lines, `"data"`) && !strings.Contains(query, "@unknown") {
			t.Errorf("%s: %v %s", query, response.Header, lines)
		}
	}
}

// The document of a subscription is not read if its client's share of the processors is used up.
// This one is not valid.
func TestShareIsLookedAtBeforeDocuments(t *testing.T) {
	now := time.Now()
	processor := budget.NewProcessor(1, true, func() time.Time { return now })
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Development, o.Processor = true, processor
	})
	processor.User("", netip.MustParseAddr("192.0.2.1")).Add(time.Hour)
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1/graphql?query="+url.QueryEscape("subscription{nothing}"), nil)
	r.Header.Set("Accept", "text/event-stream")
	c := &slowClient{ResponseWriter: httptest.NewRecorder()}
	s.handler.ServeHTTP(c, r)
	if got := c.written.String(); !strings.Contains(got, "BUDGET_EXCEEDED") || !strings.HasSuffix(got, "event: complete\ndata: \n\n") {
		t.Errorf("got %s", got)
	}
}
