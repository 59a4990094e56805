package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/api/documents"
	"cosmosblog/guard/request"
	"cosmosblog/store/sessions"
)

// operationSession is the session of an operation, in which clients read what they have written.
type operationSession struct {
	*sessions.Session
	ctx        context.Context // of the session
	readsViews bool
	isMutation bool
}

// beginSession begins the session of a request's operation. If it queries views that lack what the
// client has written, beginSession waits for them. Meanwhile, the operation gives its place to
// another one. If then there is no place, beginSession returns a rejection.
func (t transport) beginSession(ctx context.Context, r *http.Request, known *documents.Document, p *place) (*operationSession, *rejection) {
	session := &operationSession{ctx: ctx, readsViews: known.ReadsViews, isMutation: known.Operation.Operation == ast.Mutation}
	if t.Sessions == nil {
		return session, nil
	}
	var sent sessions.Token
	if header := r.Header[sessionHeader]; len(header) > 0 {
		var err error
		if sent, err = sessions.Parse(strings.Join(header, ",")); err != nil {
			return nil, &rejection{status: http.StatusBadRequest, err: err}
		}
	}
	session.ctx, session.Session = t.Sessions.Begin(ctx, request.Of(ctx).UserID(), sent)
	if !session.readsViews || session.Ready(session.ctx) || session.isMutation { // which would wait in vain for its own write
		return session, nil
	}
	end, mayWait := t.enterWait(ctx)
	if !mayWait {
		session.SetStale()
		return session, nil
	}
	defer end()
	p.leave()
	session.Wait(session.ctx)
	request.Of(ctx).Payment.Add("(waits)", session.Charged())
	if !p.take() {
		return nil, errOverloaded
	}
	return session, nil
}

// maxClientWaits is the number of operations of one address, or of one /64 network, that may wait
// for views at a time. Views are usually there after some 50 ms, so that many serve hundreds of
// operations a second. Others need not wait with them: what a session token names can be made up.
const maxClientWaits = 20

// enterWait counts an operation that waits for views, until end is called. It returns false if too
// many of its client wait.
func (t transport) enterWait(ctx context.Context) (end func(), ok bool) {
	client := request.Of(ctx).Address
	if t.isUnlimited(client) {
		return func() {}, true
	}
	return func() { t.waiting.End(client) }, t.waiting.Begin(client, maxClientWaits)
}

// end adds to a response what its client must know of the session: a new token, which end also
// returns, and whether the answer may lack what the client has written.
func (s *operationSession) end(executed *graphql.Response) (token string) {
	if s.Session == nil {
		return ""
	}
	if token = s.Finish(s.ctx, s.isMutation, s.readsViews).String(); token != "" {
		addExtension(executed, "session", token)
	}
	if s.IsStale(s.ctx) {
		addExtension(executed, "stale", true)
	}
	return token
}

func addExtension(r *graphql.Response, name string, value any) {
	if r.Extensions == nil {
		r.Extensions = map[string]any{}
	}
	r.Extensions[name] = value
}
