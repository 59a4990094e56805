//go:build ci

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
	"cosmosblog/proof/apitest"
)

var (
	largeBodies = flag.Int("large-bodies", 10, "number of requests of each kind, with bodies of the greatest size")
	largePosts  = flag.Int("large-posts", 12, "number of posts of the greatest size that are read beside each small one")
	smallPosts  = flag.Int("small-posts", 12, "number of small posts that are read beside large ones")
	slowReaders = flag.Int("slow-readers", 100, "number of clients that do not read their large answers")
)

// liveMemory returns the bytes that the program holds after a collection.
func (p *process) liveMemory(t *testing.T) int {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	bytes, err := strconv.Atoi(p.waitForLine(t, `^live memory: (\d+)$`))
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// What may be in the memory of a server after the requests of a test, besides its cache of reads.
// The sizes are in bytes.
const (
	documentBytes = 4 << 10 // what a short document takes in the cache of documents
	spanBytes     = 2 << 10 // a span that waits for the collector
	waitingSpans  = 2600    // OpenTelemetry's queue and one batch
	otherMemory   = 2 << 20 // the last bodies, and tokens
)

// cacheBudget returns --cache-bytes: a little more than the large posts of one request take.
func cacheBudget() int { return *largePosts * blog.MaxContentBytes * 4 / 3 }

// TestNothingOfARequestOutlivesIt sends many requests whose bodies and headers have the greatest
// permitted size. Each has another value that the server may keep, such as an id. If the server
// kept a part of a request instead of a copy, all of the request would stay in memory.
func TestNothingOfARequestOutlivesIt(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done() // so spans wait in the server's queue
	}))
	t.Cleanup(silent.Close)
	issuer := newIssuer(t)
	environment := []string{issuer.trust, "OTEL_EXPORTER_OTLP_ENDPOINT=" + silent.URL}
	for mode, args := range map[string][]string{
		"development": nil,
		"production": {"--issuer", issuer.url, "--audience", "blog", "--account-budget", "1000000", "--address-budget", "1000000", "--metrics-addr", "127.0.0.1:0",
			"--trusted-proxy", "127.0.0.1"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			p, api := serving(t, environment, append([]string{"--data", data, "--cache-bytes", fmt.Sprint(cacheBudget())}, args...)...)
			defer p.kill(t) // it would wait for the collector of its spans
			tokenOf := func(subject string) string { return issuer.token(t, subject, "blog") }
			if mode == "development" {
				tokenOf = func(subject string) string { return tokenFor(t, data, subject) }
			}
			s := &sender{TB: t, process: p, url: api.URL, tokenOf: tokenOf, isDevelopment: mode == "development"}
			s.writePosts()
			s.bodies(1)
			s.headers(1)
			s.smallBesideLarge(1)
			bodies := func() { s.check("bodies", func() { s.bodies(*largeBodies) }) }
			headers := func() { s.check("headers", func() { s.headers(20 * *largeBodies) }) }
			if s.isDevelopment {
				bodies()
				headers()
			} else { // the spans of the headers fill the queue
				headers()
				bodies()
			}
			s.check("a small post beside large ones", func() { s.smallBesideLarge(*smallPosts) })
		})
	}
}

// sender sends requests of the greatest permitted size to a server.
type sender struct {
	testing.TB
	process       *process
	url           string
	tokenOf       func(subject string) string
	isDevelopment bool

	sent      int // requests
	documents int // with a text of their own
	token     string
	posts     []string // small ones, each with a comment and a like
	large     []string
	small     int // number of small posts that were read beside large ones
}

// check requires that the live memory stays within the budgets while requests are sent.
func (s *sender) check(kind string, send func()) {
	s.Helper()
	t := s.TB.(*testing.T)
	before, sentBefore, documentsBefore := s.process.liveMemory(t), s.sent, s.documents
	send()
	sent := s.sent - sentBefore
	allowed := cacheBudget() + otherMemory + min(sent*4, waitingSpans)*spanBytes + (s.documents-documentsBefore)*documentBytes
	grown := s.process.liveMemory(t) - before
	t.Logf("%s: %d requests, the live memory has grown by %d bytes, at most %d are allowed", kind, sent, grown, allowed)
	if grown > allowed {
		t.Errorf("%s: the live memory has grown by %d bytes, and only %d are allowed", kind, grown, allowed)
	}
}

// writePosts writes the posts that are read.
func (s *sender) writePosts() {
	t := s.TB.(*testing.T)
	user := (&apitest.Client{URL: s.url}).WithToken(s.tokenOf("anna"))
	s.token = user.Token
	user.CreateUser(t, "anna")
	for range *smallPosts + 1 {
		post := user.CreatePost(t, "small", "text")
		user.CreateComment(t, post, "text")
		user.LikePost(t, post)
		s.posts = append(s.posts, post)
	}
	for range 2 * *largePosts {
		s.large = append(s.large, user.CreatePost(t, "large", strings.Repeat("x", blog.MaxContentBytes)))
	}
}

