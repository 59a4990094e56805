package api_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"cosmosblog/api"
	manifests "cosmosblog/api/documents"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
	"cosmosblog/web"
)

const acceptsHTML = "text/html,application/xhtml+xml,*/*;q=0.8"

// page requests a page as a browser does.
func (s *site) page(path string, headers ...string) reply {
	s.Helper()
	return s.send("GET", path, "", append([]string{"Accept", acceptsHTML}, headers...)...)
}

type preloaded struct {
	ID        string
	Variables map[string]any
	Answer    struct {
		Data       json.RawMessage
		Extensions map[string]any
	}
}

// preloadedBy returns the answers that a page has for its program.
func preloadedBy(t *testing.T, r reply) []preloaded {
	t.Helper()
	var program struct{ Preloaded []preloaded }
	text := regexp.MustCompile(`(?s)<script type="application/json" id="page">(.*?)</script>`).FindStringSubmatch(r.Body.String())
	if text == nil || json.Unmarshal([]byte(text[1]), &program) != nil {
		t.Fatalf("the page has no data: %s", r.Body)
	}
	return program.Preloaded
}

// TestPagesOfBlog requests pages of a real blog. Their data are the API's answers to somebody who
// has not signed in, and depend on no viewer.
func TestPagesOfBlog(t *testing.T) {
	s := newSite(t, true)
	known := manifests.New(limits.Default(), false)
	manifest, err := manifests.ParseManifest(web.Documents())
	if err == nil {
		err = known.Load(manifest, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/posts/" + s.post, "/posts/" + s.post + "/comments/" + s.comment, "/users/" + s.must("Ann", "{viewer{id}}"), "/archive"} {
		r := s.page(path, "Authorization", "Bearer Bob", "Cosmosblog-Session", "not one")
		answers := preloadedBy(t, r)
		if r.Code != 200 || len(answers) == 0 || r.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: status %d, %d answers", path, r.Code, len(answers))
		}
		if r.Header().Get("Cache-Control") != "no-store" || r.Header().Get("Cross-Origin-Opener-Policy") != "same-origin" ||
			!strings.Contains(r.Header().Get("Content-Security-Policy"), "connect-src 'self';") {
			t.Errorf("%s: the headers are %v", path, r.Header())
		}
		for _, a := range answers {
			text, _ := known.Text(a.ID)
			variables, _ := json.Marshal(a.Variables)
			body, _ := json.Marshal(map[string]any{"query": text, "variables": json.RawMessage(variables)})
			same := s.send("POST", "/graphql", string(body), "Content-Type", "application/json")
			if string(same.Data) != string(a.Answer.Data) || len(a.Answer.Data) < 20 {
				t.Errorf("%s has %s, and the API answers %s", path, a.Answer.Data, same.Body)
			}
			if a.Answer.Extensions["cosmos"] == nil {
				t.Errorf("%s: the answer has no charges", path)
			}
			document, errs := known.Read(text, "")
			if len(errs) > 0 || document.AsksOfViewer {
				t.Errorf("%s: the query depends on the viewer: %s", path, text)
			}
		}
	}
	for _, path := range []string{"/posts/" + s.deletedPost, "/posts/nothing", "/users/u_nobody", "/archive/now", "/tags/go", "/archive/2026-01", "/nothing"} {
		if r := s.page(path); r.Code != 404 || !strings.Contains(r.Body.String(), `<script type="module"`) {
			t.Errorf("%s: status %d", path, r.Code)
		}
	}
	for _, path := range []string{"/", "/feed.xml"} { // an image of another page
		if r := s.page(path, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"); r.Code != 403 {
			t.Errorf("%s, as an image: status %d", path, r.Code)
		}
	}
	if r := s.page("/", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); r.Code != 200 {
		t.Errorf("a link on another page: status %d", r.Code)
	}
	if r := s.send("HEAD", "/posts/"+s.post, "", "Accept", acceptsHTML); r.Code != 200 || r.Body.Len() > 0 {
		t.Errorf("HEAD: status %d, %d bytes", r.Code, r.Body.Len())
	}
}

