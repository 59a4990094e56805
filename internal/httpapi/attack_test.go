package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// attack is one request that must come to nothing.
type attack struct {
	name         string
	method, path string // POST and /graphql where they are empty
	contentType  string // application/json where it is empty
	body         string
	headers      []string
	status       int
	code         string // of every error; none where it is empty
	allow        string
}

// withQuery is an attack by a query's text, refused before it runs.
func withQuery(name, query string) attack { return withCode(name, query, 400, "BAD_USER_INPUT") }

func withCode(name, query string, status int, code string) attack {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		panic(err)
	}
	return attack{name: name, body: string(body), status: status, code: code}
}

// withBody is an attack by a body that is no request.
func withBody(name, body string) attack {
	return attack{name: name, body: body, status: 400, code: "BAD_USER_INPUT"}
}

// withType is an attack by a media type.
func withType(name, contentType, body string) attack {
	return attack{name: name, contentType: contentType, body: body, status: 415, code: "BAD_USER_INPUT"}
}

// withGET is an attack by a link or a picture.
func withGET(name, query string, status int, code string, headers ...string) attack {
	return attack{name: name, method: "GET", path: "/graphql?query=" + url.QueryEscape(query), headers: headers, status: status, code: code}
}

const deletePost = `mutation{deletePost(input:{id:"x"}){post{id}}}`