// smallBesideLarge reads each small post beside large ones in one request. The large ones are read
// in two halves in turns, of which the cache has room for one, and the small ones stay in it.
func (s *sender) smallBesideLarge(requests int) {
	nodes := func(ids ...string) {
		s.post(map[string]any{"query": "query($ids:[ID!]!){nodes(ids:$ids){id}}", "variables": map[string]any{"ids": ids}}, `"p_`)
	}
	for range requests {
		half := s.large[s.small%2**largePosts:][:*largePosts]
		nodes(append([]string{s.posts[s.small]}, half...)...)
		s.small++
		for some := range slices.Chunk(s.posts[:s.small], 90) {
			nodes(some...)
		}
	}
}

// number returns a new number for each request, of eight digits.
func (s *sender) number() string { return fmt.Sprintf("%08d", 10_000_000+s.sent) }

// id returns an id that no item has.
func (s *sender) id() string { return blog.IDSource{}.NewPostID(s.url, s.number()) }

// bodies sends each kind of body with the greatest permitted size.
func (s *sender) bodies(requests int) {
	for i := range requests {
		ask := func(query string, value any, want string) {
			s.post(map[string]any{"query": query, "variables": map[string]any{"v": value}}, want)
		}
		existing := s.posts[i%len(s.posts)]
		const byID = "query($v:ID!)"
		ask(byID+"{post(id:$v){id}}", s.id(), `"post":null`)
		ask(byID+"{user(id:$v){id}}", "u"+s.id()[1:], `"user":null`)
		ask(byID+"{node(id:$v){id}}", "c"+s.id()[1:]+"."+s.id(), `"node":null`)
		ask(byID+"{node(id:$v){id}}", "l"+s.id()[1:]+"."+s.id(), `"node":null`)
		ask(byID+"{node(id:$v){id}}", "no id "+s.number(), `BAD_USER_INPUT`)
		ask("query($v:[ID!]!){nodes(ids:$v){id}}", []string{s.id(), "u" + s.id()[1:], s.posts[0]}, `"p_`)
		ask("query($v:String!){userByUsername(username:$v){id}}", "n"+s.number(), `null`)
		ask(byID+"{post(id:$v){comments{nodes{id post{id} author{id}}} newest:comments(order:NEWEST_FIRST){nodes{id}} likes{nodes{id}}}}", existing, `"c_`)
		ask(fmt.Sprintf("query($v:ID!){post(id:$v){author{posts(first:%[1]d){nodes{id}}} comments(first:%[1]d){nodes{id}} viewerHasLiked}}", 1+i%100), existing, `"c_`)
		ask("query($v:Int!){feed(first:$v){nodes{id}}}", 1+i%100, `"p_`)
		ask("query($v:String!){feed(after:$v){nodes{id}}}", s.cursor(i), `"feed":`)
		ask("query($v:String!){feed(after:$v){nodes{id}}}", "no cursor "+s.number(), `BAD_USER_INPUT`)
		name := "Operation" + s.number()
		s.documents += 2
		s.post(map[string]any{"query": "query " + name + "{viewer{id}}", "operationName": name}, `"viewer"`)
		for _, other := range []string{"A", "B", "C"} { // the longest queries
			s.post(map[string]any{"query": "query " + name + other + "{viewer{id}} #" + padding[:500<<10]}, `"viewer"`)
		}
		s.post(map[string]any{"query": "query " + name + "{feed{nodes{nothing}}}"}, `GRAPHQL_VALIDATION_FAILED`)
		query := "{viewer{id}} # " + s.number()
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(query)))
		persisted := map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": hash}}
		s.post(map[string]any{"query": query, "extensions": persisted}, `"viewer"`)
		s.post(map[string]any{"extensions": persisted}, map[bool]string{true: `"viewer"`, false: "PERSISTED_QUERY_NOT_SUPPORTED"}[s.isDevelopment])
		s.post(map[string]any{
			"query":     "mutation($v:CreateCommentInput!){createComment(input:$v){comment{id} post{comments{nodes{id}} likes{nodes{id}}}}}",
			"variables": map[string]any{"v": map[string]any{"postId": existing, "content": "text", "idempotencyKey": "key" + s.number()}},
		}, `"c_`, "Authorization", "Bearer "+s.token)
		s.post(map[string]any{
			"query":     "mutation($v:CreatePostInput!){createPost(input:$v){post{id}}}",
			"variables": map[string]any{"v": map[string]any{"title": s.number(), "content": strings.Repeat("x", 1<<20)}},
		}, `BAD_USER_INPUT`, "Authorization", "Bearer "+s.token)
	}
}

