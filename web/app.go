package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"net/http"
	"strings"
)

// Settings are what the blog's program must know of its server.
type Settings struct {
	// Development tells that people sign in by name, and that the server reports costs and has
	// GraphiQL.
	Development bool `json:"development,omitempty"`
	// Issuer signs people in. Without it, and without Development, nobody can sign in.
	Issuer *Issuer `json:"issuer,omitempty"`
}

// Issuer is an OpenID Connect issuer, and the blog's registration there.
type Issuer struct {
	URL    string `json:"url"`
	Client string `json:"client"` // the id of the registration
	Scope  string `json:"scope"`  // what the blog asks for
	Token  string `json:"token"`  // the token that the API accepts: access_token or id_token
}

// App is the blog in a browser: its files, and its pages. A page is written for its path: it has a
// title, a description, and the data that its program shows first. It may be used concurrently.
type App struct {
	files    *site
	settings Settings
	parts    [3]string // of the built page, around the elements that are replaced
}

// The elements of the built page that are replaced.
const (
	headMarker    = `<title>cosmosblog</title>`
	programMarker = `<script type="application/json" id="page">{"development":true}</script>`
)

// NewApp returns the blog of a server.
func NewApp(options Options, settings Settings) *App {
	a := &App{files: newSite(options, "app", "/", Policy(nil)), settings: settings}
	page, err := dist.ReadFile("dist/app/index.html")
	if err != nil {
		panic("web: " + err.Error()) // the file is embedded
	}
	var hasHead, hasProgram bool
	a.parts[0], a.parts[1], hasHead = strings.Cut(string(page), headMarker)
	a.parts[1], a.parts[2], hasProgram = strings.Cut(a.parts[1], programMarker)
	if !hasHead || !hasProgram {
		panic("web: the built page lacks an element that is replaced")
	}
	delete(a.files.files, "/") // the page as it was built
	return a
}

// File returns the handler of the file that a request names, or nil if the request names a page. An
// unknown path is a page for a browser, and an error for another client. The handler serves GET and
// HEAD only.
func (a *App) File(r *http.Request) http.Handler {
	if a.files.find(r.URL.Path) != nil || strings.HasPrefix(r.URL.Path, "/assets/") {
		return a.files
	}
	if v, _ := findView(r.URL.EscapedPath()); v != nil || r.URL.Path == AtomPath || a.files.AcceptsHTML(r) {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		a.files.ServeHTTP(w, r)
	})
}

// HasData reports whether the page at the escaped path of a URL, or the Atom feed, has data to
// read.
func (a *App) HasData(path string) bool {
	v, _ := findView(path)
	return path == AtomPath || v != nil && len(v.queries) > 0
}

// Policy returns the Content-Security-Policy of the blog's pages. They may load this server's files
// and use its API, have no inline styles, and can create no script or HTML from text. They connect
// to nothing else but the given origins, those of the issuer.
func Policy(issuer []string) string {
	connect := strings.Join(append([]string{"'self'"}, issuer...), " ")
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
		"connect-src " + connect + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
}

// Query executes a query as somebody who has not signed in. It returns the status of the response
// and its body in JSON. The status is 200 if the query was executed.
type Query func(query string, variables map[string]any) (status int, body []byte)

// Page is the response to a request for a page of the blog, or for its Atom feed.
type Page struct {
	Status      int
	ContentType string
	Body        []byte
}

