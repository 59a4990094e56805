package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// attack is a request that must be rejected without any effect.
type attack struct {
	name         string
	method, path string // POST and /graphql if empty
	contentType  string // application/json if empty
	body         string
	headers      []string
	status       int
	code         string // of every error; several are alternatives
	allow        string
}

// queryAttack is an attack with a query that is rejected before execution.
func queryAttack(name, query string) attack { return codeAttack(name, query, 400, invalidQuery) }

// invalidQuery is the codes of queries that are rejected before execution.
const invalidQuery = "GRAPHQL_PARSE_FAILED GRAPHQL_VALIDATION_FAILED LIMIT_EXCEEDED"

func codeAttack(name, query string, status int, code string) attack {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		panic(err)
	}
	return attack{name: name, body: string(body), status: status, code: code}
}

// bodyAttack is an attack with a body that is not a GraphQL request.
func bodyAttack(name, body string) attack {
	return attack{name: name, body: body, status: 400, code: "BAD_USER_INPUT"}
}

// typeAttack is an attack with another media type.
func typeAttack(name, contentType, body string) attack {
	return attack{name: name, contentType: contentType, body: body, status: 415, code: "BAD_USER_INPUT"}
}

// getAttack is an attack by GET, as from a link or an image.
func getAttack(name, query string, status int, code string, headers ...string) attack {
	return attack{name: name, method: "GET", path: "/graphql?query=" + url.QueryEscape(query), headers: headers, status: status, code: code}
}

const deletePost = `mutation{deletePost(input:{id:"x"}){post{id}}}`

