package resolvers_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/proxy"
	"cosmosblog/internal/inprocess"
	"cosmosblog/internal/telemetry"
	"cosmosblog/proof/apitest"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
	"cosmosblog/store/tail"
	"cosmosblog/store/views"
)

// streaming is a server on a port, whose subscriptions learn of changes by a tail.
type streaming struct {
	*server
	url   string
	books *budget.Books
}

// patience is the time in which something must happen that takes milliseconds.
const patience = 20 * time.Second

// newStreaming returns a server with limits. Each call on the same server is another process.
func (s *server) newStreaming(change func(*api.Options)) *streaming {
	s.Helper()
	logger := slog.New(slog.NewTextHandler(s.Output(), nil))
	watcher := tail.New(tail.Options{DB: s.db, Containers: []string{schema.Posts, schema.Feed}, Staleness: 200 * time.Millisecond, Logger: logger})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = watcher.Run(ctx) }()
	books := budget.New(budget.Options{})
	options := api.Options{
		Resolvers:   resolvers.New(store.NewCached(s.db, s.reads, nil).Watched(watcher)),
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{}),
		Errors:      resolvers.NewErrorPresenter(logger),
		Verifier:    apitest.Subjects{},
		Development: true,
		Books:       books,
	}
	if change != nil {
		change(&options)
	}
	listening := httptest.NewServer(api.New(options))
	s.Cleanup(func() { listening.CloseClientConnections(); listening.Close(); cancel(); <-ended })
	return &streaming{s, listening.URL, books}
}

// event is a server-sent event.
type event struct{ name, id, data string }

// events is a stream of server-sent events.
type events struct {
	*testing.T
	received chan event
	begun    chan string // an id alone
	close    func()
}

// subscribe opens a stream for a subscription. The headers alternate between names and values.
func (s *streaming) subscribe(query, lastEventID string, headers ...string) *events {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", s.url+"/graphql?query="+url.QueryEscape(query), nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{}}
	response, err := client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" || response.Header.Get("Cache-Control") != "no-store" {
		s.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	e := &events{T: s.T, received: make(chan event), begun: make(chan string, 1), close: func() { cancel(); client.CloseIdleConnections() }}
	s.Cleanup(e.close)
	go func() {
		defer close(e.received)
		defer response.Body.Close()
		var current event
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, blog.MaxAnswerBytes+1<<10)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "event":
				current.name = value
			case name == "id":
				current.id = value
			case name == "data":
				current.data = value
			case lines.Text() == "" && current.name == "" && current.id != "":
				e.begun <- current.id
				current = event{}
			case lines.Text() == "" && current.name != "":
				select {
				case e.received <- current:
				case <-ctx.Done():
					return
				}
				current = event{}
			}
		}
	}()
	return e
}

// next returns the next event. Its name is empty at the end of the stream.
func (e *events) next() event {
	e.Helper()
	select {
	case got := <-e.received:
		return got
	case <-time.After(patience):
		e.Fatal("no event")
		return event{}
	}
}

// until returns the next event whose data has a part.
func (e *events) until(part string) event {
	e.Helper()
	for {
		got := e.next()
		if got.name != "next" {
			e.Fatalf("got %+v, want %s", got, part)
		}
		if strings.Contains(got.data, part) {
			return got
		}
	}
}

// want requires the next event's data.
func (e *events) want(data string) {
	e.Helper()
	if got := e.next(); got.name != "next" || got.data != data {
		e.Fatalf("got %+v, want %s", got, data)
	}
}

func (e *events) wantEnd() {
	e.Helper()
	if got := e.next(); got.name != "complete" || got.data != "" {
		e.Fatalf("got %+v, want the end", got)
	}
}

// A stream of a post begins with its state, has the last state after changes, and ends with null
// when the post is deleted.
func TestPostChanged(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(nil)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	e := s.subscribe(fmt.Sprintf(`subscription { postChanged(id: %q) { likeCount comments(first: 1, order: NEWEST_FIRST) { nodes { content } } } }`, post), "")
	e.want(`{"data":{"postChanged":{"likeCount":0,"comments":{"nodes":[]}}}}`)
	bob.ask(`mutation($p:ID!){likePost(input:{postId:$p}){post{id}}}`, "p", post)
	e.want(`{"data":{"postChanged":{"likeCount":1,"comments":{"nodes":[]}}}}`)
	for i := range 30 {
		bob.comment(post, fmt.Sprint(i))
	}
	e.until(`"29"`)
	ann.ask(`mutation($p:ID!){deletePost(input:{id:$p}){post{id}}}`, "p", post)
	e.want(`{"data":{"postChanged":null}}`)
	e.wantEnd()
}

// A stream with the comments of a post gets the edit of one that is not among the newest three,
// which leaves the post as it is.
func TestEditOfOlderComment(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(nil)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	oldest := ann.comment(post, "0")
	for i := range 3 {
		ann.comment(post, fmt.Sprint(i+1))
	}
	e := s.subscribe(fmt.Sprintf(`fragment F on Post { comments(first: 1) { nodes { content } } } subscription { postChanged(id: %q) { commentCount ...F } }`, post), "")
	e.want(`{"data":{"postChanged":{"commentCount":4,"comments":{"nodes":[{"content":"0"}]}}}}`)
	ann.ask(`mutation($c:ID!){updateComment(input:{id:$c,content:"edited"}){comment{id}}}`, "c", oldest)
	e.want(`{"data":{"postChanged":{"commentCount":4,"comments":{"nodes":[{"content":"edited"}]}}}}`)
}

