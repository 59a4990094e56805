package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/graphqlws"
	"cosmosblog/api/strictjson"
	"cosmosblog/api/subscription"
	"cosmosblog/blog"
	"cosmosblog/guard/auth"
	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/request"
)

// isWebSocket reports whether a request wants to become a WebSocket. Some clients send Upgrade: h2c
// with each request, which servers may ignore (RFC 9110, section 7.8).
func isWebSocket(r *http.Request) bool {
	for protocol := range strings.SplitSeq(strings.Join(r.Header["Upgrade"], ","), ",") {
		if strings.EqualFold(strings.TrimSpace(protocol), "websocket") {
			return true
		}
	}
	return false
}

// webSockets returns the handler of WebSockets, for subscriptions by the protocol
// graphql-transport-ws. Queries and mutations are sent over HTTP. A WebSocket is a request in
// progress as long as it is open (admit): its subscriptions have limits of their own, but it
// stays open without any.
func (t transport) webSockets() http.Handler {
	return &graphqlws.Handler{
		Parse: func(text string) (map[string]any, bool) {
			value, err := strictjson.Parse(text)
			object, ok := value.(map[string]any)
			return object, err == nil && ok
		},
		Init:    t.initSocket,
		Operate: t.operate,
		TooMany: func() []byte { return t.errorList(context.Background(), errTooManyOfSocket) },
		Panicked: func(ctx context.Context, value any) []byte {
			return t.errorList(ctx, t.Errors.Recover(ctx, value))
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, status int) {
			t.reject(w, r, &rejection{status: status, err: errNoSocket})
		},
		Draining: httpserver.Draining,
		Limits: graphqlws.Limits{
			MessageBytes: maxSocketMessage,
			Operations:   t.Limits.ConnectionStreams,
			MessageTime:  t.Limits.ReadTime,
			Ping:         heartbeat,
		},
	}
}

// maxSocketMessage is the size of a message of a client, in bytes: that of a subscription's query
// and variables, and what the protocol adds. Unlike bodies, messages share no memory pool.
const maxSocketMessage = subscription.MaxRequest + 1<<10

var (
	errTooManyOfSocket = blog.Errorf(blog.LimitExceeded, "Too many subscriptions are open on this connection. Close some, or open another one.")
	errNoSocket        = blog.Errorf(blog.BadUserInput, "The handshake of the WebSocket is not valid.")
)

// initSocket authenticates a connection by the member `Authorization` of connection_init's payload,
// because browsers send no headers with WebSockets. Without it, or if it is empty, the header
// counts. The connection ends when the token expires.
func (t transport) initSocket(ctx context.Context, payload map[string]any) (context.Context, time.Time, error) {
	var sent any
	for _, name := range []string{"Authorization", "authorization"} {
		if text, isText := payload[name].(string); sent == nil && !(isText && isBlank(text)) {
			sent = payload[name]
		}
	}
	if sent == nil {
		return ctx, arrivalOf(ctx).expires, nil
	}
	text, _ := sent.(string)
	token, ok := bearerToken(text)
	if !ok {
		return nil, time.Time{}, errBadPayload
	}
	verifying, cancel := context.WithTimeout(ctx, t.Limits.Time)
	defer cancel()
	account, err := t.Verifier.Verify(verifying, token)
	if err != nil {
		refused := clientError{t.present(ctx, err)}
		if blog.CodeOf(err) != blog.Unauthenticated { // the token may be valid
			return nil, time.Time{}, graphqlws.TryAgainLater{Reason: refused}
		}
		return nil, time.Time{}, refused
	}
	return request.With(ctx, func(q *request.Request) { q.Account = &account }), auth.ExpiryOf(token), nil
}

var errBadPayload = clientError{&gqlerror.Error{Message: "`Authorization` in the payload must be `Bearer` and a token."}}

// clientError is an error whose text is only the message for the client.
type clientError struct{ shown *gqlerror.Error }

func (e clientError) Error() string { return e.shown.Message }

// operate executes a subscription on a WebSocket (graphqlws.Handler.Operate).
func (t transport) operate(ctx context.Context, params *graphql.RawParams, documentID string, next func(context.Context, []byte) error) (errs []byte) {
	params.Headers = http.Header{}
	if rejected := t.resolveDocument(ctx, params, documentID, 0); rejected != nil {
		return t.errorList(ctx, rejected.err)
	}
	refused, _ := t.subscriptions.Run(ctx, params, nil, func(ctx context.Context, m subscription.Message) error {
		if len(m.Body) == 0 { // the protocol has no message for a cursor alone
			return nil
		}
		return next(ctx, m.Body)
	})
	if len(refused) > 0 {
		return mustMarshal(refused[:min(len(refused), t.Limits.Errors)])
	}
	return nil
}

// errorList returns the JSON list of an error.
func (t transport) errorList(ctx context.Context, err error) []byte {
	return mustMarshal(gqlerror.List{t.present(ctx, err)})
}
