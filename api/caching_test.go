package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

// targetOf returns the target of a GET of a query.
func targetOf(query string) string { return "/graphql?query=" + url.QueryEscape(query) }

// get sends a query with GET, without compression unless the headers ask for it.
func (s *site) get(query string, headers ...string) reply {
	s.Helper()
	if !slices.Contains(headers, "Accept-Encoding") {
		headers = append(headers, "Accept-Encoding", "identity")
	}
	return s.send("GET", targetOf(query), "", headers...)
}

var strongETag = regexp.MustCompile(`^"[0-9a-f]{32}"$`)

// TestETagFollowsTheAnswer reads a post before and after an edit.
func TestETagFollowsTheAnswer(t *testing.T) {
	s := newSite(t, false)
	query := fmt.Sprintf("{post(id:%q){title likeCount}}", s.post)
	first, second := s.get(query), s.get(query)
	etag := first.Header().Get("ETag")
	if first.Code != 200 || !strongETag.MatchString(etag) || second.Header().Get("ETag") != etag {
		t.Fatalf("status %d, ETag %q, then %q", first.Code, etag, second.Header().Get("ETag"))
	}
	if r := s.get(query, "If-None-Match", etag); r.Code != 304 {
		t.Errorf("status %d, want 304", r.Code)
	}
	s.must("Ann", `mutation($p:ID!){updatePost(input:{id:$p,title:"There"}){post{id}}}`, "p", s.post)
	r := s.get(query, "If-None-Match", etag)
	if r.Code != 200 || !strings.Contains(string(r.Data), "There") || !strongETag.MatchString(r.Header().Get("ETag")) || r.Header().Get("ETag") == etag {
		t.Errorf("after an edit: status %d, ETag %q, %s", r.Code, r.Header().Get("ETag"), r.Body)
	}
}

// TestETagTellsRepresentationsApart checks that answers with the same data in other bytes, or of
// another media type, have other ETags.
func TestETagTellsRepresentationsApart(t *testing.T) {
	for _, c := range []struct {
		name    string
		length  int
		codings int
	}{{"short", 1, 1}, {"long", 4000, 3}} {
		s := newServer(t, answering(c.length))
		seen := map[string]string{}
		for _, coding := range []string{"identity", "gzip", "zstd"} {
			for _, accept := range []string{"application/json", newerType} {
				r := s.do("GET", targetOf("{viewer{username}}"), "", "Accept", accept, "Accept-Encoding", coding)
				representation := r.Header().Get("Content-Type") + " " + r.Header().Get("Content-Encoding")
				etag := r.Header().Get("ETag")
				if other, ok := seen[etag]; !strongETag.MatchString(etag) || ok && other != representation {
					t.Errorf("%s: %q and %q have the ETag %q", c.name, representation, other, etag)
				}
				seen[etag] = representation
			}
		}
		if len(seen) != 2*c.codings {
			t.Errorf("%s: the ETags are %q", c.name, seen)
		}
	}
}

// answering returns a change of a stub: the viewer's name has a length.
func answering(length int) func(*api.Options, *stubQuery) {
	return func(_ *api.Options, q *stubQuery) {
		q.viewer = func(context.Context) (*blog.User, error) {
			return &blog.User{ID: "u_a", Username: strings.Repeat("x", length)}, nil
		}
	}
}

// TestIfNoneMatch checks all forms of the header, with answers of every coding.
func TestIfNoneMatch(t *testing.T) {
	s := newServer(t, func(o *api.Options, q *stubQuery) { answering(4000)(o, q); allowPage(o, q) })
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		send := func(headers ...string) reply {
			return s.do("GET", targetOf("{viewer{username}}"), "", append(headers, "Accept-Encoding", coding, "Origin", page)...)
		}
		full := send()
		etag := full.Header().Get("ETag")
		for _, sent := range [][]string{
			{etag}, {"W/" + etag}, {`"a", ` + etag}, {`W/"a,b" , W/` + etag + `,"c"`}, {etag + `,"a"`}, {"*"}, {" * "}, {`"a"`, etag},
		} {
			r := send(ifNoneMatch(sent)...)
			if r.Code != 304 || r.Body.Len() > 0 {
				t.Errorf("%s, %q: status %d, %d bytes", coding, sent, r.Code, r.Body.Len())
			}
			for _, name := range []string{"ETag", "Cache-Control", "Vary", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers"} {
				if got, want := r.Header().Get(name), full.Header().Get(name); got != want || got == "" {
					t.Errorf("%s, %q: %s is %q, and %q with the answer", coding, sent, name, got, want)
				}
			}
			for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding"} {
				if got := r.Header().Get(name); got != "" {
					t.Errorf("%s, %q: %s is %q", coding, sent, name, got)
				}
			}
		}
		for _, sent := range [][]string{
			{`"a"`}, {""}, {strings.Trim(etag, `"`)}, {`"*"`}, {`"a", "b"`}, {strings.ToUpper(etag)}, {etag[:len(etag)-2] + `-gzip"`}, {`"x` + etag[1:]},
		} {
			if r := send(ifNoneMatch(sent)...); r.Code != 200 || !slices.Equal(r.Body.Bytes(), full.Body.Bytes()) || r.Header().Get("ETag") != etag {
				t.Errorf("%s, %q: status %d, ETag %q", coding, sent, r.Code, r.Header().Get("ETag"))
			}
		}
	}
}

