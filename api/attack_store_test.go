package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"cosmosblog/guard/limits"
)

func unmarshal(t *testing.T, text []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// TestDatabaseErrorsAreHidden covers row 23: clients get only an error id for every response of
// the database.
func TestDatabaseErrorsAreHidden(t *testing.T) {
	t.Parallel()
	for _, development := range []bool{false, true} {
		s := newSite(t, development)
		for name, fail := range map[string]func(w http.ResponseWriter){
			"refused":   func(w http.ResponseWriter) { http.Error(w, `{"code":"BadRequest","message":"S3CRET near '@p0'"}`, 400) },
			"forbidden": func(w http.ResponseWriter) { http.Error(w, `{"code":"Forbidden","message":"S3CRET key"}`, 403) },
			"no JSON": func(w http.ResponseWriter) {
				w.Header().Set("x-ms-session-token", marker)
				fmt.Fprint(w, "<html>S3CRET")
			},
			"a panic": func(http.ResponseWriter) { panic(marker) },
		} {
			s.intercept = func(w http.ResponseWriter, _ *http.Request) bool { fail(w); return true }
			for _, r := range []reply{
				s.queryAs("", `query($i:ID!){node(id:$i){id}}`, "i", s.post),
				s.queryAs("", `query($i:ID!){nodes(ids:[$i]){id}}`, "i", s.comment),
				s.queryAs("Bob", `mutation($i:ID!){likePost(input:{postId:$i}){post{id}}}`, "i", s.post),
			} {
				if r.Code != 200 || r.codes() != "INTERNAL" || r.Errors[0].Extensions["errorId"] == nil || len(r.Errors[0].Extensions) != 2 {
					t.Errorf("%s: status %d: %.500s", name, r.Code, r.Body)
				}
				s.checkRejection(t, r)
			}
		}
		s.intercept = nil
		if !strings.Contains(s.log.String(), "a request failed") {
			t.Error("the log is empty")
		}
	}
}

// TestDeadlineReachesDatabase covers row 24: the deadline of an operation cancels its database
// requests.
func TestDeadlineReachesDatabase(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	l := limits.Default()
	l.Time = 500 * time.Millisecond // long enough to reach the database on a busy machine
	s.serve(l)
	ended := make(chan error, 10)
	s.intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done() // blocks forever without a deadline
		ended <- r.Context().Err()
		return true
	}
	if r := s.queryAs("", `query($i:ID!){node(id:$i){id}}`, "i", s.post); strings.Trim(r.codes(), "TIMEOUT ") != "" || r.codes() == "" || len(ended) == 0 {
		t.Errorf("%d database requests were cancelled: %s", len(ended), r.Body)
	}
}

// TestAnnouncedBodyTooLarge covers row 7: a body whose Content-Length is too large is rejected
// before it arrives.
func TestAnnouncedBodyTooLarge(t *testing.T) {
	t.Parallel() // the server waits for half a second before it closes the connection
	s := newSite(t, false)
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", 20<<20)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if r := s.read(response); r.Code != 413 || r.codes() != "LIMIT_EXCEEDED" {
		t.Errorf("status %d: %s", r.Code, r.Body)
	}
}

// TestDocumentCacheKey covers row 28: the cache key is the query's text, and the operation name
// and the variables are evaluated for each request.
func TestDocumentCacheKey(t *testing.T) {
	s := newSite(t, false)
	const query = `query A($i:ID!,$with:Boolean=false){node(id:$i){id __typename @include(if:$with)}} query B{feed{nodes{id}}} mutation C{deletePost(input:{id:"x"}){post{id}}}`
	for range 2 {
		for _, c := range []struct{ operation, variables, want string }{
			{"A", fmt.Sprintf(`{"i":%q}`, s.post), fmt.Sprintf(`{"node":{"id":%q}}`, s.post)},
			{"A", fmt.Sprintf(`{"i":%q,"with":true}`, s.comment), fmt.Sprintf(`{"node":{"id":%q,"__typename":"Comment"}}`, s.comment)},
			{"A", `{"i":"5"}`, `{"node":null}`},
			{"A", `{"i":5}`, `{"node":null}`},
			{"A", `{"i":true}`, ``},
			{"A", `{}`, ``},
			{"B", `{}`, `{"feed":{"nodes":[]}}`},
			{"C", `{}`, `{"deletePost":null}`},
			{"D", `{}`, ``},
			{"", `{}`, ``},
		} {
			r := s.send("POST", "/graphql", fmt.Sprintf(`{"query":%q,"operationName":%q,"variables":%s}`, query, c.operation, c.variables), "Content-Type", "application/json")
			if string(r.Data) != c.want {
				t.Errorf("%s with %s: %s, want data %s", c.operation, c.variables, r.Body, c.want)
			}
		}
		// GET cannot execute a mutation even if its query is cached.
		if r := s.send("GET", "/graphql?operationName=C&query="+strings.ReplaceAll(query, " ", "%20"), ""); r.Code != 405 {
			t.Errorf("GET: status %d: %s", r.Code, r.Body)
		}
	}
}

// TestDocumentCacheIsBounded covers row 28: the cache evicts queries that never repeat.
func TestDocumentCacheIsBounded(t *testing.T) {
	s := newServer(t, nil)
	values := strings.Repeat(`"x" `, 370)
	flood := func(from, to int) {
		for i := from; i < to; i++ {
			if r := s.query(fmt.Sprintf(`query Q%d($i:[ID!]=[%s]){viewer{id} nodes(ids:$i){id}}`, i, values)); r.codes() == "" {
				t.Fatalf("got %s", r.Body)
			}
		}
	}
	flood(0, 10)
	before := heapBytes()
	flood(10, 600) // about 90 MB if nothing was evicted
	if grown := (heapBytes() - before) >> 20; grown > 64 {
		t.Errorf("the heap grew by %d MB", grown)
	}
	runtime.KeepAlive(s)
}

// heapBytes returns the heap in use, in bytes.
func heapBytes() int64 {
	for range 3 { // a pool drops its buffers in the second collection
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