// A stream begins with a state that is not older than its request, also if an equal stream has had
// the same revision of the post a moment before, and nothing has told of the change.
func TestStreamsBeginWithThePresent(t *testing.T) {
	skipUnderFaults(t)
	plain := newServer(t)
	s := plain.newStreaming(func(o *api.Options) {
		o.Resolvers = resolvers.New(store.New(plain.db).Watched(newSignals()))
	})
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	oldest := ann.comment(post, "0")
	for i := range 3 {
		ann.comment(post, fmt.Sprint(i+1))
	}
	query := fmt.Sprintf(`subscription { postChanged(id: %q) { comments(first: 1) { nodes { content } } } }`, post)
	s.subscribe(query, "").want(`{"data":{"postChanged":{"comments":{"nodes":[{"content":"0"}]}}}}`)
	ann.ask(`mutation($c:ID!){updateComment(input:{id:$c,content:"edited"}){comment{id}}}`, "c", oldest)
	s.subscribe(query, "").want(`{"data":{"postChanged":{"comments":{"nodes":[{"content":"edited"}]}}}}`)
}

// Every comment reaches a stream once and in order. Another server continues it after a cursor.
func TestCommentAdded(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t)
	first, second := s.newStreaming(nil), s.newStreaming(nil)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	ann.comment(post, "before")
	query := fmt.Sprintf(`subscription { commentAdded(postId: %q) { cursor node { content author { username } } } }`, post)
	one := first.subscribe(query, "")
	if _, err := http.Get(first.url + "/readyz"); err != nil { // nothing else is sent before
		t.Fatal(err)
	}
	<-one.begun
	const comments = 60
	go func() {
		for i := range comments {
			ann.comment(post, fmt.Sprint(i))
		}
	}()
	cursor := ""
	for i := range comments {
		if i == comments/2 {
			one.close()
			one = second.subscribe(query, cursor)
		}
		got := one.next()
		var answer struct {
			Data struct {
				CommentAdded struct {
					Cursor string
					Node   struct{ Content string }
				}
			}
		}
		if err := json.Unmarshal([]byte(got.data), &answer); err != nil {
			t.Fatal(err)
		}
		added := answer.Data.CommentAdded
		if added.Node.Content != fmt.Sprint(i) || added.Cursor != got.id {
			t.Fatalf("comment %d: got %+v", i, got)
		}
		cursor = got.id
	}
	after := first.subscribe(strings.Replace(query, `")`, fmt.Sprintf(`", after: %q)`, cursor), 1), "")
	ann.comment(post, "last")
	for _, stream := range []*events{one, after} {
		if got := stream.next(); !strings.Contains(got.data, `"content":"last"`) {
			t.Errorf("got %+v", got)
		}
	}
	ann.ask(`mutation($p:ID!){deletePost(input:{id:$p}){post{id}}}`, "p", post)
	one.wantEnd()
	after.wantEnd()
}

// A stream after the empty text has all comments, so nothing is lost between a read that found no
// comments and the stream. Nor is anything lost if the stream breaks before its first comment.
func TestCommentsFromTheBeginning(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t)
	streaming := s.newStreaming(nil)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	query := fmt.Sprintf(`subscription { commentAdded(postId: %q, after: "") { node { content } } }`, post)
	early := streaming.subscribe(query, "")
	ann.comment(post, "first")
	late := streaming.subscribe(query, "")
	ann.comment(post, "second")
	for _, stream := range []*events{early, late} {
		first, second := stream.next(), stream.next()
		if !strings.Contains(first.data, `"content":"first"`) || !strings.Contains(second.data, `"content":"second"`) {
			t.Errorf("got %+v and %+v", first, second)
		}
		again := streaming.subscribe(query, first.id)
		if got := again.next(); got != second {
			t.Errorf("after %s: got %+v", first.id, got)
		}
	}
}

// A stream that begins now says where, before anything happens. If it breaks before its first
// event, the next one goes on there, as a browser's EventSource does: by the HTML standard (section
// 9.2.6), a block with an id alone sets the last event ID.
func TestStreamsThatBreakBeforeTheirFirstEvent(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t)
	first, second := s.newStreaming(nil), s.newStreaming(nil)
	ann := s.user("Ann")
	commented, published := 0, 0
	post := ann.post("0", "Content")
	for name, c := range map[string]struct {
		query   string
		happens func()
		want    func() string
	}{
		"comments": {
			fmt.Sprintf(`subscription { commentAdded(postId: %q) { node { content } } }`, post),
			func() { commented++; ann.comment(post, fmt.Sprint(commented)) },
			func() string { return fmt.Sprintf(`"content":"%d"`, commented) },
		},
		"posts": {
			`subscription { postPublished { node { title } } }`,
			func() { published++; ann.post(fmt.Sprint(published), "Content") },
			func() string { return fmt.Sprintf(`"title":"%d"`, published) },
		},
	} {
		for range 2 { // at first, the post has no comments
			e := first.subscribe(c.query, "")
			var id string
			select {
			case id = <-e.begun:
			case got := <-e.received:
				t.Fatalf("%s: got %+v before anything happened", name, got)
			case <-time.After(patience):
				t.Fatalf("%s: the stream does not say where it begins", name)
			}
			e.close()
			c.happens()
			again := second.subscribe(c.query, id)
			if got := again.next(); !strings.Contains(got.data, c.want()) {
				t.Errorf("%s, after %s: got %+v, want %s", name, id, got, c.want())
			}
			select {
			case id := <-again.begun:
				t.Errorf("%s: a stream that goes on begins at %s", name, id)
			default:
			}
			again.close()
		}
	}
	empty := newServer(t)
	stream := empty.newStreaming(nil)
	const query = `subscription { postPublished { node { title } } }`
	id := <-stream.subscribe(query, "").begun
	empty.user("Ann").post("The first post", "Content")
	if got := stream.subscribe(query, id).next(); !strings.Contains(got.data, "The first post") {
		t.Errorf("an empty feed: got %+v", got)
	}
}