// ifNoneMatch returns one header If-None-Match for each value.
func ifNoneMatch(values []string) []string {
	var headers []string
	for _, value := range values {
		headers = append(headers, "If-None-Match", value)
	}
	return headers
}

// TestUncacheableAnswers checks what has no ETag: everything but the complete answers of queries
// that were sent with GET, also if the server shares answers.
func TestUncacheableAnswers(t *testing.T) {
	s := newSite(t, true)
	s.publicMaxAge = time.Minute
	s.serve(limits.Default())
	feed := `{"query":"{feed{nodes{title}}}"}`
	for _, c := range []struct {
		name, method, target, body string
		status                     int
		headers                    []string
	}{
		{"POST", "POST", "/graphql", feed, 200, nil},
		{"a mutation", "GET", targetOf(`mutation{deletePost(input:{id:"x"}){post{id}}}`), "", 405, nil},
		{"HEAD", "HEAD", targetOf("{__typename}"), "", 405, nil},
		{"diagnostics", "GET", targetOf("{feed{nodes{title}}}"), "", 200, []string{"X-Cosmos-Diagnostics", "1"}},
		{"a failed field", "GET", targetOf(`{__typename user(id:"x"){id}}`), "", 200, nil},
		{"a malformed query", "GET", targetOf("{"), "", 200, nil},
		{"an invalid query", "GET", targetOf("{nothing}"), "", 200, nil},
		{"an invalid query, newer type", "GET", targetOf("{nothing}"), "", 400, []string{"Accept", newerType}},
		{"no query", "GET", "/graphql", "", 400, nil},
		{"an invalid token", "GET", targetOf("{__typename}"), "", 401, []string{"Authorization", "Bearer bad"}},
		{"another site", "GET", targetOf("{__typename}"), "", 403, []string{"Sec-Fetch-Site", "cross-site"}},
		{"an unknown hash", "GET", persistedTarget("", sha256Of("{__typename}")), "", 200, nil},
	} {
		for _, sent := range []string{"", "*"} {
			headers := append([]string{"Content-Type", "application/json", "If-None-Match", sent}, c.headers...)
			r := s.send(c.method, c.target, c.body, headers...)
			if r.Code != c.status || r.Header().Get("Cache-Control") != "no-store" || r.Header().Get("ETag") != "" {
				t.Errorf("%s, If-None-Match %q: status %d, %v", c.name, sent, r.Code, r.Header())
			}
			if got := r.Header().Get("Vary"); got != vary {
				t.Errorf("%s: Vary %q", c.name, got)
			}
		}
	}
}

// TestHashIsCacheable checks that a GET with the hash of a query is answered as one with the query.
func TestHashIsCacheable(t *testing.T) {
	s := newServer(t, inDevelopment)
	const query = "{viewer{id}}"
	want := s.do("GET", persistedTarget(query, sha256Of(query)), "").Header().Get("ETag")
	if r := s.do("GET", persistedTarget("", sha256Of(query)), "", "If-None-Match", want); r.Code != 304 || !strongETag.MatchString(want) {
		t.Errorf("ETag %q, then status %d", want, r.Code)
	}
}

// TestUnchangedAnswersHoldNoMemory sends large answers that the client has already. Together, they
// are larger than the memory for answers.
func TestUnchangedAnswersHoldNoMemory(t *testing.T) {
	s := newServer(t, func(o *api.Options, q *stubQuery) {
		answering(200<<10)(o, q)
		o.Limits = limits.Default()
		o.Limits.AllAnswersBytes = 1 << 20
	})
	for i := range 10 {
		if r := s.do("GET", targetOf("{viewer{username}}"), "", "If-None-Match", "*"); r.Code != 304 {
			t.Fatalf("request %d: status %d, %s", i, r.Code, r.Body)
		}
	}
}