// TestPagesInProduction checks that there are pages only if they have an origin, and what differs.
func TestPagesInProduction(t *testing.T) {
	s := newSite(t, false)
	if r := s.page("/"); r.Code != 404 {
		t.Errorf("without an origin: status %d", r.Code)
	}
	s.pages = "https://blog.example.com"
	s.serve(limits.Default())
	r := s.page("/posts/" + s.post)
	if a := preloadedBy(t, r); r.Code != 200 || len(a) != 2 || a[0].Answer.Extensions["cosmos"] != nil {
		t.Errorf("status %d, %s", r.Code, r.Body)
	}
	if !strings.Contains(r.Body.String(), `rel="canonical" href="https://blog.example.com/posts/`) || strings.Contains(r.Body.String(), `"development"`) {
		t.Errorf("the page is %s", r.Body)
	}
	if r := s.page("/playground"); r.Code != 404 {
		t.Errorf("GraphiQL: status %d", r.Code)
	}
	feed := s.page("/feed.xml")
	if feed.Code != 200 || !strings.Contains(feed.Body.String(), "https://blog.example.com/feed.xml") {
		t.Errorf("the feed: status %d, %s", feed.Code, feed.Body)
	}
	if same := s.page("/feed.xml", "If-None-Match", feed.Header().Get("ETag")); same.Code != 304 || same.Body.Len() > 0 {
		t.Errorf("the same feed: status %d, ETag %q", same.Code, feed.Header().Get("ETag"))
	}
}

// originsVerifier is the verifier of an issuer whose token endpoint has another origin.
type originsVerifier struct{ trustingVerifier }

func (originsVerifier) Origins() []string {
	return []string{"https://login.example.com", "https://token.example.com"}
}

// TestPagesOfIssuer checks that a page connects to the issuer that signs people in, and to nothing
// else.
func TestPagesOfIssuer(t *testing.T) {
	s := newServer(t, func(o *api.Options, _ *stubQuery) {
		o.Verifier, o.PagesOrigin = originsVerifier{}, "https://blog.example.com"
		o.PagesIssuer = &web.Issuer{URL: "https://login.example.com", Client: "blog", Scope: "openid", Token: "access_token"}
	})
	r := s.do("GET", "/sign-in", "", "Accept", acceptsHTML)
	if policy := r.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self' https://login.example.com https://token.example.com;") {
		t.Errorf("the policy is %s", policy)
	}
	if !strings.Contains(r.Body.String(), `{"issuer":{"url":"https://login.example.com","client":"blog","scope":"openid","token":"access_token"}}`) {
		t.Errorf("the page is %s", r.Body)
	}
}

// TestPagesArePaid checks that the address of a client pays for pages, and what a page is without a
// budget.
func TestPagesArePaid(t *testing.T) {
	s := newSite(t, true)
	s.books = budget.New(budget.Options{Address: 0.1})
	s.serve(limits.Default())
	var r reply
	for range 1000 {
		if r = s.page("/posts/" + s.post); r.Code != 200 {
			break
		}
	}
	if r.Code != 429 || r.Header().Get("Retry-After") == "" || len(preloadedBy(t, r)) > 0 {
		t.Errorf("without a budget: status %d, Retry-After %q", r.Code, r.Header().Get("Retry-After"))
	}
	if feed := s.page("/feed.xml"); feed.Code != 429 || !strings.Contains(feed.Body.String(), "BUDGET_EXCEEDED") {
		t.Errorf("the feed: status %d, %s", feed.Code, feed.Body)
	}
}

// TestPagesIfReadsFail checks the status of a page if the database does not answer.
func TestPagesIfReadsFail(t *testing.T) {
	s := newSite(t, true)
	s.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	if r := s.page("/posts/" + s.post); r.Code != 503 || len(preloadedBy(t, r)) > 0 {
		t.Errorf("status %d", r.Code)
	}
}