// Streams that cannot begin say why.
func TestRefusedStreams(t *testing.T) {
	skipUnderFaults(t)
	plain := newServer(t)
	s := plain.newStreaming(func(o *api.Options) {
		o.Limits = limits.Default()
		o.Limits.ClientStreams = 2
	})
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	const unknown = "p_aaaaaaaaaaaaaaaaaaaaaaaaaa"
	for query, want := range map[string]string{
		`subscription { postChanged(id: "` + unknown + `") { id } }`:                                  "NOT_FOUND",
		`subscription { commentAdded(postId: "` + unknown + `") { cursor } }`:                         "NOT_FOUND",
		`subscription { postChanged(id: "no id") { id } }`:                                            "BAD_USER_INPUT",
		`subscription { postChanged(id: "` + ann.id + `") { id } }`:                                   "BAD_USER_INPUT",
		fmt.Sprintf(`subscription { commentAdded(postId: %q, after: "no cursor") { cursor } }`, post): "BAD_USER_INPUT",
		`subscription { __typename }`:                                                                 "GRAPHQL_VALIDATION_FAILED",
	} {
		e := s.subscribe(query, "")
		got := e.next()
		var answer struct {
			Errors []struct{ Extensions struct{ Code string } }
		}
		if err := json.Unmarshal([]byte(got.data), &answer); err != nil || len(answer.Errors) != 1 || answer.Errors[0].Extensions.Code != want {
			t.Errorf("%s: %+v", query, got)
		}
		e.wantEnd()
		e.close()
	}
	good := fmt.Sprintf(`subscription { postChanged(id: %q) { id } }`, post)
	response, err := http.Post(s.url+"/graphql", "application/json", bytes.NewReader(must(json.Marshal(map[string]string{"query": good}))))
	if err != nil || response.StatusCode != 400 {
		t.Errorf("without text/event-stream: %v %v", response, err)
	}
	open := []*events{s.subscribe(good, ""), s.subscribe(good, "")}
	for _, e := range open {
		e.next()
	}
	third := s.subscribe(good, "")
	if got := third.next(); !strings.Contains(got.data, "LIMIT_EXCEEDED") {
		t.Errorf("a third stream: %+v", got)
	}
	third.wantEnd()
	open[0].close()
	for range 1000 {
		e := s.subscribe(good, "")
		if got := e.next(); !strings.Contains(got.data, "LIMIT_EXCEEDED") {
			return
		}
		e.close()
		runtime.Gosched()
	}
	t.Error("a stream that ended keeps its place")
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// Streams that were closed leave nothing behind, and each event is paid for.
func TestStreamsLeaveNothing(t *testing.T) {
	skipUnderFaults(t)
	metrics := telemetry.NewMetrics()
	s := newServer(t).newStreaming(func(o *api.Options) {
		o.Limits = limits.Default()
		o.Limits.ClientStreams = 0
		o.Traffic, o.Metrics = telemetry.NewTraffic(nil, nil), telemetry.Observer{Metrics: metrics, Logger: slog.New(slog.DiscardHandler)}.MetricsHandler()
		metrics.AddTraffic(o.Traffic)
	})
	counts := func(open int) bool {
		response, err := http.Get(s.url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return strings.Contains(string(text), fmt.Sprintf("\ncosmosblog_subscriptions_open %d\n", open))
	}
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	query := fmt.Sprintf(`subscription { postChanged(id: %q) { id likeCount } }`, post)
	warm := s.subscribe(query, "")
	warm.next()
	before := runtime.NumGoroutine()
	var open []*events
	const streams = 1000
	for range streams {
		open = append(open, s.subscribe(query, ""))
	}
	for _, e := range open {
		e.next()
	}
	spent := s.books.Totals().Spent
	if spent < streams {
		t.Errorf("%d events cost %.2f RU", streams, spent)
	}
	if !counts(1 + streams) {
		t.Error("/metrics does not count the streams")
	}
	for _, e := range open {
		e.close()
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before+3 || !counts(1) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// socket is a WebSocket of graphql-transport-ws.
type socket struct {
	*testing.T
	*websocket.Conn
}

// dial opens a WebSocket. The headers alternate between names and values.
func (s *streaming) dial(headers ...string) (*socket, *http.Response, error) {
	s.Helper()
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	connection, response, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.url, "http")+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
	if err == nil {
		s.Cleanup(func() { connection.CloseNow() })
	}
	return &socket{s.T, connection}, response, err
}

// send sends a message.
func (s *socket) send(message string) {
	s.Helper()
	if err := s.Write(s.Context(), websocket.MessageText, []byte(message)); err != nil {
		s.Fatal(err)
	}
}

// want requires the next message.
func (s *socket) want(message string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, got, err := s.Read(ctx)
	if err != nil || !strings.Contains(string(got), message) {
		s.Fatalf("got %s %v, want %s", got, err, message)
	}
}

// wantClosed requires that the server closes the connection.
func (s *socket) wantClosed(code websocket.StatusCode) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, got, err := s.Read(ctx)
	if websocket.CloseStatus(err) != code {
		s.Fatalf("got %s %v, want code %d", got, err, code)
	}
}

// Subscriptions run over a WebSocket, with the account of connection_init.
func TestWebSocket(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(nil)
	ann := s.user("Ann")
	post := ann.post("Title", "Content")
	c, _, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	c.send(`{"type":"connection_init","payload":{"Authorization":"Bearer Ann"}}`)
	c.want(`"connection_ack"`)
	c.send(fmt.Sprintf(`{"id":"1","type":"subscribe","payload":{"query":"subscription($p:ID!){postChanged(id:$p){viewerHasLiked}}","variables":{"p":%q}}}`, post))
	c.want(`{"data":{"postChanged":{"viewerHasLiked":false}}}`)
	ann.ask(`mutation($p:ID!){likePost(input:{postId:$p}){post{id}}}`, "p", post)
	c.want(`{"data":{"postChanged":{"viewerHasLiked":true}}}`)
	c.send(`{"id":"2","type":"subscribe","payload":{"query":"{viewer{id}}"}}`)
	c.want(`BAD_USER_INPUT`)
	c.send(`{"id":"3","type":"subscribe","payload":{"query":"subscription{nothing}"}}`)
	c.want(`GRAPHQL_VALIDATION_FAILED`)
	ann.ask(`mutation($p:ID!){deletePost(input:{id:$p}){post{id}}}`, "p", post)
	c.want(`{"data":{"postChanged":null}}`)
	c.want(`"complete"`)
	c.send(`{"type":"nothing"}`)
	c.wantClosed(4400)

	for payload, authorization := range map[string]string{`{"Authorization":"Basic x"}`: "", `{"Authorization":5}`: "", `null`: "Bearer Ann"} {
		c, _, err := s.dial("Authorization", authorization)
		if authorization == "" {
			c, _, err = s.dial()
		}
		if err != nil {
			t.Fatal(err)
		}
		c.send(`{"type":"connection_init","payload":` + payload + `}`)
		if authorization == "" {
			c.wantClosed(4403)
			continue
		}
		c.want("connection_ack")
		c.send(`{"id":"1","type":"subscribe","payload":{"query":"subscription{postChanged(id:\"no id\"){id}}"}}`)
		c.want(`"error"`)
	}
	if _, response, err := s.dial("Origin", "https://attacker.example"); err == nil || response == nil || response.StatusCode != 403 {
		t.Errorf("a page of another site: %v %v", response, err)
	}
}

// behindProxy returns the options of a server behind a proxy, each of whose clients has some
// connections.
func behindProxy(connections int) func(*api.Options) {
	return func(o *api.Options) {
		o.Limits = limits.Default()
		o.Limits.AddressConnections = connections
		o.Development = false
		o.Proxies = proxy.Trusted{netip.MustParsePrefix("127.0.0.1/32")}
	}
}

// Streams behind a trusted proxy do not take the places of their client's other requests.
func TestStreamsAreNoRequestsInProgress(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(behindProxy(2))
	post := s.user("Ann").post("Title", "Content")
	query := fmt.Sprintf(`subscription { postChanged(id: %q) { id } }`, post)
	for range 5 {
		e := s.subscribe(query, "", "X-Forwarded-For", "203.0.113.7")
		if got := e.next(); got.name != "next" {
			t.Fatalf("got %+v", got)
		}
	}
}

// A WebSocket counts for its client as long as it is open, whatever is sent on it.
func TestWebSocketsOfOneClient(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(behindProxy(3))
	post := s.user("Ann").post("Title", "Content")
	from := []string{"X-Forwarded-For", "203.0.113.7"}
	var open []*socket
	for i, query := range []string{"{x}", "", fmt.Sprintf("subscription{postChanged(id:%q){id}}", post)} {
		c, _, err := s.dial(from...)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		c.send(`{"type":"connection_init"}`)
		c.want("connection_ack")
		if query != "" {
			c.send(string(must(json.Marshal(map[string]any{"type": "subscribe", "id": "1", "payload": map[string]any{"query": query}}))))
			c.want([]string{`"type":"error"`, "", `"type":"next"`}[i])
		}
	}
	if _, response, err := s.dial(from...); err == nil || response == nil || response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a fourth WebSocket is open: %v", err)
	}
	if _, _, err := s.dial("X-Forwarded-For", "203.0.113.8"); err != nil {
		t.Errorf("another client has none: %v", err)
	}
	open[0].CloseNow()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, _, err := s.dial(from...); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// countedServer is a server that counts the requests to its engine, without those of tails. It has
// a cache of reads.
func countedServer(t *testing.T) (*server, *atomic.Int64) {
	t.Helper()
	var count atomic.Int64
	engine := newEngine(t)
	counting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("A-IM") == "" && !strings.HasSuffix(r.URL.Path, "/pkranges") {
			count.Add(1)
		}
		engine.ServeHTTP(w, r)
	})
	return startServer(t, engine, newInjector(t, engine, inprocess.To(counting)), true), &count
}