// attacks are those on servers of either mode. The numbers are the rows of the list of checks
// that the project keeps.
var attacks = []attack{
	withQuery("1 101 aliases", aliases(101)),
	withQuery("1 7,000 aliases", aliases(7000)),
	withQuery("1 31 aliases of a mutation", "mutation{"+many(31, func(i int) string {
		return fmt.Sprintf(`a%d:likePost(input:{postId:"x"}){post{id}}`, i)
	})+"}"),
	withQuery("1 aliases in fragments", "{...A ...B} fragment A on Query{"+many(20, func(i int) string { return fmt.Sprintf("a%d:__typename ", i) })+
		"} fragment B on Query{"+many(20, func(i int) string { return fmt.Sprintf("b%d:__typename ", i) })+"}"),
	withBody("2 a batch of ten", "["+strings.Repeat(`{"query":"{__typename} #`+marker+`"},`, 9)+`{"query":"{__typename}"}]`),
	withQuery("3 ten directives", "{__typename "+strings.Repeat("@aa", 10)+"}"),
	withQuery("3 20,000 directives", "{__typename "+strings.Repeat("@"+marker, 20_000)+"}"),
	withQuery("3 directives everywhere", "query($x:Int"+strings.Repeat(" @include(if:true)", 20)+")"+strings.Repeat("@skip(if:true)", 20)+
		"{...F"+strings.Repeat("@skip(if:true)", 20)+"} fragment F on Query{__typename}"),
	withQuery("4 circular introspection", "{__schema{types{fields{type{fields{type{fields{type{fields{name}}}}}}}}}}"),
	withQuery("4 circular introspection by a fragment", "{__schema{types{...T}}} fragment T on __Type{fields{type{...T}}}"),
	withQuery("5 a field 500 times", "{"+strings.Repeat("__typename ", 500)+"}"),
	withQuery("5 a field with subfields 126 times", "{"+strings.Repeat("viewer{id}", 126)+"}"),
	withQuery("6 2,001 tokens", "{feed(first:["+strings.Repeat("1 ", 2001)+"]){nodes{id}}}"),
	withQuery("8 60 deep", nested(60)),
	withQuery("8 deep through fragments", "{viewer{...A}} fragment A on User{posts{nodes{author{...B}}}} fragment B on User{posts{nodes{author{...C}}}} "+
		"fragment C on User{posts{nodes{author{...D}}}} fragment D on User{posts{nodes{author{id}}}}"),
	withQuery("8 900 deep by inline fragments", strings.Repeat("{...", 900)+"{__typename"+strings.Repeat("}", 901)),
	withCode("9 lists within lists", "{feed(first:100){nodes{comments(first:100){nodes{author{posts(first:100){nodes{content}}}}}}}}", 400, "COST_LIMIT_EXCEEDED"),
	withCode("9 lists by aliases", "{"+many(30, func(i int) string {
		return fmt.Sprintf("a%d:feed(first:100){nodes{content comments(first:100){nodes{id}}}}", i)
	})+"}", 400, "COST_LIMIT_EXCEEDED"),
	withGET("11 a picture", "{viewer{id}}", 403, "FORBIDDEN", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image"),
	withGET("11 a page of a sandbox", "{viewer{id}}", 403, "FORBIDDEN", "Origin", "null"),
	{name: "12 a mutation by GET", method: "GET", path: "/graphql?query=" + url.QueryEscape(deletePost), status: 405, code: "BAD_USER_INPUT", allow: "POST"},
	{name: "12 a mutation by GET beside a query", method: "GET", path: "/graphql?operationName=B&query=" + url.QueryEscape("query A{__typename} mutation B"+deletePost[8:]),
		status: 405, code: "BAD_USER_INPUT", allow: "POST"},
	withType("13 a form", "application/x-www-form-urlencoded", "query="+url.QueryEscape(deletePost)),
	withType("14 plain text", "text/plain", `{"query":"{__typename}"}`),
	withType("14 a type beside it", "text/plain;application/json", `{"query":"{__typename}"}`),
	withType("14 no type", " ", `{"query":"{__typename}"}`),
	withType("14 the type of GraphQL's text", "application/graphql", "{__typename}"),
	withType("15 multipart", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"query\":\"{__typename}\"}\r\n--x--\r\n"),
	withGET("16 a WebSocket from elsewhere", "{__typename}", 403, "FORBIDDEN", "Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol", "graphql-transport-ws", "Origin", "null"),
	{name: "16 a WebSocket", method: "GET", headers: []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol", "graphql-transport-ws"}, status: 400, code: "BAD_USER_INPUT"},
	withQuery("18 a subscription", "subscription{feedChanged{id}}"),
	withQuery("18 a subscription of nothing", "subscription{__typename}"),
	withQuery("18 incremental delivery", "{...@defer{viewer{id}}}"),
	withQuery("18 a stream", "{feed{nodes @stream{id}}}"),
	withBody("28 a persisted query", `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"`+marker+`"}}}`),
	withType("29 UTF-16", "application/json; charset=utf-16", "{\x00\"\x00"),
	withType("29 UTF-7", "application/json; charset=utf-7", `{"query":"{__typename}"}`),
	withType("29 Latin-1", "application/json; charset=iso-8859-1", `{"query":"{__typename}"}`),
	withType("29 two charsets", "application/json; charset=utf-8; charset=utf-7", `{"query":"{__typename}"}`),
	withBody("29 UTF-16 that calls itself UTF-8", "\xff\xfe{\x00\"\x00q\x00"),
	withBody("29 a byte order mark", "\ufeff"+`{"query":"{__typename}"}`),

	withQuery("a cycle of fragments", "{...A} fragment A on Query{...B} fragment B on Query{...A}"),
	withQuery("a fragment in itself by fields", "{viewer{...A}} fragment A on User{posts{nodes{author{...A}}}}"),
	withQuery("10,000 fragments", "{__typename}"+many(10_000, func(i int) string { return fmt.Sprintf(" fragment F%d on Query{__typename}", i) })),
	withQuery("51 operations", many(51, func(i int) string { return fmt.Sprintf("query Q%d{__typename} ", i) })),
	withQuery("a list 990 deep", `{user(id:`+strings.Repeat("[", 990)+strings.Repeat("]", 990)+`){id}}`),
	withQuery("a long name", "{"+marker+strings.Repeat("x", 300_000)+"}"),
	withQuery("a long query", "{__typename} #"+strings.Repeat("x", 600_000)),
	withQuery("half a character in a string", `{userByUsername(username:"`+marker+`\ud800"){id}}`),
	withQuery("an escape that is none", `{userByUsername(username:"\x41`+marker+`"){id}}`),
	withQuery("NUL in a query", "{__typename\x00}"),
	withQuery("an Int that is none", `{feed(first:1e400){nodes{id}}}`),
	withQuery("a variable of another type", `query($x:[[[[String!]!]!]!]!){userByUsername(username:$x){id}}`),
	withQuery("unknown fields", "{"+strings.Repeat("vieweer ", 200)+"}"),
	withQuery("an object of a name twice", `mutation{createPost(input:{title:"`+marker+`",title:"b",content:"c"}){post{id}}}`),
	withBody("variables 2,000 deep", `{"query":"{__typename}","variables":{"x":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+`}}`),
	withBody("2,001 values", `{"query":"{__typename}","variables":{"x":[`+strings.Repeat("1,", 2000)+`1]}}`),
	withBody("a name twice", `{"query":"{__typename}","variables":{"x":"`+marker+`","x":2}}`),
	withBody("a name twice, escaped", `{"query":"{__typename}","variables":{"x":"`+marker+`","\u0078":2}}`),
	withBody("a query twice", `{"query":"{__typename}","query":"`+marker+`"}`),
	withBody("a number that is none", `{"query":"{__typename}","variables":{"x":0x10}}`),
	withBody("NaN", `{"query":"{__typename}","variables":{"x":NaN}}`),
	withBody("two requests in one", `{"query":"{__typename}"}{"query":"{__typename}"}`),
	withBody("NUL after a request", "{\"query\":\"{__typename}\"}\x00"),
	withBody("a query that is a list", `{"query":["`+marker+`"]}`),
	withBody("an operationName that is a number", `{"query":"{__typename}","operationName":1}`),
	withBody("extensions that are a list", `{"query":"{__typename}","extensions":["`+marker+`"]}`),
	withBody("a long operationName", `{"query":"{__typename}","operationName":"`+marker+strings.Repeat("x", 1<<20)+`"}`),
	withBody("an unknown operationName", `{"query":"query A{__typename}","operationName":"`+marker+`"}`),
	withBody("a variable that is too large a number", `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":1e400}}`),
	{name: "a page that is sent to another path", path: "/graphql/..%2fplayground", body: "{}", status: 404, code: "NOT_FOUND"},
	{name: "a path with slashes", path: "//graphql", body: "{}", status: 404, code: "NOT_FOUND"},
	{name: "TRACE", method: "TRACE", status: 405, code: "BAD_USER_INPUT", allow: "GET, POST"},
	{name: "DELETE", method: "DELETE", status: 405, code: "BAD_USER_INPUT", allow: "GET, POST"},
	{name: "a token of 20,000 characters", body: `{"query":"{__typename}"}`, headers: []string{"Authorization", "Bearer bad" + strings.Repeat(marker, 3000)}, status: 401, code: "UNAUTHENTICATED"},
	{name: "a long Accept", body: `{"query":"{"}`, headers: []string{"Accept", strings.Repeat("a/b;q=0.1,", 3000)}, status: 400, code: "BAD_USER_INPUT"},
	{name: "a long preflight header", body: `{"query":"{"}`, headers: []string{"X-Apollo-Operation-Name", strings.Repeat(marker, 3000)}, status: 400, code: "BAD_USER_INPUT"},
	{name: "a body that is compressed", body: "\x1f\x8b\x08\x00", headers: []string{"Content-Encoding", "gzip"}, status: 415, code: "BAD_USER_INPUT"},
	{name: "two tokens", body: `{"query":"{__typename}"}`, headers: []string{"Authorization", "Bearer Ann", "Authorization", "Bearer Bob"}, status: 401, code: "UNAUTHENTICATED"},
}

// ofArguments are values that are looked at by the field that they are for: 200, with an error at
// the field.
func ofArguments() []attack {
	var all []attack
	for _, first := range []string{"99999999", "0", "-1", "101", "2147483647"} {
		all = append(all, withCode("10 first: "+first, "{feed(first:"+first+"){nodes{id}}}", 0, "BAD_USER_INPUT"),
			attack{name: "10 $first: " + first, body: `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":` + first + `}}`, code: "BAD_USER_INPUT"})
	}
	for _, first := range []string{"2147483648", "-2147483649", "1e3", "1.0", `"5"`, "true", "[5]", "{a:5}", "FIVE"} {
		all = append(all, withCode("10 first: "+first, "{feed(first:"+first+"){nodes{id}}}", 0, "BAD_USER_INPUT"))
	}
	for _, first := range []string{"2147483648", "1e3", "1e400", "1.5", `"5"`, "true", "[5]", `{"a":5}`} {
		all = append(all, attack{name: "10 $first: " + first, body: `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":` + first + `}}`, code: "BAD_USER_INPUT"})
	}
	all = append(all, withCode("10 101 ids", `{nodes(ids:[`+strings.Repeat(`"VXNlcjp1X2E6dV9h" `, 101)+`]){id}}`, 0, "BAD_USER_INPUT"))
	for _, text := range injections {
		quoted, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		encoded := base64.RawURLEncoding.EncodeToString([]byte(text))
		all = append(all,
			attack{name: "27 an id: " + text, body: `{"query":"query($x:ID!){node(id:$x){id}}","variables":{"x":` + string(quoted) + `}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 in an id: " + text, body: `{"query":"query($x:ID!){node(id:$x){id}}","variables":{"x":"` + encoded + `"}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 a cursor: " + text, body: `{"query":"query($x:String){feed(after:$x){nodes{id}}}","variables":{"x":` + string(quoted) + `}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 in a cursor: " + text, body: `{"query":"query($x:String){feed(after:$x){nodes{id}}}","variables":{"x":"` + encoded + `"}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 a username: " + text, body: `{"query":"query($x:String!){userByUsername(username:$x){id}}","variables":{"x":` + string(quoted) + `}}`, code: "BAD_USER_INPUT"},
		)
	}
	return all
}

// injections are texts that mean something to a query language, a path or a script.
var injections = []string{
	"' OR 1=1 --", `" OR "1"="1`, "S3CRET'; DROP TABLE c", "@p0", "@@x", "c.id = 1", "../users/x", "users/u_a", "Post:p_a:p_a' OR '1'='1", "Post:p_a/../p_b:p_a",
	"Post:@id:@id", "Lease:a:a", "User:u_a:u_b", "v1/feed/2026-01-01T00:00:00.000000Z/x' OR 1=1/1", "v1/feed/2026-01-01T00:00:00.000000Z/p_a/99999999999999999999",
	"v0/feed///", "${7*7}", "{{7*7}}", "\\u0000", "a\x00b", "a\nb", "\r\nSet-Cookie: a=b", "<script>", "%27%20OR", "\u202e", strings.Repeat("A", 4000),
}

func TestAttacks(t *testing.T) {
	for _, development := range []bool{false, true} {
		t.Run(fmt.Sprint("development=", development), func(t *testing.T) {
			s := newSite(t, development)
			for _, a := range slices.Concat(attacks, ofArguments()) {
				t.Run(a.name, func(t *testing.T) { s.suffer(t, a) })
			}
			if log := s.log.String(); strings.Contains(log, `"level":"ERROR"`) || strings.Contains(log, marker) {
				t.Errorf("the log: %.2000s", log)
			}
			if r := s.ask("", `query($i:ID!){node(id:$i){id}}`, "i", s.post); len(r.Errors) > 0 {
				t.Errorf("afterwards: %s", r.Body)
			}
		})
	}
}

// suffer sends an attack, and looks whether it came to nothing.
func (s *site) suffer(t *testing.T, a attack) {
	t.Helper()
	method, path, contentType := a.method, a.path, a.contentType
	if method == "" {
		method = "POST"
	}
	if path == "" {
		path = "/graphql"
	}
	if contentType == "" {
		contentType = "application/json"
	}
	r := s.send(method, path, a.body, append([]string{"Content-Type", contentType, "Accept", newerType}, a.headers...)...)
	if a.status != 0 && r.Code != a.status || a.status == 0 && r.Code != 200 && r.Code != 400 {
		t.Errorf("status %d, want %d: %.500s", r.Code, a.status, r.Body)
	}
	codes := strings.Fields(r.codes())
	if len(codes) == 0 || len(codes) > 10 || slices.ContainsFunc(codes, func(code string) bool { return code != a.code }) {
		t.Errorf("codes %v, want %s: %.500s", codes, a.code, r.Body)
	}
	if r.Header().Get("Allow") != a.allow {
		t.Errorf("Allow %q, want %q", r.Header().Get("Allow"), a.allow)
	}
	s.checkRefusal(t, r)
}

// checkRefusal looks whether an answer is small, and repeats and does nothing.
func (s *site) checkRefusal(t *testing.T, r reply) {
	t.Helper()
	if r.Body.Len() > 4000 || strings.Contains(r.Body.String(), marker) || strings.Contains(fmt.Sprint(r.Header()), marker) {
		t.Errorf("the answer is long, or repeats the request: %d bytes: %.500s", r.Body.Len(), r.Body)
	}
	var data map[string]any
	if len(r.Data) > 0 && json.Unmarshal(r.Data, &data) != nil {
		t.Errorf("the data is no object: %.500s", r.Data)
	}
	for name, value := range data {
		if value != nil {
			t.Errorf("the answer has data: %s: %.500v", name, value)
		}
	}
}