// attacks must fail in production and in development. The numbers in their names are rows of the
// project's attack checklist.
var attacks = []attack{
	queryAttack("1 101 aliases", aliases(101)),
	queryAttack("1 7,000 aliases", aliases(7000)),
	queryAttack("1 31 aliases of a mutation", "mutation{"+many(31, func(i int) string {
		return fmt.Sprintf(`a%d:likePost(input:{postId:"x"}){post{id}}`, i)
	})+"}"),
	queryAttack("1 aliases in fragments", "{...A ...B} fragment A on Query{"+many(20, func(i int) string { return fmt.Sprintf("a%d:__typename ", i) })+
		"} fragment B on Query{"+many(20, func(i int) string { return fmt.Sprintf("b%d:__typename ", i) })+"}"),
	bodyAttack("2 a batch of ten", "["+strings.Repeat(`{"query":"{__typename} #`+marker+`"},`, 9)+`{"query":"{__typename}"}]`),
	queryAttack("3 ten directives", "{__typename "+strings.Repeat("@aa", 10)+"}"),
	queryAttack("3 20,000 directives", "{__typename "+strings.Repeat("@"+marker, 20_000)+"}"),
	queryAttack("3 directives everywhere", "query($x:Int"+strings.Repeat(" @include(if:true)", 20)+")"+strings.Repeat("@skip(if:true)", 20)+
		"{...F"+strings.Repeat("@skip(if:true)", 20)+"} fragment F on Query{__typename}"),
	queryAttack("4 circular introspection", "{__schema{types{fields{type{fields{type{fields{type{fields{name}}}}}}}}}}"),
	queryAttack("4 circular introspection by a fragment", "{__schema{types{...T}}} fragment T on __Type{fields{type{...T}}}"),
	queryAttack("5 a field 500 times", "{"+strings.Repeat("__typename ", 500)+"}"),
	queryAttack("5 a field with subfields 126 times", "{"+strings.Repeat("viewer{id}", 126)+"}"),
	queryAttack("6 2,001 tokens", "{feed(first:["+strings.Repeat("1 ", 2001)+"]){nodes{id}}}"),
	queryAttack("8 60 deep", nested(60)),
	queryAttack("8 deep through fragments", "{viewer{...A}} fragment A on User{posts{nodes{author{...B}}}} fragment B on User{posts{nodes{author{...C}}}} "+
		"fragment C on User{posts{nodes{author{...D}}}} fragment D on User{posts{nodes{author{id}}}}"),
	queryAttack("8 900 deep by inline fragments", strings.Repeat("{...", 900)+"{__typename"+strings.Repeat("}", 901)),
	codeAttack("9 lists within lists", "{feed(first:100){nodes{comments(first:100){nodes{author{posts(first:100){nodes{content}}}}}}}}", 400, "COST_LIMIT_EXCEEDED"),
	codeAttack("9 lists by aliases", "{"+many(30, func(i int) string {
		return fmt.Sprintf("a%d:feed(first:100){nodes{content comments(first:100){nodes{id}}}}", i)
	})+"}", 400, "COST_LIMIT_EXCEEDED"),
	getAttack("11 an image", "{viewer{id}}", 403, "FORBIDDEN", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image"),
	getAttack("11 a sandboxed page", "{viewer{id}}", 403, "FORBIDDEN", "Origin", "null"),
	{name: "12 a mutation by GET", method: "GET", path: "/graphql?query=" + url.QueryEscape(deletePost), status: 405, code: "BAD_USER_INPUT", allow: "POST"},
	{name: "12 a mutation by GET beside a query", method: "GET", path: "/graphql?operationName=B&query=" + url.QueryEscape("query A{__typename} mutation B"+deletePost[8:]),
		status: 405, code: "BAD_USER_INPUT", allow: "POST"},
	typeAttack("13 a form", "application/x-www-form-urlencoded", "query="+url.QueryEscape(deletePost)),
	typeAttack("14 plain text", "text/plain", `{"query":"{__typename}"}`),
	typeAttack("14 a combined type", "text/plain;application/json", `{"query":"{__typename}"}`),
	typeAttack("14 no type", " ", `{"query":"{__typename}"}`),
	typeAttack("14 application/graphql", "application/graphql", "{__typename}"),
	typeAttack("15 multipart", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"query\":\"{__typename}\"}\r\n--x--\r\n"),
	getAttack("16 a WebSocket from another origin", "{__typename}", 403, "FORBIDDEN", "Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol", "graphql-transport-ws", "Origin", "null"),
	{name: "16 a WebSocket without a key", method: "GET", headers: []string{"Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Protocol", "graphql-transport-ws"}, status: 400, code: "BAD_USER_INPUT"},
	queryAttack("18 a subscription", "subscription{feedChanged{id}}"),
	queryAttack("18 a subscription to __typename", "subscription{__typename}"),
	queryAttack("18 incremental delivery", "{...@defer{viewer{id}}}"),
	queryAttack("18 a stream", "{feed{nodes @stream{id}}}"),
	bodyAttack("28 a persisted query", `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"`+marker+`"}}}`),
	typeAttack("29 UTF-16", "application/json; charset=utf-16", "{\x00\"\x00"),
	typeAttack("29 UTF-7", "application/json; charset=utf-7", `{"query":"{__typename}"}`),
	typeAttack("29 Latin-1", "application/json; charset=iso-8859-1", `{"query":"{__typename}"}`),
	typeAttack("29 two charsets", "application/json; charset=utf-8; charset=utf-7", `{"query":"{__typename}"}`),
	bodyAttack("29 UTF-16 declared as UTF-8", "\xff\xfe{\x00\"\x00q\x00"),
	bodyAttack("29 a byte order mark", "\ufeff"+`{"query":"{__typename}"}`),

	queryAttack("a cycle of fragments", "{...A} fragment A on Query{...B} fragment B on Query{...A}"),
	queryAttack("a fragment that spreads itself below fields", "{viewer{...A}} fragment A on User{posts{nodes{author{...A}}}}"),
	queryAttack("10,000 fragments", "{__typename}"+many(10_000, func(i int) string { return fmt.Sprintf(" fragment F%d on Query{__typename}", i) })),
	queryAttack("51 operations", many(51, func(i int) string { return fmt.Sprintf("query Q%d{__typename} ", i) })),
	queryAttack("a list 990 deep", `{user(id:`+strings.Repeat("[", 990)+strings.Repeat("]", 990)+`){id}}`),
	queryAttack("a long name", "{"+marker+strings.Repeat("x", 300_000)+"}"),
	queryAttack("a long query", "{__typename} #"+strings.Repeat("x", 600_000)),
	queryAttack("an unpaired surrogate in a string", `{userByUsername(username:"`+marker+`\ud800"){id}}`),
	queryAttack("an invalid escape", `{userByUsername(username:"\x41`+marker+`"){id}}`),
	queryAttack("NUL in a query", "{__typename\x00}"),
	queryAttack("an invalid Int", `{feed(first:1e400){nodes{id}}}`),
	queryAttack("a variable of the wrong type", `query($x:[[[[String!]!]!]!]!){userByUsername(username:$x){id}}`),
	queryAttack("unknown fields", "{"+strings.Repeat("vieweer ", 200)+"}"),
	queryAttack("an object with a duplicate name", `mutation{createPost(input:{title:"`+marker+`",title:"b",content:"c"}){post{id}}}`),
	bodyAttack("variables 2,000 deep", `{"query":"{__typename}","variables":{"x":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+`}}`),
	bodyAttack("2,001 values", `{"query":"{__typename}","variables":{"x":[`+strings.Repeat("1,", 2000)+`1]}}`),
	bodyAttack("a duplicate name", `{"query":"{__typename}","variables":{"x":"`+marker+`","x":2}}`),
	bodyAttack("a duplicate name, escaped", `{"query":"{__typename}","variables":{"x":"`+marker+`","\u0078":2}}`),
	bodyAttack("a duplicate query", `{"query":"{__typename}","query":"`+marker+`"}`),
	bodyAttack("an invalid number", `{"query":"{__typename}","variables":{"x":0x10}}`),
	bodyAttack("NaN", `{"query":"{__typename}","variables":{"x":NaN}}`),
	bodyAttack("two requests in one", `{"query":"{__typename}"}{"query":"{__typename}"}`),
	bodyAttack("NUL after a request", "{\"query\":\"{__typename}\"}\x00"),
	bodyAttack("a list as query", `{"query":["`+marker+`"]}`),
	bodyAttack("a number as operationName", `{"query":"{__typename}","operationName":1}`),
	bodyAttack("a list as extensions", `{"query":"{__typename}","extensions":["`+marker+`"]}`),
	bodyAttack("a long operationName", `{"query":"{__typename}","operationName":"`+marker+strings.Repeat("x", 1<<20)+`"}`),
	bodyAttack("an unknown operationName", `{"query":"query A{__typename}","operationName":"`+marker+`"}`),
	bodyAttack("a variable with a huge number", `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":1e400}}`),
	{name: "a path with an escaped slash", path: "/graphql/..%2fplayground", body: "{}", status: 404, code: "NOT_FOUND"},
	{name: "a path with two slashes", path: "//graphql", body: "{}", status: 404, code: "NOT_FOUND"},
	{name: "TRACE", method: "TRACE", status: 405, code: "BAD_USER_INPUT", allow: "GET, POST"},
	{name: "DELETE", method: "DELETE", status: 405, code: "BAD_USER_INPUT", allow: "GET, POST"},
	{name: "a token of 20,000 characters", body: `{"query":"{__typename}"}`, headers: []string{"Authorization", "Bearer bad" + strings.Repeat(marker, 3000)}, status: 401, code: "UNAUTHENTICATED"},
	{name: "a long Accept", body: `{"query":"{"}`, headers: []string{"Accept", strings.Repeat("a/b;q=0.1,", 3000)}, status: 400, code: invalidQuery},
	{name: "a long preflight header", body: `{"query":"{"}`, headers: []string{"X-Apollo-Operation-Name", strings.Repeat(marker, 3000)}, status: 400, code: invalidQuery},
	{name: "a compressed body", body: "\x1f\x8b\x08\x00", headers: []string{"Content-Encoding", "gzip"}, status: 415, code: "BAD_USER_INPUT"},
	{name: "two tokens", body: `{"query":"{__typename}"}`, headers: []string{"Authorization", "Bearer Ann", "Authorization", "Bearer Bob"}, status: 401, code: "UNAUTHENTICATED"},
}