// A hundred equal subscriptions cost the requests of one, and its charge: they get one answer.
func TestEqualSubscriptions(t *testing.T) {
	skipUnderFaults(t)
	type cost struct {
		requests int64
		spent    float64
	}
	var costs []cost
	for _, subscribers := range []int{1, 100} {
		plain, count := countedServer(t)
		clock := cosmostest.NewClock(time.Now())
		s := plain.newStreaming(func(o *api.Options) {
			o.Now = clock.Now // a shared answer does not grow old
			o.Limits = limits.Default()
			o.Limits.ClientStreams = 0
		})
		ann, bob := s.user("Ann"), s.user("Bob")
		post := ann.post("Title", "Content")
		bob.comment(post, "0")
		changed := fmt.Sprintf(`subscription { postChanged(id: %q) { commentCount recentComments { excerpt } author { creationDate } } }`, post)
		added := fmt.Sprintf(`subscription { commentAdded(postId: %q) { cursor node { content author { id creationDate } } } }`, post)
		var states, comments []*events
		for range subscribers {
			states, comments = append(states, s.subscribe(changed, "")), append(comments, s.subscribe(added, ""))
		}
		for _, e := range states {
			e.next()
		}
		waitUntilStreamsBegun(s, comments, bob, post)
		for _, e := range states {
			e.until(`"begun"`)
		}
		requests, spent := count.Load(), s.books.Totals().Spent
		bob.comment(post, "1")
		first := ""
		for _, e := range states {
			got := e.next().data
			if first == "" {
				first = got
			}
			if got != first || !strings.Contains(got, `"excerpt":"1"`) {
				t.Fatalf("got %s, others %s", got, first)
			}
		}
		for _, e := range comments {
			if got := e.next(); !strings.Contains(got.data, `"content":"1"`) {
				t.Fatalf("got %+v", got)
			}
		}
		for _, e := range append(states, comments...) {
			e.close()
		}
		costs = append(costs, cost{count.Load() - requests, s.books.Totals().Spent - spent})
	}
	t.Logf("one: %+v, a hundred: %+v", costs[0], costs[1])
	// Subscribers that read while the comment is written read again. On a busy machine, they are many.
	if costs[0].requests == 0 || costs[1].requests > 25*costs[0].requests || costs[1].spent > 25*costs[0].spent {
		t.Errorf("one subscription costs %+v, a hundred %+v", costs[0], costs[1])
	}
}

