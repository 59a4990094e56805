package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/engine/value"
)

// account is an engine under test that can send itself signed requests.
type account struct {
	*Engine
	t     testing.TB
	clock *testClock
	key   []byte // signs requests
}

// testClock is a clock that stands still until it is moved, or advances by a step on each
// reading.
type testClock struct {
	mu   sync.Mutex
	now  time.Time
	step time.Duration
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.step)
	return c.now
}

// autoAdvance makes the clock advance by a step on each reading.
func (c *testClock) autoAdvance(step time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step = step
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newAccount opens an engine, in memory by default, and checks it at the end of the test.
func newAccount(t testing.TB, options Options) *account {
	t.Helper()
	clock := &testClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	options.Now = clock.Now
	e, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	a := &account{e, t, clock, e.key.Load().bytes}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// Close checks and closes the engine, unless it is closed already.
func (a *account) Close() error {
	a.t.Helper()
	if err := a.Check(); err != nil && !errors.Is(err, ErrClosed) {
		a.t.Error(err)
	}
	return a.Engine.Close()
}

// blogContainer is a container that suits most tests.
const blogContainer = `{"id":"posts","partitionKey":{"paths":["/postId"],"kind":"Hash","version":2},"defaultTtl":-1,
	"indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/userId/?"}],"compositeIndexes":[
		[{"path":"/type","order":"ascending"},{"path":"/creationDate","order":"descending"},{"path":"/id","order":"descending"}],
		[{"path":"/postId","order":"ascending"},{"path":"/id","order":"ascending"}],
		[{"path":"/type","order":"ascending"},{"path":"/creationDate","order":"ascending"},{"path":"/id","order":"ascending"}]]}}`

const (
	posts = "dbs/blog/colls/posts"
	docs  = posts + "/docs"
)

func newBlog(t testing.TB, options Options) *account {
	t.Helper()
	a := newAccount(t, options)
	a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
	a.must(201, a.send("POST", "dbs/blog/colls", blogContainer))
	return a
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   value.Value
	text   string
}

func (a answer) id() string { s, _ := a.body.Get("id").AsString(); return s }

func (a answer) items() []value.Value { items, _ := a.body.Get("Documents").AsArray(); return items }

func (a answer) ids() []string {
	ids := []string{}
	for _, item := range a.items() {
		id, _ := item.Get("id").AsString()
		ids = append(ids, id)
	}
	return ids
}

// send signs and sends a request. headers are pairs of names and values; the name "pk" sets a
// string as the partition key.
func (a *account) send(method, path, body string, headers ...string) answer {
	a.t.Helper()
	w := httptest.NewRecorder()
	a.ServeHTTP(w, a.request(method, path, body, headers...))
	got := answer{status: w.Code, header: w.Header(), text: w.Body.String()}
	if w.Body.Len() > 0 {
		parsed, err := value.Parse(w.Body.Bytes())
		if err != nil {
			a.t.Fatalf("%s %s: the response is not JSON: %v: %s", method, path, err, w.Body)
		}
		got.body = parsed
	}
	return got
}

// request returns a signed request; headers as in send.
func (a *account) request(method, path, body string, headers ...string) *http.Request {
	var escaped []string
	for _, part := range strings.Split(path, "/") {
		escaped = append(escaped, url.PathEscape(part))
	}
	r := httptest.NewRequest(method, "http://engine.invalid/"+strings.Join(escaped, "/"), strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "pk" {
			text, _ := json.Marshal([]string{headers[i+1]})
			r.Header.Set("x-ms-documentdb-partitionkey", string(text))
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	sign(r, a.key, path)
	return r
}

func sign(r *http.Request, key []byte, path string) {
	parts := strings.Split(path, "/")
	kind, link := parts[len(parts)-1], strings.Join(parts[:len(parts)-1], "/")
	if len(parts)%2 == 0 {
		kind, link = parts[len(parts)-2], path
	}
	if kind == "offers" {
		link = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(path, "offers"), "/"))
	}
	date := "Fri, 02 Jan 2026 03:04:05 GMT"
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(r.Method + "\n" + kind + "\n")))
	mac.Write([]byte(link + "\n" + strings.ToLower(date) + "\n\n"))
	r.Header.Set("x-ms-date", date)
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
}

// must fails the test if a response has another status.
func (a *account) must(status int, got answer) answer {
	a.t.Helper()
	if got.status != status {
		a.t.Fatalf("status %d, want %d: %s", got.status, status, got.text)
	}
	return got
}

func (a *account) create(pk, item string) answer {
	a.t.Helper()
	return a.must(201, a.send("POST", docs, item, "pk", pk))
}

// query sends a query to one partition, or across partitions if pk is empty. headers as in send.
func (a *account) query(pk, body string, headers ...string) answer {
	a.t.Helper()
	headers = append(headers, "Content-Type", "application/query+json", "x-ms-documentdb-query", "True",
		"x-ms-documentdb-query-enablecrosspartition", "true")
	if pk != "" {
		headers = append(headers, "pk", pk)
	}
	return a.send("POST", docs, body, headers...)
}

// changes reads a page of the change feed of range 0.
func (a *account) changes(after string, headers ...string) answer {
	a.t.Helper()
	headers = append(headers, "A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", "0")
	if after != "" {
		headers = append(headers, "If-None-Match", after)
	}
	return a.send("GET", docs, "", headers...)
}