// argumentAttacks returns attacks with argument values. They are rejected at their field, with
// status 200 or 400.
func argumentAttacks() []attack {
	var all []attack
	for _, first := range []string{"99999999", "-1", "101", "2147483647"} {
		all = append(all, codeAttack("10 first: "+first, "{feed(first:"+first+"){nodes{id}}}", 0, "BAD_USER_INPUT"),
			attack{name: "10 $first: " + first, body: `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":` + first + `}}`, code: "BAD_USER_INPUT"})
	}
	for _, first := range []string{"2147483648", "-2147483649", "1e3", "1.0", `"5"`, "true", "[5]", "{a:5}", "FIVE"} {
		all = append(all, codeAttack("10 first: "+first, "{feed(first:"+first+"){nodes{id}}}", 0, "BAD_USER_INPUT GRAPHQL_VALIDATION_FAILED"))
	}
	for _, first := range []string{"2147483648", "1e3", "1e400", "1.5", `"5"`, "true", "[5]", `{"a":5}`} {
		all = append(all, attack{name: "10 $first: " + first, body: `{"query":"query($n:Int){feed(first:$n){nodes{id}}}","variables":{"n":` + first + `}}`, code: "BAD_USER_INPUT"})
	}
	all = append(all, codeAttack("10 101 ids", `{nodes(ids:[`+strings.Repeat(`"u_aaaaaaaaaaaaaaaaaaaaaaaaaa" `, 101)+`]){id}}`, 0, "BAD_USER_INPUT"))
	for _, text := range injections {
		quoted, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		encoded := base64.RawURLEncoding.EncodeToString([]byte(text))
		all = append(all,
			attack{name: "27 an id: " + text, body: `{"query":"query($x:ID!){node(id:$x){id}}","variables":{"x":` + string(quoted) + `}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 in an id: " + text, body: `{"query":"query($x:ID!){node(id:$x){id}}","variables":{"x":` + inID(quoted) + `}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 encoded in an id: " + text, body: `{"query":"query($x:ID!){node(id:$x){id}}","variables":{"x":"p_` + encoded + `"}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 a cursor: " + text, body: `{"query":"query($x:String){feed(after:$x){nodes{id}}}","variables":{"x":` + string(quoted) + `}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 in a cursor: " + text, body: `{"query":"query($x:String){feed(after:$x){nodes{id}}}","variables":{"x":"` + encoded + `"}}`, code: "BAD_USER_INPUT"},
			attack{name: "27 a username: " + text, body: `{"query":"query($x:String!){userByUsername(username:$x){id}}","variables":{"x":` + string(quoted) + `}}`, code: "BAD_USER_INPUT"},
		)
	}
	return all
}

// inID returns a JSON string with a text between the parts of a comment's id.
func inID(quoted []byte) string {
	return `"c_aaaaaaaaaaaaaaaaaaaaaaaaaa.` + strings.TrimPrefix(string(quoted), `"`)[:len(quoted)-2] + `.p_aaaaaaaaaaaaaaaaaaaaaaaaaa"`
}

// injections are texts with a meaning in a query language, a path or a script.
var injections = []string{
	"' OR 1=1 --", `" OR "1"="1`, "S3CRET'; DROP TABLE c", "@p0", "@@x", "c.id = 1", "../users/x", "users/u_a", "Post:p_a:p_a' OR '1'='1", "Post:p_a/../p_b:p_a",
	"Post:@id:@id", "Lease:a:a", "User:u_a:u_b", "v1/feed/2026-01-01T00:00:00.000000Z/x' OR 1=1/1", "v1/feed/2026-01-01T00:00:00.000000Z/p_a/99999999999999999999",
	"v0/feed///", "${7*7}", "{{7*7}}", "\\u0000", "a\x00b", "a\nb", "\r\nSet-Cookie: a=b", "<script>", "%27%20OR", "\u202e", strings.Repeat("A", 4000),
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	for _, development := range []bool{false, true} {
		t.Run(fmt.Sprint("development=", development), func(t *testing.T) {
			s := newSite(t, development)
			for _, a := range slices.Concat(attacks, argumentAttacks()) {
				t.Run(a.name, func(t *testing.T) { s.sendAttack(t, a) })
			}
			if log := s.log.String(); strings.Contains(log, `"level":"ERROR"`) || strings.Contains(log, marker) {
				t.Errorf("the log: %.2000s", log)
			}
			if r := s.queryAs("", `query($i:ID!){node(id:$i){id}}`, "i", s.post); len(r.Errors) > 0 {
				t.Errorf("a query after the attacks: %s", r.Body)
			}
		})
	}
}

// sendAttack sends an attack and checks that it failed.
func (s *site) sendAttack(t *testing.T, a attack) {
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
	if len(codes) == 0 || len(codes) > 10 || slices.ContainsFunc(codes, func(code string) bool { return !slices.Contains(strings.Fields(a.code), code) }) {
		t.Errorf("codes %v, want %s: %.500s", codes, a.code, r.Body)
	}
	if r.Header().Get("Allow") != a.allow {
		t.Errorf("Allow %q, want %q", r.Header().Get("Allow"), a.allow)
	}
	s.checkRejection(t, r)
}

// checkRejection checks that a response is short, has no data and does not repeat the request.
func (s *site) checkRejection(t *testing.T, r reply) {
	t.Helper()
	if r.Body.Len() > 4000 || strings.Contains(r.Body.String(), marker) || strings.Contains(fmt.Sprint(r.Header()), marker) {
		t.Errorf("the response is long, or repeats the request: %d bytes: %.500s", r.Body.Len(), r.Body)
	}
	if !r.isNull() {
		t.Errorf("the response has data: %.500s", r.Data)
	}
}