// waitUntilStreamsBegun comments on a post when all streams have begun, and waits until they have
// the comment "begun".
func waitUntilStreamsBegun(s *streaming, streams []*events, c *client, post string) {
	s.Helper()
	for _, e := range streams {
		<-e.begun
	}
	c.comment(post, "begun")
	for _, e := range streams {
		e.until(`"begun"`)
	}
}

// A subscription keeps neither the body of its request, nor variables that its document does not
// declare, nor its answers in memory.
func TestStreamsKeepNoBodies(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(nil)
	ann := s.user("Ann")
	post := ann.post("Title", strings.Repeat("x", 200<<10))
	padding := strings.Repeat("x", 1<<20)
	var undeclared strings.Builder
	for i := range 450 {
		fmt.Fprintf(&undeclared, `,"v%d":{"a":{}}`, i)
	}
	open := func() io.Closer {
		body := io.MultiReader(strings.NewReader(`{"query":"subscription($p:ID!){postChanged(id:$p){content}}","variables":{"p":"`+post+`"`+undeclared.String()+`},"padding":"`),
			strings.NewReader(padding), strings.NewReader(`"}`))
		r, err := http.NewRequest("POST", s.url+"/graphql", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewReader(response.Body); ; {
			if line, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			} else if strings.HasPrefix(line, "data: ") {
				return response.Body
			}
		}
	}
	defer open().Close()
	const streams = 40
	before := heap()
	for range streams {
		defer open().Close()
	}
	if each := (heap() - before) / streams; each > 150<<10 {
		t.Errorf("each stream keeps %d KiB", each>>10)
	}
}

// Streams that share a document, which the cache does not take, have variables of their own.
func TestStreamsShareLargeDocuments(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(nil)
	ann, bob := s.user("Ann"), s.user("Bob")
	post := ann.post("Title", "Content")
	query := "subscription ($p: ID!, $title: Boolean = false) { postChanged(id: $p) { title @include(if: $title) likeCount } } #" +
		strings.Repeat("x", 20<<10)
	open := func(variables map[string]any) (next func() string) {
		body := must(json.Marshal(map[string]any{"query": query, "variables": variables}))
		r, err := http.NewRequest("POST", s.url+"/graphql", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		lines := bufio.NewScanner(response.Body)
		return func() string {
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					return data
				}
			}
			return ""
		}
	}
	short, long := open(map[string]any{"p": post, "undeclared": true}), open(map[string]any{"p": post, "title": true})
	for likes := range 2 {
		wantShort := fmt.Sprintf(`{"data":{"postChanged":{"likeCount":%d}}}`, likes)
		wantLong := fmt.Sprintf(`{"data":{"postChanged":{"title":"Title","likeCount":%d}}}`, likes)
		if got, gotLong := short(), long(); got != wantShort || gotLong != wantLong {
			t.Errorf("after %d likes: %s and %s", likes, got, gotLong)
		}
		bob.ask(`mutation($p:ID!){likePost(input:{postId:$p}){post{id}}}`, "p", post)
	}
}

// heap returns the memory in use, in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools keep is freed by the second one
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Opening a subscription is paid for, also if it fails, and a client whose budget is used up opens
// none.
func TestOpeningStreamsIsPaid(t *testing.T) {
	skipUnderFaults(t)
	clock := cosmostest.NewClock(time.Now())
	books := budget.New(budget.Options{Address: 1, Now: clock.Now}) // up to 10 RU
	s := newServer(t).newStreaming(func(o *api.Options) { o.Books = books })
	const unknown = "p_aaaaaaaaaaaaaaaaaaaaaaaaaa"
	query := `subscription { commentAdded(postId: "` + unknown + `") { cursor } }`
	for i := range 30 {
		e := s.subscribe(query, "")
		got := e.next()
		e.close()
		if strings.Contains(got.data, "BUDGET_EXCEEDED") {
			if i < 5 || books.Totals().Spent < 10 {
				t.Errorf("refused after %d streams and %.2f RU", i, books.Totals().Spent)
			}
			return
		}
		if !strings.Contains(got.data, "NOT_FOUND") {
			t.Fatalf("got %+v", got)
		}
	}
	t.Errorf("30 streams were opened for %.2f RU", books.Totals().Spent)
}

// A client that does not read a large answer is disconnected if others need the memory.
func TestSlowStreamsGiveMemoryBack(t *testing.T) {
	skipUnderFaults(t)
	const large, fields = 250 << 10, 29 // together more than the buffers of a connection
	start := time.Now()
	s := newServer(t).newStreaming(func(o *api.Options) {
		// In this fast time, the slow client is slow at once, and the wait for memory ends before the
		// slow client is given up for other reasons.
		o.Now = func() time.Time { return start.Add(100 * time.Since(start)) }
		o.Limits = limits.Default()
		o.Limits.AllAnswersBytes = fields * large * 7 / 2 // an answer takes one part of it, and three while it is made
	})
	ann := s.user("Ann")
	post := ann.post("Title", strings.Repeat("x", large))
	selection := ""
	for i := range fields {
		selection += fmt.Sprintf("c%d: content ", i)
	}
	query := fmt.Sprintf(`subscription { postChanged(id: %q) { %s } }`, post, selection)
	address := strings.TrimPrefix(s.url, "http://")
	slow, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	slow.SetDeadline(time.Now().Add(patience))
	slow.(*net.TCPConn).SetReadBuffer(64 << 10)
	fmt.Fprintf(slow, "GET /graphql?query=%s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", url.QueryEscape(query), address)
	begun := make([]byte, 10_000)
	if n, err := io.ReadFull(slow, begun); err != nil { // the answer is being sent
		t.Fatalf("%v after %s", err, begun[:n])
	}
	fast := s.subscribe(query, "")
	if got := fast.next(); got.name != "next" || strings.Contains(got.data, `"errors"`) {
		t.Fatalf("got %.200s", got.data)
	}
	if n, err := io.Copy(io.Discard, slow); errors.Is(err, os.ErrDeadlineExceeded) || n > (fields-2)*large {
		t.Errorf("the slow client got %d bytes more, and %v", n, err)
	}
}

