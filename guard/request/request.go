// Package request has what a server knows of a request. It is one struct, which the context of the
// request carries through the stages of its work: from the connection to the resolvers.
package request

import (
	"context"
	"net/netip"

	"cosmosblog/blog"
	"cosmosblog/guard/budget"
)

// Request is what the stages so far know of a request. A stage that knows more passes on a context
// with a changed copy (With).
type Request struct {
	// Of the connection and the headers.

	// Address is that of the client. Behind trusted proxies, it is the address that they report. It is
	// invalid if the connection has none, as on a Unix socket.
	Address netip.Addr
	// Account is that of the token; nil if the request is anonymous.
	Account *blog.Account

	// LastEventID is the cursor at which the client of a subscription was interrupted, or empty.
	LastEventID string

	// Of an operation. Each event of a subscription is an operation of its own.

	// Client ends when the client of an operation disconnects. The operation goes on, because the
	// charges of its requests would otherwise be unknown, and so would what a mutation has done. It
	// should begin nothing more. It is nil if the context of the operation itself ends then.
	Client context.Context
	// Memory is where the operation takes its memory from; nil if that is not counted.
	Memory Memory
	// Payment is what the operation pays; nil if nobody pays.
	Payment *budget.Payment
}

// Memory is what one operation may take of the memory that all operations of a server share.
type Memory interface {
	// Take counts bytes that the operation has read. It returns false if the server has no room for
	// them. It may be called concurrently.
	Take(bytes int) bool
	// Write counts bytes of the operation's answer before they are copied into it. It returns false if
	// the server has no room for the answer. It may be called concurrently.
	Write(bytes int) bool
}

type key struct{}

// Of returns the request of a context, which is zero if it has none.
func Of(ctx context.Context) Request {
	if r, ok := ctx.Value(key{}).(*Request); ok {
		return *r
	}
	return Request{}
}

// With returns a context with a changed copy of its request.
func With(ctx context.Context, change func(*Request)) context.Context {
	r := Of(ctx)
	change(&r)
	return context.WithValue(ctx, key{}, &r)
}

// UserID returns the user id of the request's account, or "" if the request is anonymous.
func (r Request) UserID() string {
	if r.Account == nil {
		return ""
	}
	return r.Account.UserID()
}