// TestConcurrentUnchangedAnswers mixes answers with and without a body, because answers share their
// buffers.
func TestConcurrentUnchangedAnswers(t *testing.T) {
	s := newServer(t, func(_ *api.Options, q *stubQuery) {
		q.userByUsername = func(_ context.Context, name string) (*blog.User, error) {
			return &blog.User{ID: "u_a", Username: name}, nil
		}
	})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			name := strings.Repeat(string(rune('a'+worker)), 100*worker*worker)
			want := fmt.Sprintf(`{"data":{"userByUsername":{"username":%q}}}`, name)
			etags := map[string]string{}
			for i := range 100 {
				coding := []string{"identity", "gzip", "zstd"}[i%3]
				request := httptest.NewRequest("GET", targetOf(fmt.Sprintf("{userByUsername(username:%q){username}}", name)), nil)
				request.Header.Set("Accept-Encoding", coding)
				request.Header.Set("If-None-Match", etags[coding])
				recorder := httptest.NewRecorder()
				s.handler.ServeHTTP(recorder, request)
				etag := recorder.Header().Get("ETag")
				if etags[coding] != "" {
					if recorder.Code != 304 || etag != etags[coding] {
						t.Errorf("worker %d: status %d, ETag %q", worker, recorder.Code, etag)
					}
					delete(etags, coding)
					continue
				}
				etags[coding] = etag
				if got := decompress(t, recorder.Header().Get("Content-Encoding"), recorder.Body.Bytes()); got != want {
					t.Errorf("worker %d: got %.100s", worker, got)
				}
			}
		})
	}
	all.Wait()
}

// TestCacheControl checks who may keep an answer: everyone only if the server allows it, and if the
// answer depends on no viewer and no session.
func TestCacheControl(t *testing.T) {
	s := newSite(t, true)
	anonymous, signedIn := []string(nil), []string{"Authorization", "Bearer Ann"}
	for _, c := range []struct {
		name     string
		query    string
		headers  []string
		isPublic bool
	}{
		{"anonymous", `{feed{nodes{title author{username}}}}`, anonymous, true},
		{"a missing object", `{user(id:"u_aaaaaaaaaaaaaaaaaaaaaaaaaa"){id}}`, anonymous, false},
		{"behind node", `{node(id:"POST"){...on Post{title}}}`, anonymous, true},
		{"another operation of the document", `query A{__typename} query B{viewer{id}}`, anonymous, true},
		{"signed in", `{feed{nodes{title}}}`, signedIn, false},
		{"an empty token", `{feed{nodes{title}}}`, []string{"Authorization", ""}, true},
		{"a session", `{feed{nodes{title}}}`, []string{"Cosmosblog-Session", "x"}, false},
		{"an empty session", `{feed{nodes{title}}}`, []string{"Cosmosblog-Session", ""}, false},
		{"viewer", `{viewer{id}}`, anonymous, false},
		{"viewer under an alias", `{me:viewer{id}}`, anonymous, false},
		{"viewer that is skipped", `{__typename viewer@skip(if:true){id}}`, anonymous, false},
		{"viewer in a fragment", `{...F} fragment F on Query{viewer{id}}`, anonymous, false},
		{"a field of the viewer", `{post(id:"POST"){viewerHasLiked}}`, anonymous, false},
		{"such a field in a fragment", `{post(id:"POST"){...F}} fragment F on Post{title viewerHasLiked}`, anonymous, false},
		{"such a field behind node", `{node(id:"POST"){...on Post{viewerHasLiked}}}`, anonymous, false},
		{"such a field behind nodes", `{nodes(ids:["POST"]){...F}} fragment F on Post{liked:viewerHasLiked}`, anonymous, false},
		{"such a field of a signed-in user", `{post(id:"POST"){viewerHasLiked}}`, signedIn, false},
	} {
		target := targetOf(strings.ReplaceAll(c.query, "POST", s.post)) + "&operationName="
		if strings.HasPrefix(c.query, "query A") {
			target += "A"
		}
		for _, age := range []time.Duration{0, 90 * time.Second} {
			s.publicMaxAge = age
			s.serve(limits.Default())
			want := "private, no-cache"
			if c.isPublic && age > 0 {
				want = "public, max-age=90"
			}
			r := s.send("GET", target, "", c.headers...)
			etag := r.Header().Get("ETag")
			if got := r.Header().Get("Cache-Control"); r.Code != 200 || got != want || etag == "" || r.Header().Get("Vary") != vary {
				t.Errorf("%s, %v: status %d, %q, want %q: %v, %s", c.name, age, r.Code, got, want, r.Header(), r.Body)
			}
			r = s.send("GET", target, "", append(slices.Clip(c.headers), "If-None-Match", etag)...)
			if got := r.Header().Get("Cache-Control"); r.Code != 304 || got != want {
				t.Errorf("%s, %v: status %d, %q, want 304 with %q", c.name, age, r.Code, got, want)
			}
		}
	}
}