// published is an answer of postPublished.
type published struct {
	Data struct {
		PostPublished struct {
			Cursor string
			Node   struct{ Title, Content, Excerpt string }
		}
	}
	Extensions struct{ Gap bool }
}

// published returns the next answer of postPublished, whose cursor must be the event's id.
func (e *events) published() published {
	e.Helper()
	got := e.next()
	var answer published
	if err := json.Unmarshal([]byte(got.data), &answer); err != nil || answer.Data.PostPublished.Cursor != got.id || got.id == "" {
		e.Fatalf("got %+v: %v", got, err)
	}
	return answer
}

// wantPublished requires the titles of the next posts, and returns the last cursor.
func (e *events) wantPublished(titles ...string) (cursor string) {
	e.Helper()
	for _, title := range titles {
		got := e.published()
		post := got.Data.PostPublished.Node
		if post.Title != title || post.Content != "Content of "+title || got.Extensions.Gap {
			e.Fatalf("got %+v, want %s", got, title)
		}
		cursor = got.Data.PostPublished.Cursor
	}
	return cursor
}

// Posts reach a stream once, in the order in which they come into the feed. Another server
// continues it after a cursor, or after a post of the feed.
func TestPostPublished(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t)
	first, second := s.newStreaming(nil), s.newStreaming(nil)
	ann, bob := s.user("Ann"), s.user("Bob")
	publish := func(titles ...string) {
		for _, title := range titles {
			ann.post(title, "Content of "+title)
		}
	}
	const fields = `{ cursor node { title content excerpt comments { nodes { id } } } } }`
	const query = `subscription { postPublished ` + fields
	empty := first.subscribe(`subscription { postPublished(after: "") `+fields, "")
	publish("before")
	empty.wantPublished("before")
	empty.close()
	one := first.subscribe(query, "")
	<-one.begun
	publish("last")
	cursor := one.wantPublished("last")
	publish("1")
	bob.like(ann.post("2", "Content of 2"))
	one.wantPublished("1", "2")
	one.close()
	publish("3")
	two := second.subscribe(query, cursor)
	two.wantPublished("1", "2", "3")
	feed := s.anonymous().ask(`{ feed { edges { cursor node { title } } } }`)
	newest := feed.text("feed.edges.0.cursor")
	publish("4", "5")
	three := first.subscribe(fmt.Sprintf(`subscription { postPublished(after: %q) `, newest)+fields, "")
	three.wantPublished("4", "5")
	two.wantPublished("4", "5")

	for _, wrong := range []string{"no cursor", "AAAA"} {
		e := first.subscribe(fmt.Sprintf(`subscription { postPublished(after: %q) `, wrong)+fields, "")
		if got := e.next(); !strings.Contains(got.data, "BAD_USER_INPUT") || !strings.Contains(got.data, `"field":["after"]`) {
			t.Errorf("%s: %+v", wrong, got)
		}
		e.wantEnd()
	}
}

// A stream whose cursor is before posts that are gone from the feed says so, and goes on with those
// that are left.
func TestGapOfPublishedPosts(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(nil)
	ann := s.user("Ann")
	ann.post("oldest", "Content")
	anonymous := s.anonymous()
	listed := anonymous.ask(`{ feed { edges { cursor } } }`).text("feed.edges.0.cursor")
	e := s.subscribe(`subscription { postPublished(after: "`+listed+`") { cursor node { title } } }`, "")
	ann.post("0", "Content")
	cursor := e.published().Data.PostPublished.Cursor
	e.close()
	const all = views.FeedCapacity + 2*views.FeedSurplus
	following, cursors := s.subscribe(`subscription { postPublished { cursor node { title } } }`, cursor), make([]string, all)
	for i := 1; i < all; i++ {
		ann.post(fmt.Sprint(i), "Content")
	}
	for i := 1; i < all; i++ {
		cursors[i] = following.published().Data.PostPublished.Cursor
	}
	following.close()
	for name, after := range map[string]string{"a cursor": cursor, "a post": listed} {
		e := s.subscribe(`subscription { postPublished(after: "`+after+`") { cursor node { title } } }`, "")
		got := e.published()
		next, err := strconv.Atoi(got.Data.PostPublished.Node.Title)
		if err != nil || !got.Extensions.Gap || next <= 1 || next > all-views.FeedCapacity {
			t.Fatalf("after %s: %+v, %v", name, got, err)
		}
		first := next
		for next++; next < all; next++ {
			if got := e.published(); got.Data.PostPublished.Node.Title != fmt.Sprint(next) || got.Extensions.Gap {
				t.Fatalf("after %s: %+v, want post %d", name, got, next)
			}
		}
		e.close()
		// Equal subscriptions share their answers to a post, but only one of these has a gap.
		const equal = `subscription { postPublished { cursor node { title } } }`
		for _, last := range []string{cursors[first-1], cursor, cursors[first-1]} {
			resumed := s.subscribe(equal, last)
			if got := resumed.published(); got.Data.PostPublished.Node.Title != fmt.Sprint(first) || got.Extensions.Gap != (last == cursor) {
				t.Errorf("resumed after %s: %+v, want post %d", last, got, first)
			}
			resumed.close()
		}
	}
}

