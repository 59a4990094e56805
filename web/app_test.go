package web_test

import (
	"encoding/json"
	"encoding/xml"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"cosmosblog/web"
)

// pageOf returns a page for which all queries have one answer, and the queries' variables.
func pageOf(path, answer string) (page web.Page, variables []map[string]any) {
	app := web.NewApp(options, web.Settings{Development: true})
	page = app.Page(path, "https://blog.example.com", func(_ string, v map[string]any) (int, []byte) {
		variables = append(variables, v)
		return 200, []byte(answer)
	})
	return page, variables
}

// program returns the JSON that a page has for its program.
func program(t *testing.T, page web.Page) (program struct {
	Development bool
	Preloaded   []struct {
		ID        string
		Variables map[string]any
		Answer    json.RawMessage
	}
}) {
	t.Helper()
	text := regexp.MustCompile(`(?s)<script type="application/json" id="page">(.*?)</script>`).FindSubmatch(page.Body)
	if len(text) == 0 {
		t.Fatalf("the page has no data: %s", page.Body)
	}
	if err := json.Unmarshal(text[1], &program); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestHostileTexts checks that no text of a post becomes HTML, and that the program gets it
// unchanged.
func TestHostileTexts(t *testing.T) {
	const hostile = `</script></title><script>alert(1)</script>" onload="x <!--`
	answer, err := json.Marshal(map[string]any{"data": map[string]any{"post": map[string]any{
		"title": hostile, "content": hostile, "author": map[string]any{"username": "anna"}}}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(answer), `\u003c`, "<") // as a server may write it
	page, _ := pageOf("/posts/p_1", text)
	html := string(page.Body)
	if strings.Count(html, "<script") != 2 || strings.Count(html, "</script") != 2 || strings.Contains(html, "<!--") {
		t.Errorf("a text became HTML: %s", html)
	}
	var got struct {
		Data struct{ Post struct{ Title string } }
	}
	if err := json.Unmarshal(program(t, page).Preloaded[0].Answer, &got); err != nil || got.Data.Post.Title != hostile {
		t.Errorf("the program gets the title %q, %v", got.Data.Post.Title, err)
	}
	if !strings.Contains(html, "<title>&lt;/script&gt;&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#34; onload=&#34;x &lt;!-- – cosmosblog</title>") {
		t.Errorf("the title is not escaped: %s", html)
	}
}

// TestPaths checks which paths are pages, their variables, and their heads.
func TestPaths(t *testing.T) {
	const post = `{"post": {"title": "One", "content": "# Two\n\nthree **four** [five](https://x.example)", "author": {"username": "anna"}}, ` +
		`"node": {"content": "*Six*", "author": {"username": "ben"}, "post": {"id": "p_1"}}, ` +
		`"user": {"username": "anna"}, "tag": {"name": "go"}, "archive": {"month": "2026-01"}, "feed": {"edges": []}, "archiveMonths": []}`
	for _, c := range []struct {
		path, variables, title, description, address string
	}{
		{"/", `[{}]`, "Recent posts", "A blog on Azure Cosmos DB", "/"},
		{"/posts/p_1", `[{"id":"p_1"},{"id":"p_1"}]`, "One", "Two three four five", "/posts/p_1"},
		{"/posts/p_1/", `[{"id":"p_1"},{"id":"p_1"}]`, "One", "Two three four five", "/posts/p_1"},
		{"/posts/p_1/comments/c_1.p_1", `[{"id":"p_1"},{"id":"p_1"},{"id":"c_1.p_1"}]`, "Comment on One", "ben: Six", "/posts/p_1"},
		{"/posts/p_1/edit", `null`, "Edit post", "A blog on Azure Cosmos DB", "/posts/p_1/edit"},
		{"/users/u_1", `[{"id":"u_1"}]`, "anna", "The posts of anna", "/users/u_1"},
		{"/tags/%C3%A9t%C3%A9", `[{"isFirst":true,"name":"été"}]`, "Posts with the tag “go”", "Posts with the tag “go”", "/tags/%C3%A9t%C3%A9"},
		{"/archive", `[{"isFirst":true}]`, "Archive", "A blog on Azure Cosmos DB", "/archive"},
		{"/archive/2026-01", `[{"isFirst":true,"month":"2026-01"}]`, "Posts of January 2026", "Posts of January 2026", "/archive/2026-01"},
	} {
		page, variables := pageOf(c.path, `{"data": `+post+`}`)
		sent, _ := json.Marshal(variables)
		html := string(page.Body)
		if page.Status != 200 || string(sent) != c.variables {
			t.Errorf("%s: status %d, variables %s", c.path, page.Status, sent)
		}
		for _, want := range []string{"<title>" + c.title + " – cosmosblog</title>", `name="description" content="` + c.description + `"`,
			`rel="canonical" href="https://blog.example.com` + c.address + `"`} {
			if !strings.Contains(html, want) {
				t.Errorf("%s lacks %s: %s", c.path, want, html)
			}
		}
		if p := program(t, page); len(p.Preloaded) != len(variables) || !p.Development {
			t.Errorf("%s has %d answers", c.path, len(p.Preloaded))
		}
	}
	for _, path := range []string{"/posts", "/posts/", "/posts/p_1/delete", "/posts/p_1/edit/x", "/archive/2026-01/x", "/posts//edit", "/x%zz", "/tags/%zz"} {
		if page, variables := pageOf(path, `{"data": `+post+`}`); page.Status != 404 || len(variables) > 0 {
			t.Errorf("%s: status %d, %d queries", path, page.Status, len(variables))
		}
	}
}

// TestPathsOfProgram checks that the server knows the places that the program shows, and no others.
func TestPathsOfProgram(t *testing.T) {
	program, err := os.ReadFile("app/src/App.tsx")
	if err != nil {
		t.Fatal(err)
	}
	app := web.NewApp(options, web.Settings{})
	isPage := func(path string) bool { return app.File(httptest.NewRequest("GET", path, nil)) == nil }
	shown := map[string]bool{}
	for _, place := range regexp.MustCompile(`case '(/[^']*)':`).FindAllSubmatch(program, -1) {
		shown[string(place[1])] = true
		if path := strings.ReplaceAll(string(place[1]), ":id", "x"); !isPage(path) {
			t.Errorf("the server has no page for %s", place[1])
		}
	}
	for _, name := range []string{"posts", "users", "tags", "archive", "models", "write", "sign-in"} {
		for _, rest := range []string{"", "/:id", "/:id/edit", "/:id/comments", "/:id/comments/:id", "/:id/edit/:id"} {
			if place := "/" + name + rest; isPage(strings.ReplaceAll(place, ":id", "x")) != shown[place] {
				t.Errorf("%s: the program shows it: %t", place, shown[place])
			}
		}
	}
}

// TestFailures checks the status of a page whose data are missing, and that it has no data then.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		answer string
		status int
		loaded int
	}{
		{`{"data": {"post": null}}`, 404, 0},
		{`{"errors": [{"extensions": {"code": "BAD_USER_INPUT"}}], "data": {"post": null}}`, 404, 0},
		{`{"errors": [{"extensions": {"code": "THROTTLED"}}], "data": {"post": null}}`, 503, 0},
		{`{"errors": [{"extensions": {"code": "THROTTLED"}}], "data": {"post": {"title": "One", "comments": null}}}`, 200, 0},
		{`{"data": {"post": {"title": "One"}}}`, 200, 2},
	} {
		page, _ := pageOf("/posts/p_1", c.answer)
		if got := len(program(t, page).Preloaded); page.Status != c.status || got != c.loaded {
			t.Errorf("%s: status %d, %d answers", c.answer, page.Status, got)
		}
	}
	if page, _ := pageOf("/posts/p_1/comments/c_1.p_2", `{"data": {"post": {"title": "One"}, "node": {"post": {"id": "p_2"}}}}`); page.Status != 404 {
		t.Errorf("a comment on another post: status %d", page.Status)
	}
}

