package api

import (
	"io"
	"maps"
	"net/http"
	"path"
	"sync"

	"cosmosblog/guard/proxy"
	"cosmosblog/guard/request"
)

// ServeHTTP responds to a request of any route. Whatever happens, the response has the security
// headers, and a request to /graphql is recorded. A request that the server must not serve is
// rejected, with a response that pages of allowed origins can read.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), securityHeaders)
	r = r.WithContext(request.With(r.Context(), func(q *request.Request) { q.Address = a.Proxies.Client(r) }))
	if isGraphQL(r) {
		var end func()
		w, r, end = a.Traffic.Begin(w, r, clientAddress(r))
		defer end()
	}
	defer a.recoverPanic(w, r)
	r, leave, rejected := a.admit(w, r)
	defer leave()
	switch {
	case rejected == nil:
		a.routes.ServeHTTP(w, r)
	case !a.cors(w, r):
		a.reject(w, r, rejected)
	}
}

// isGraphQL reports whether a request is one to the API. Some clients and proxies add a slash to
// addresses.
func isGraphQL(r *http.Request) bool {
	return r.URL.Path == graphQLPath || r.URL.Path == graphQLPath+"/"
}

// admit counts a request as one in progress, until leave is called. It returns a rejection if the
// request arrived through Overflow and is no probe, if its client has too many requests in
// progress, if a server in development must not serve it, or if its path is not in its shortest
// form: the mux would redirect it.
//
// Only clients behind a trusted proxy are counted. Each may have as many requests as a client
// without a proxy may have connections. Otherwise one client that sends slowly could take all
// connections of the proxy.
func (a *api) admit(w http.ResponseWriter, r *http.Request) (admitted *http.Request, leave func(), rejected *rejection) {
	leave = func() {}
	if client := request.Of(r.Context()).Address; !a.isUnlimited(client) && client != proxy.Peer(r) {
		body := &trackedBody{ReadCloser: r.Body}
		r.Body = body
		// After the handler, net/http waits for the rest of a body, and the request would hold its
		// connection without being counted.
		stop := func() {
			if r.ContentLength != 0 && !body.ended {
				_ = http.NewResponseController(w).SetReadDeadline(past)
			}
		}
		if !a.clients.Begin(client, a.Limits.AddressConnections) {
			return r, stop, errTooManyRequests
		}
		end := sync.OnceFunc(func() { a.clients.End(client) })
		leave = func() { end(); stop() }
		r = r.WithContext(withArrival(r.Context(), func(a *arrival) { a.endProgress = end }))
	}
	isProbe := r.URL.Path == healthPath || r.URL.Path == readyPath
	switch {
	case arrivalOf(r.Context()).isOverflow && !isProbe:
		rejected = errTooManyConnections
	case !hasShortestPath(r):
		rejected = errUnknownPath
	case a.Development:
		rejected = a.checkLocal(r)
	}
	return r, leave, rejected
}

// hasShortestPath reports whether the path of a request is in its shortest form.
func hasShortestPath(r *http.Request) bool {
	if isGraphQL(r) { // as nearly all requests: Clean would copy the path
		return true
	}
	shortest := path.Clean("/" + r.URL.Path)
	return r.URL.Path == shortest || r.URL.Path == shortest+"/"
}

// trackedBody is a request body that knows whether it was read to its end.
type trackedBody struct {
	io.ReadCloser
	ended bool
}

// Read implements io.Reader.
func (b *trackedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// recoverPanic responds to a panic outside of resolvers with an INTERNAL error. It must be
// deferred.
func (a *api) recoverPanic(w http.ResponseWriter, r *http.Request) {
	if recovered := recover(); recovered != nil && recovered != http.ErrAbortHandler {
		a.reject(w, r, serverFailure(a.Errors.Recover(r.Context(), recovered)))
	}
}