// A like of a long post costs its subscribers no read of the content, unless they select it.
func TestLongContentsAreReadIfSelected(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(nil)
	ann := s.user("Ann")
	content := strings.Repeat("x", 200<<10)
	post := ann.post("Title", content)
	for fields, most := range map[string]float64{"likeCount": 3, "likeCount content": 60} {
		e := s.subscribe(fmt.Sprintf(`subscription { postChanged(id: %q) { %s } }`, post, fields), "")
		e.next()
		spent := s.books.Totals().Spent
		ann.ask(`mutation($p:ID!){likePost(input:{postId:$p}){post{id}}}`, "p", post)
		got := e.until(`"likeCount":1`)
		more := s.books.Totals().Spent - spent
		if strings.Contains(got.data, content) != (fields != "likeCount") || more > most || more < most/3 {
			t.Errorf("%s: an answer of %d bytes for %.2f RU", fields, len(got.data), more)
		}
		e.close()
		ann.ask(`mutation($p:ID!){unlikePost(input:{postId:$p}){post{id}}}`, "p", post)
	}
}

// failingServer is a server whose engine refuses some requests while failing is set.
func failingServer(t *testing.T, path string) (s *server, failing *atomic.Bool) {
	t.Helper()
	failing = new(atomic.Bool)
	return newServerVia(t, func(engine http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if failing.Load() && r.Method == http.MethodGet && strings.Contains(r.URL.Path, path) {
				w.Header().Set("X-Ms-Retry-After-Ms", "10")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			engine.ServeHTTP(w, r)
		})
	}), failing
}

// An event whose answer fails for a while is answered later, also the last one.
func TestEventsAreAnsweredAfterFailures(t *testing.T) {
	skipUnderFaults(t)
	plain, failing := failingServer(t, "/docs/"+schema.ContentID)
	s := plain.newStreaming(nil)
	ann := s.user("Ann")
	post := ann.post("Title", strings.Repeat("x", 20<<10))
	changed := s.subscribe(fmt.Sprintf(`subscription { postChanged(id: %q) { commentCount content } }`, post), "")
	changed.until(`"commentCount":0`)
	added := s.subscribe(fmt.Sprintf(`subscription { commentAdded(postId: %q, after: "") { node { content post { content } } } }`, post), "")
	ann.comment(post, "one")
	added.until(`"one"`)
	changed.until(`"commentCount":1`)
	failing.Store(true)
	ann.comment(post, "two")
	time.AfterFunc(time.Second, func() { failing.Store(false) })
	for name, e := range map[string]*events{`"two"`: added, `"commentCount":2`: changed} {
		if got := e.next(); !strings.Contains(got.data, name) || strings.Contains(got.data, "errors") {
			t.Errorf("got %.300s", got.data)
		}
	}
}

// If the failure stays, the stream sends the error, without a cursor, and ends.
func TestStreamsEndAfterLongFailures(t *testing.T) {
	skipUnderFaults(t)
	plain, failing := failingServer(t, "/docs/"+schema.ContentID)
	start := time.Now()
	s := plain.newStreaming(func(o *api.Options) {
		o.Now = func() time.Time { return start.Add(100 * time.Since(start)) } // the client waits ten of these seconds
	})
	ann := s.user("Ann")
	post := ann.post("Title", strings.Repeat("x", 20<<10))
	ann.comment(post, "one")
	failing.Store(true)
	e := s.subscribe(fmt.Sprintf(`subscription { new: commentAdded(postId: %q, after: "") { node { post { text: content } } } }`, post), "")
	if got := e.next(); got.id != "" || !strings.Contains(got.data, "THROTTLED") || !strings.Contains(got.data, `"path":["new","node","post"`) {
		t.Errorf("got %+v", got)
	}
	e.wantEnd()
}