// cursor returns a cursor of the feed.
func (s *sender) cursor(i int) string {
	s.Helper()
	answer := s.do(map[string]any{"query": fmt.Sprintf("{feed(first:%d){pageInfo{endCursor}}}", 1+i%len(s.posts))})
	var got struct {
		Data struct {
			Feed struct{ PageInfo struct{ EndCursor string } }
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		s.Fatal(err)
	}
	return got.Data.Feed.PageInfo.EndCursor
}

// post sends a body of the greatest permitted size: a member that the server ignores fills it. The
// answer must contain a text.
func (s *sender) post(body map[string]any, want string, headers ...string) {
	s.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.Fatal(err)
	}
	const member = `,"padding":"`
	size := limits.Default().BodyBytes - len(text) + 1 - len(member) - len(`"}`)
	padded := io.MultiReader(bytes.NewReader(text[:len(text)-1]), strings.NewReader(member),
		strings.NewReader(padding[:size]), strings.NewReader(`"}`))
	if answer := s.send(http.MethodPost, "/graphql", padded, headers...); !strings.Contains(answer, want) {
		s.Fatalf("%.300s: %.500s does not contain %s", text, answer, want)
	}
}

var padding = strings.Repeat("x", limits.Default().BodyBytes)

// do sends a small body and returns the answer.
func (s *sender) do(body map[string]any) []byte {
	s.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.Fatal(err)
	}
	return []byte(s.send(http.MethodPost, "/graphql", bytes.NewReader(text)))
}

// headers sends each kind of header, and URLs, with the greatest permitted size.
func (s *sender) headers(requests int) {
	const long = 28 << 10 // beside the other headers of a request
	for range requests {
		get := func(path, query string, headers ...string) {
			s.send(http.MethodGet, path+"?"+query, http.NoBody, headers...)
		}
		pad := func(text string, bytes int) string { return text + strings.Repeat("x", bytes-len(text)) }
		ask := "query=" + url.QueryEscape("query Get($v:ID!){post(id:$v){id}}") + "&variables=" + url.QueryEscape(`{"v":"`+s.id()+`"}`)
		get("/graphql", ask+"&padding="+pad("", long))
		get("/nothing"+s.number(), "padding="+pad("", long))
		get("/graphql", ask, "Origin", "http://"+s.number()+".example.com", "X-Padding", pad("", long))
		get("/graphql", ask, "Origin", pad("http://"+s.number(), long))
		get("/graphql", ask, "Authorization", "Bearer "+pad(s.number(), 15<<10), "X-Padding", pad("", 12<<10))
		get("/graphql", ask, "X-Forwarded-For", pad("", long)+", 2001:db8:"+s.number()[:4]+":"+s.number()[4:]+"::1")
		get("/graphql", ask, "Traceparent", "00-0000000000000000000000000"+s.number()[1:]+"-0000000000000001-01", "Tracestate", "a="+pad("", long))
		get("/graphql", ask, pad("X-"+s.number(), long), "1")
		s.send(pad("METHOD", long), "/graphql", http.NoBody)
	}
	for range requests / 20 { // a signature costs a millisecond
		s.send(http.MethodGet, "/graphql?query={viewer{id}}", http.NoBody, "Authorization", "Bearer "+s.tokenOf("subject"+s.number()))
	}
}

// send sends a request and returns the answer.
func (s *sender) send(method, path string, body io.Reader, headers ...string) string {
	s.Helper()
	s.sent++
	request, err := http.NewRequest(method, s.url+path, body)
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return string(answer)
}

// TestSlowReadersOfOneContent sends queries whose answers have one content of the greatest size
// thirty times, and reads none of them. The server makes the answers at the same time.
func TestSlowReadersOfOneContent(t *testing.T) {
	t.Parallel()
	const mostMegabytes = 900
	data := t.TempDir()
	p, api := serving(t, nil, "--data", data)
	defer p.kill(t)
	ann := api.WithToken(tokenFor(t, data, "ann"))
	ann.CreateUser(t, "ann")
	post := ann.CreatePost(t, "A title", strings.Repeat("x", blog.MaxContentBytes))
	var query strings.Builder
	fmt.Fprintf(&query, "{node(id:%q){...on Post{", post)
	for i := range 30 {
		fmt.Fprintf(&query, "a%d:content ", i)
	}
	query.WriteString("}}}")
	body, err := json.Marshal(map[string]string{"query": query.String()})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(api.URL, "http://")
	var all sync.WaitGroup
	var begun atomic.Int64
	for range *slowReaders {
		all.Go(func() {
			connection, err := net.Dial("tcp", host)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { connection.Close() })
			_ = connection.(*net.TCPConn).SetReadBuffer(64 << 10)
			fmt.Fprintf(connection, "POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", host, len(body), body)
			status := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(connection, status); err != nil {
				t.Error(err)
			}
			if string(status) == "HTTP/1.1 200" {
				begun.Add(1)
			}
		})
	}
	all.Wait()
	if begun.Load() == 0 {
		t.Errorf("%d answers began", begun.Load())
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		t.Skip("this system does not tell how much memory a process had at most:", err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int
	if _, err := fmt.Sscan(after, &kilobytes); err != nil || kilobytes>>10 > mostMegabytes {
		t.Errorf("the server had %d MB, %v", kilobytes>>10, err)
	}
	t.Logf("the server had %d MB", kilobytes>>10)
}