// Page returns the page at the escaped path of a URL, or the Atom feed at AtomPath. origin begins
// the addresses of pages, such as https://blog.example.com.
//
// The status is 404 if the page's object does not exist. If its data could not be read, the status
// is that of the query, or 503. The page then has no data, and its program reads them.
func (a *App) Page(path, origin string, query Query) Page {
	if path == AtomPath {
		return atomFeed(origin, query)
	}
	v, parameters := findView(path)
	if v == nil {
		return a.write(http.StatusNotFound, head{title: "There is no such page"}, nil)
	}
	h := head{title: v.title, description: blogDescription, address: origin + fill(v.path, parameters)}
	h.canonical = origin + fill(cmp.Or(v.canonical, v.path), parameters)
	status := http.StatusOK
	var loaded []preloaded
	for i, q := range v.queries {
		variables := q.variables(parameters)
		read, body := readData(query, q.operation, variables)
		if read.status == http.StatusOK && q.describe != nil && !q.describe(read.Data, parameters, &h) {
			read.status = http.StatusNotFound
		}
		if read.isComplete() {
			loaded = append(loaded, preloaded{ID: documentsByName()[q.operation].id, Variables: variables, Answer: body})
		}
		if isNeeded := i == 0 || q.describe != nil; isNeeded && read.status != http.StatusOK {
			status = read.status
			break
		}
	}
	if status == http.StatusNotFound {
		h.title = cmp.Or(h.title, "There is nothing here")
	}
	if status != http.StatusOK {
		h.address = ""
	}
	return a.write(status, h, loaded)
}

// result is the answer to a query.
type result struct {
	status int // 200 if the query was executed
	Data   data
	Errors []struct {
		Extensions struct{ Code string }
	}
}

// isComplete reports whether a program can show the answer. If something failed, it tries again.
func (r *result) isComplete() bool { return r.status == http.StatusOK && len(r.Errors) == 0 }

// readData executes a query of the blog. The status of its result is 404 if an id is malformed, and
// 503 if its object could not be read.
func readData(query Query, operation string, variables map[string]any) (result, []byte) {
	status, body := query(documentsByName()[operation].text, variables)
	r := result{}
	if err := json.Unmarshal(body, &r); err != nil {
		panic("web: an answer is not JSON: " + err.Error()) // the server has just written it
	}
	r.status = status
	for _, e := range r.Errors {
		switch {
		case e.Extensions.Code == "BAD_USER_INPUT":
			r.status = http.StatusNotFound
		case r.status == http.StatusOK && r.Data.isEmpty():
			r.status = http.StatusServiceUnavailable
		}
	}
	return r, body
}

// head is what a page's head says about it. The address is empty if the page has none. canonical is
// the address of the page that has the content too.
type head struct{ title, description, address, canonical string }

// preloaded is the answer to a query of the page, as somebody who has not signed in would get it.
type preloaded struct {
	ID        string          `json:"id"` // of the document
	Variables map[string]any  `json:"variables"`
	Answer    json.RawMessage `json:"answer"`
}

const blogDescription = "A blog on Azure Cosmos DB"

// write writes the HTML of a page. What is written for the program is JSON without `<`, so that no
// text can end its element.
func (a *App) write(status int, h head, loaded []preloaded) Page {
	program, err := json.Marshal(struct {
		Settings
		Preloaded []preloaded `json:"preloaded,omitempty"`
	}{a.settings, loaded})
	if err != nil {
		panic("web: " + err.Error()) // the answers are JSON
	}
	var page bytes.Buffer
	page.WriteString(a.parts[0])
	writeElement := func(before, text, after string) {
		page.WriteString(before + html.EscapeString(text) + after)
	}
	title := "cosmosblog"
	if h.title != "" {
		title = h.title + " – " + title
	}
	writeElement("<title>", title, "</title>")
	if h.description != "" {
		writeElement(`<meta name="description" content="`, h.description, `" />`)
	}
	if h.address != "" {
		writeElement(`<link rel="canonical" href="`, h.canonical, `" />`)
		writeElement(`<meta property="og:url" content="`, h.address, `" />`)
		writeElement(`<meta property="og:title" content="`, h.title, `" />`)
		writeElement(`<meta property="og:description" content="`, h.description, `" />`)
		writeElement(`<meta property="og:site_name" content="`, "cosmosblog", `" />`)
	}
	page.WriteString(a.parts[1])
	page.WriteString(`<script type="application/json" id="page">`)
	page.Write(program)
	page.WriteString(`</script>`)
	page.WriteString(a.parts[2])
	return Page{Status: status, ContentType: htmlType, Body: page.Bytes()}
}

// The media types of pages.
const (
	htmlType = "text/html; charset=utf-8"
	atomType = "application/atom+xml; charset=utf-8"
)