// Clients may offer to upgrade to other protocols, as Java's and curl's do with each request.
func TestOtherUpgradesAreIgnored(t *testing.T) {
	skipUnderFaults(t)
	s := newServer(t).newStreaming(nil)
	r, err := http.NewRequest("GET", s.url+"/graphql?query="+url.QueryEscape(`{feed{nodes{id}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade, HTTP2-Settings")
	r.Header.Set("Upgrade", "h2c")
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", response, err)
	}
}

// replicas sends some reads to the latest replica, and all others to one that lags.
type replicas struct {
	latest, lagging *cosmostest.Transport
	isLatest        func(*http.Request) bool
}

func (r replicas) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && request.Header.Get("A-IM") == "" && r.isLatest(request) {
		return r.latest.Do(request)
	}
	return r.lagging.Do(request)
}

// newLagging returns two servers on an account with a follower: one that writes to the leader, and
// one whose reads the follower answers, except those that isLatest selects.
func newLagging(t *testing.T, isLatest func(*http.Request) bool) (account *cosmostest.Account, writer, reader *server) {
	t.Helper()
	account = cosmostest.New(t, cosmostest.Options{Follower: true})
	writer = startServer(t, account, newInjector(t, account, account.Latest()), false)
	db, err := provision.OpenEmbedded(t.Context(), account, cosmos.Options{Transport: replicas{account.Latest(), account.NewTransport(), isLatest}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	lagging := *writer
	lagging.db = db
	return account, writer, &lagging
}

// waitFor waits until a number of things have happened.
func waitFor(t *testing.T, happened *atomic.Int64, n int64) {
	t.Helper()
	for deadline := time.Now().Add(patience); happened.Load() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d have happened, want %d", happened.Load(), n)
		}
	}
}

// A stream whose reads are answered by several replicas never goes back: its selection has the
// comments that its post counts, and a replica that lacks the post does not end it.
func TestStreamsOnLaggingReplicas(t *testing.T) {
	skipUnderFaults(t)
	isPost := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/docs/p_") }
	for name, isLatest := range map[string]func() func(*http.Request) bool{
		"the list lags": func() func(*http.Request) bool { return isPost },
		"later reads lag": func() func(*http.Request) bool {
			var reads atomic.Int64
			return func(r *http.Request) bool { return isPost(r) && reads.Add(1) == 1 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			account, writer, reader := newLagging(t, isLatest())
			db, ann := reader.db, writer.user("Ann")
			account.Follower.CatchUp()
			account.Follower.Hold()
			post := ann.post("Title", "Content")
			ann.comment(post, "first")
			e := reader.newStreaming(func(o *api.Options) {
				watcher := tail.New(tail.Options{DB: db, Containers: schema.ContainerNames()[:5], Staleness: 200 * time.Millisecond})
				ctx, cancel := context.WithCancel(context.Background())
				ended := make(chan struct{})
				go func() { defer close(ended); _ = watcher.Run(ctx) }()
				t.Cleanup(func() { cancel(); <-ended })
				o.Resolvers = resolvers.New(store.NewCached(db, readcache.New(1<<20, watcher.Changes), watcher).Watched(watcher))
			}).subscribe(fmt.Sprintf(`subscription { postChanged(id: %q) { commentCount comments(first: 5) { nodes { content } } } }`, post), "")
			time.AfterFunc(time.Second, account.Follower.CatchUp) // until then, some reads find no replica
			e.want(`{"data":{"postChanged":{"commentCount":1,"comments":{"nodes":[{"content":"first"}]}}}}`)
			ann.comment(post, "second")
			account.Follower.CatchUp()
			e.want(`{"data":{"postChanged":{"commentCount":2,"comments":{"nodes":[{"content":"first"},{"content":"second"}]}}}}`)
		})
	}
}

// signals tells of changes of containers when a test sends them, and knows the state of posts.
type signals struct {
	feed, posts chan struct{}
	told        atomic.Pointer[string] // a session token of posts
}

func newSignals() *signals { return &signals{feed: make(chan struct{}), posts: make(chan struct{})} }

func (s *signals) Watch(container, _ string) (<-chan struct{}, func()) {
	return map[string]chan struct{}{schema.Feed: s.feed, schema.Posts: s.posts}[container], func() {}
}

func (*signals) Signals(string, string) uint64 { return 0 }

func (s *signals) Join(ctx context.Context, container string) {
	if token := s.told.Load(); token != nil && container == schema.Posts {
		cosmos.JoinSession(ctx, container, *token)
	}
}

// A signal tells of a state. The streams that it wakes read that state, or a later one, also if a
// replica that lags answers, and nothing else wakes them later.
func TestSignalAheadOfAReplica(t *testing.T) {
	skipUnderFaults(t)
	for name, subscription := range map[string]string{
		"post":    `subscription { postChanged(id: %q) { commentCount } }`,
		"comment": `subscription { commentAdded(postId: %q) { node { content } } }`,
	} {
		t.Run(name, func(t *testing.T) {
			var reads atomic.Int64 // of posts
			account, writer, reader := newLagging(t, func(r *http.Request) bool {
				if strings.Contains(r.URL.Path, "/docs/p_") {
					reads.Add(1)
				}
				return false
			})
			ann := writer.user("Ann")
			post := ann.post("Title", "Content")
			account.Follower.CatchUp()
			told := newSignals()
			e := reader.newStreaming(func(o *api.Options) {
				o.Resolvers = resolvers.New(store.New(reader.db).Watched(told))
			}).subscribe(fmt.Sprintf(subscription, post), "")
			if name == "post" {
				e.want(`{"data":{"postChanged":{"commentCount":0}}}`)
			}
			told.posts <- struct{}{} // as for a change of another partition: received when the stream waits
			account.Follower.Hold()
			ann.comment(post, "new")
			token, err := cosmos.LatestState(t.Context(), writer.db.Container(schema.Posts), rawID(t, post))
			if err != nil {
				t.Fatal(err)
			}
			told.told.Store(&token)
			before := reads.Load()
			told.posts <- struct{}{}
			waitFor(t, &reads, before+1)
			account.Follower.CatchUp()
			e.want(map[string]string{
				"post":    `{"data":{"postChanged":{"commentCount":1}}}`,
				"comment": `{"data":{"commentAdded":{"node":{"content":"new"}}}}`,
			}[name])
		})
	}
}

// One signal tells of an arrival: that of the first change which the server's watch reads it after.
// A stream whose own read is answered by a replica that lags does not miss it.
func TestArrivalAheadOfAReplica(t *testing.T) {
	skipUnderFaults(t)
	var reads, latest atomic.Int64 // of the horizon
	account, writer, reader := newLagging(t, func(r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/docs/"+schema.HorizonID) {
			return false
		}
		reads.Add(1)
		return latest.Add(-1) >= 0
	})
	ann := writer.user("Ann")
	ann.post("before", "Content of before")
	account.Follower.CatchUp()
	told := newSignals()
	e := reader.newStreaming(func(o *api.Options) {
		o.Resolvers = resolvers.New(store.New(reader.db).Watched(told))
	}).subscribe(`subscription { postPublished { cursor node { title } } }`, "")
	waitFor(t, &reads, 3) // of the watch, of the stream, and of the stream after the first signal
	account.Follower.Hold()
	ann.post("new", "Content of new")
	before := reads.Load()
	latest.Store(1)
	told.feed <- struct{}{} // as for another change of the feed: the watch reads ahead
	waitFor(t, &reads, before+2)
	account.Follower.CatchUp()
	told.feed <- struct{}{}
	if got := e.published(); got.Data.PostPublished.Node.Title != "new" {
		t.Errorf("got %+v", got)
	}
}
