package web_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/web"
)

// options are those of a server whose clients accept gzip if they name it first.
var options = web.Options{
	AcceptsHTML: func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Accept"), "text/html") },
	AcceptsGzip: func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Accept-Encoding"), "gzip") },
	NotFound:    http.NotFoundHandler(),
}

// sites are the handlers, with the folder and the path of each.
var sites = []struct {
	handler              http.Handler
	folder, path, prefix string
}{
	{blog(), "dist/app", "/", "/"},
	{web.GraphiQL(options), "dist/graphiql", "/playground", "/playground/"},
}

// blog returns the handler of the blog's files and pages. No object exists, and no list has
// elements.
func blog() http.Handler {
	app := web.NewApp(options, web.Settings{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if file := app.File(r); file != nil {
			file.ServeHTTP(w, r)
			return
		}
		page := app.Page(r.URL.EscapedPath(), "https://blog.example.com", func(string, map[string]any) (int, []byte) {
			return http.StatusOK, []byte(`{"data": {"post": null}}`)
		})
		w.Header().Set("Content-Security-Policy", web.Policy(nil))
		w.Header().Set("Content-Type", page.ContentType)
		w.WriteHeader(page.Status)
		_, _ = w.Write(page.Body)
	})
}

// get sends a GET with pairs of header names and values.
func get(handler http.Handler, target string, headers ...string) *http.Response {
	return send(handler, "GET", target, headers...)
}

func send(handler http.Handler, method, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Result()
}

