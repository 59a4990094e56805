package api

import (
	"net/http"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/guard/budget"
	"cosmosblog/web"
)

// pageOrigins are the origins to which a page must connect to sign people in. Verifiers of issuers
// implement it.
type pageOrigins interface{ Origins() []string }

// handlePages adds the handler of the blog, which has all paths that nothing else handles.
func (a *api) handlePages(mux *http.ServeMux, t transport) {
	app := web.NewApp(a.fileOptions(), web.Settings{Development: a.Development, Issuer: a.PagesIssuer})
	origins, _ := a.Verifier.(pageOrigins)
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.recoverPanic(w, r)
		var issuer []string
		if origins != nil && a.PagesIssuer != nil {
			issuer = origins.Origins()
		}
		w.Header().Set("Content-Security-Policy", web.Policy(issuer))
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		t.servePage(w, r, app)
	})
	blog := a.readOnly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if file := app.File(r); file != nil {
			file.ServeHTTP(w, r)
			return
		}
		if app.HasData(r.URL.EscapedPath()) {
			var end func()
			w, r, end = a.Traffic.Begin(w, r, clientAddress(r))
			defer end()
		}
		pages.ServeHTTP(w, r)
	}))
	mux.Handle("/{$}", blog)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			a.notFound(w, r)
			return
		}
		blog.ServeHTTP(w, r)
	})
}

// handleGraphiQL adds the handler of GraphiQL.
func (a *api) handleGraphiQL(mux *http.ServeMux) {
	graphiql := a.readOnly(web.GraphiQL(a.fileOptions()))
	mux.Handle("/playground", graphiql)
	mux.Handle("/playground/", graphiql)
}

func (a *api) fileOptions() web.Options {
	return web.Options{AcceptsGzip: acceptsGzip, AcceptsHTML: acceptsHTML, NotFound: http.HandlerFunc(a.notFound)}
}

// servePage responds with a page of the blog, or its Atom feed. Its queries are executed as those
// of requests without a token: the client's address pays for them, and they share the places and
// the memory of all operations. Only the feed can be kept, because a page's data are read once.
func (t transport) servePage(w http.ResponseWriter, r *http.Request, app *web.App) {
	if r.Header.Get("Sec-Fetch-Mode") != "navigate" && t.isCrossSite(r) {
		t.reject(w, r, errCrossSite) // an image of another page, whose reader would pay
		return
	}
	t.warnOfUnknownProxy(r)
	memory := t.answers.Hold()
	defer memory.Close()
	var payment *budget.Payment
	query := func(query string, variables map[string]any) (int, []byte) {
		asked := r.Clone(r.Context())
		asked.Method = http.MethodPost
		asked.Header = http.Header{"Accept": {graphQLResponseType}}
		if t.Development {
			asked.Header.Set(diagnosticsHeader, "1")
		}
		params := &graphql.RawParams{Query: query, Variables: variables, Headers: asked.Header}
		params.ReadTime.Start = graphql.Now()
		params.ReadTime.End = params.ReadTime.Start
		executed, rejected := t.run(asked, params, memory)
		if rejected != nil {
			rejected.setHeaders(w.Header())
			executed = t.rejected(asked, rejected)
		}
		payment = executed.payment
		return executed.status, executed.body
	}
	page := app.Page(r.URL.EscapedPath(), t.origin(r), query)
	if len(page.Body) > smallAnswer && !memory.Resize(cap(page.Body)) {
		page = app.Page(r.URL.EscapedPath(), t.origin(r), func(string, map[string]any) (int, []byte) {
			return errAnswersFull.status, t.rejected(r, errAnswersFull).body
		})
	}
	complete := answer{contentType: page.ContentType, status: page.Status, body: page.Body, payment: payment}
	w.Header().Add("Vary", "Accept-Encoding")
	coding := negotiateCoding(r, complete.body)
	if r.URL.Path == web.AtomPath && page.Status == http.StatusOK {
		complete.cacheControl = privateControl
		complete.etag = etagOf(complete, coding)
		if hasETag(r, complete.etag) {
			write(w, unchanged(complete))
			return
		}
	}
	t.send(w, r, t.compressor.compress(complete, coding), memory)
}
