// Package graphqlws serves GraphQL over WebSocket with the protocol graphql-transport-ws.
//
// The protocol is PROTOCOL.md of https://github.com/enisdenjo/graphql-ws. The package knows the
// messages and the connection. The caller knows the schema: it passes functions that parse JSON,
// authenticate and operate.
package graphqlws

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// Handler serves connections of the protocol graphql-transport-ws. Its fields must not change while
// it serves. Its functions are called concurrently. All but Draining are required.
//
// The caller must check a request's Origin, because browsers let every page open WebSockets.
type Handler struct {
	// Parse parses the JSON object of a message. It returns false if the text is not acceptable. The
	// text and all that is in the object come from the client.
	Parse func(text string) (map[string]any, bool)

	// Init is called once for a connection, with the payload of connection_init, which may be nil.
	// It returns the context of the connection's operations, which must descend from ctx, and the
	// time at which the connection ends, or zero. The end of ctx is the end of the connection.
	//
	// If it returns an error, the connection is closed with code 4403, or with 1013 if the error is a
	// TryAgainLater. The client sees the first 123 bytes of the error's text.
	Init func(ctx context.Context, payload map[string]any) (context.Context, time.Time, error)

	// Operate executes an operation. If documentID is not empty, it is the id of a document, which a
	// client sends in place of the query. Operate calls next with each response, a complete GraphQL
	// response in JSON. next returns when the response was sent, so a source that is only asked then
	// can skip states that a slow client would not see in time. If the context of next ends, so does
	// the connection: it must not descend from ctx, which also ends if the client completes the
	// operation. An error of next means that nothing more can be sent: Operate should return.
	//
	// If Operate returns nil, the operation is complete. Otherwise, it returns the JSON list of the
	// errors that end the operation. The client learns of the end after Operate has returned.
	//
	// If the client completes the operation, or the connection ends, ctx ends. Operate must then
	// return soon. The connection starts no other operation in its place before that.
	// Operate must not call next concurrently, nor after it returned.
	Operate func(ctx context.Context, params *graphql.RawParams, documentID string, next func(ctx context.Context, response []byte) error) (errs []byte)

	// TooMany returns the JSON list of errors of an operation beyond Limits.Operations.
	TooMany func() []byte

	// Panicked is called when Parse, Init or Operate panics, in the goroutine that panics. It returns
	// the JSON list of errors that ends the operation. In Parse and Init, there is no operation, and
	// the connection is closed with code 4500.
	Panicked func(ctx context.Context, value any) []byte

	// Refuse answers a request that is not a handshake of WebSocket, with a status of 400 or above.
	Refuse func(w http.ResponseWriter, r *http.Request, status int)

	// Draining returns a channel that is closed when the server of a request begins to stop. The
	// connection is then closed with code 1001, on which clients connect again. Without Draining,
	// only the end of the request's context does that.
	Draining func(ctx context.Context) <-chan struct{}

	Limits Limits
}

// ServeHTTP serves a connection until it has ended. No goroutine, and no call of the handler's
// functions, outlives ServeHTTP. If the request's context ends, the connection is closed with code
// 1001. A request that is not a handshake of WebSocket is refused. A client that does not offer the
// protocol graphql-transport-ws is disconnected with code 4406.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, network, status := accept(w, r)
	if status != 0 {
		h.Refuse(w, r, status)
		return
	}
	ctx, end := context.WithCancelCause(r.Context())
	c := &connection{
		handler: h,
		socket:  socket,
		network: network,
		ctx:     ctx,
		end:     func(how closing) { end(how) },
		running: make(chan struct{}, h.Limits.Operations),
		turn:    make(chan struct{}, 1),
		live:    map[string]*operation{},
	}
	if socket.Subprotocol() == "" {
		c.end(errSubprotocol)
	}
	c.serve()
}