func readAll(t *testing.T, body io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFiles requests every file of dist, plain and compressed.
func TestFiles(t *testing.T) {
	types := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml", ".ttf": "font/ttf", ".woff2": "font/woff2", ".md": "text/plain; charset=utf-8", ".txt": "text/plain; charset=utf-8",
	}
	for _, s := range sites {
		err := fs.WalkDir(os.DirFS(s.folder), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || s.path == "/" && name == "index.html" { // which is written for each path
				return err
			}
			content, err := os.ReadFile(path.Join(s.folder, name))
			if err != nil {
				return err
			}
			target := s.prefix + name
			if name == "index.html" {
				target = s.path
			}
			r := get(s.handler, target)
			if r.StatusCode != 200 || readAll(t, r.Body) != string(content) || r.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s: status %d", target, r.StatusCode)
			}
			if got, want := r.Header.Get("Content-Type"), types[path.Ext(name)]; got != want || want == "" {
				t.Errorf("%s: Content-Type %q, want %q", target, got, want)
			}
			keep := "no-cache"
			if strings.HasPrefix(name, "assets/") {
				keep = "public, max-age=31536000, immutable"
			}
			if got := r.Header.Get("Cache-Control"); got != keep {
				t.Errorf("%s: Cache-Control %q, want %q", target, got, keep)
			}
			testForms(t, s.handler, target, string(content))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// testForms checks that a file is the same in gzip, that each form has its own ETag, and that both
// are revalidated.
func testForms(t *testing.T, handler http.Handler, target, content string) {
	t.Helper()
	plain, compressed := get(handler, target), get(handler, target, "Accept-Encoding", "gzip")
	reader, err := gzip.NewReader(compressed.Body)
	if err != nil || compressed.Header.Get("Content-Encoding") != "gzip" || readAll(t, reader) != content {
		t.Errorf("%s in gzip: %v, Content-Encoding %q", target, err, compressed.Header.Get("Content-Encoding"))
	}
	tags := [2]string{plain.Header.Get("ETag"), compressed.Header.Get("ETag")}
	if tags[0] == tags[1] || tags[0] == "" {
		t.Errorf("%s: ETags %q", target, tags)
	}
	for i, encoding := range []string{"identity", "gzip"} {
		r := get(handler, target, "Accept-Encoding", encoding, "If-None-Match", tags[i])
		if r.StatusCode != 304 || readAll(t, r.Body) != "" || r.Header.Get("ETag") != tags[i] {
			t.Errorf("%s, %s, revalidated: status %d, ETag %q", target, encoding, r.StatusCode, r.Header.Get("ETag"))
		}
		if r := get(handler, target, "Accept-Encoding", encoding, "If-None-Match", tags[1-i]); r.StatusCode != 200 {
			t.Errorf("%s, %s, with the ETag of the other form: status %d", target, encoding, r.StatusCode)
		}
		if vary := r.Header.Values("Vary"); len(vary) != 1 || vary[0] != "Accept-Encoding" {
			t.Errorf("%s, %s: Vary %q", target, encoding, vary)
		}
		head, full := send(handler, "HEAD", target, "Accept-Encoding", encoding), get(handler, target, "Accept-Encoding", encoding)
		length := strconv.Itoa(len(readAll(t, full.Body)))
		if readAll(t, head.Body) != "" || head.Header.Get("Content-Length") != length || full.Header.Get("Content-Length") != length {
			t.Errorf("%s, %s: HEAD has length %q, GET %q, the body %s", target, encoding,
				head.Header.Get("Content-Length"), full.Header.Get("Content-Length"), length)
		}
	}
}

// TestPagesForPaths checks that navigation to any path of the blog gets a page, and that all other
// missing files are not found.
func TestPagesForPaths(t *testing.T) {
	app := blog()
	for _, c := range []struct {
		target, accept string
		isPage         bool
		status         int
	}{
		{"/", "*/*", true, 200},
		{"/archive", "text/html,application/xhtml+xml,*/*;q=0.8", true, 200},
		{"/write/", "text/html", true, 200},
		{"/posts/p_1", "text/html", true, 404},
		{"/posts/p_1", "*/*", true, 404}, // as programs that show previews of links ask
		{"/nothing.js", "text/html", true, 404},
		{"/nothing.js", "*/*", false, 404},
		{"/nothing", "", false, 404},
		{"/nothing", "application/json", false, 404},
		{"/assets/nothing.js", "text/html", false, 404},
		{"/assets/", "text/html", false, 404},
		{"/sources.sha256", "*/*", false, 404},
		{"/index.html", "*/*", false, 404},
	} {
		r := get(app, c.target, "Accept", c.accept)
		isPage := strings.Contains(readAll(t, r.Body), `<script type="module"`)
		if isPage != c.isPage || r.StatusCode != c.status {
			t.Errorf("%s, Accept %q: status %d, a page: %t", c.target, c.accept, r.StatusCode, isPage)
		}
	}
	for _, target := range []string{"/playground/nothing", "/playground/assets/nothing.js", "/playground/index.html"} {
		if r := get(web.GraphiQL(options), target, "Accept", "text/html"); r.StatusCode != 404 {
			t.Errorf("%s: status %d", target, r.StatusCode)
		}
	}
}

// TestPagesNameOnlyTheirFiles checks the policies, and that the pages have no inline scripts and
// name only files that exist.
func TestPagesNameOnlyTheirFiles(t *testing.T) {
	for _, s := range sites {
		r := get(s.handler, s.path)
		policy := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %s", s.path, policy, want)
			}
		}
		page := readAll(t, r.Body)
		links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
		if len(links) < 3 {
			t.Errorf("%s has %d links", s.path, len(links))
		}
		for _, link := range links {
			if strings.HasSuffix(link[1], "/") || link[1] == web.AtomPath {
				continue // a page
			}
			if r := get(s.handler, link[1]); r.StatusCode != 200 {
				t.Errorf("%s names %s: status %d", s.path, link[1], r.StatusCode)
			}
		}
		page = regexp.MustCompile(`<script type="application/json" id="page">[^<]*</script>|"https://blog\.example\.com/"`).ReplaceAllString(page, "")
		if regexp.MustCompile(`<script[^>]*>[^<]|<style| style=| on[a-z]+=|https?:`).MatchString(page) {
			t.Errorf("%s has inline code or names another server: %s", s.path, page)
		}
	}
}