// TestAtom reads the feed as XML.
func TestAtom(t *testing.T) {
	page, _ := pageOf(web.AtomPath, `{"data": {"feed": {"nodes": [
		{"id": "p_2", "title": "<b>&", "excerpt": "# Two [**three**](https://x.example/a_(b))", "author": {"username": "anna"}, "tags": [{"name": "go"}],
		 "creationDate": "2026-01-02T00:00:00.000000Z", "updatedDate": "2026-02-02T00:00:00.000000Z"},
		{"id": "p_1", "title": "One", "excerpt": "", "author": {"username": "ben"}, "tags": [],
		 "creationDate": "2026-01-01T00:00:00.000000Z", "updatedDate": null}]}}}`)
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string   `xml:"id"`
		Updated string   `xml:"updated"`
		Entries []struct {
			Title   string `xml:"title"`
			ID      string `xml:"id"`
			Author  string `xml:"author>name"`
			Updated string `xml:"updated"`
			Summary string `xml:"summary"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal(page.Body, &feed); err != nil || page.Status != 200 || page.ContentType != "application/atom+xml; charset=utf-8" {
		t.Fatalf("%v, status %d, %s", err, page.Status, page.Body)
	}
	if feed.ID != "https://blog.example.com/" || feed.Updated != "2026-02-02T00:00:00.000000Z" || len(feed.Entries) != 2 {
		t.Errorf("the feed is %+v", feed)
	}
	first, second := feed.Entries[0], feed.Entries[1]
	if first.Title != "<b>&" || first.ID != "https://blog.example.com/posts/p_2" || first.Author != "anna" || first.Summary != "Two three" {
		t.Errorf("the first entry is %+v", first)
	}
	if second.Updated != "2026-01-01T00:00:00.000000Z" {
		t.Errorf("the second entry is %+v", second)
	}
	if page, _ := pageOf(web.AtomPath, `{"errors": [{"extensions": {"code": "THROTTLED"}}], "data": {"feed": null}}`); page.Status != 503 {
		t.Errorf("a feed that could not be read: status %d", page.Status)
	}
}
