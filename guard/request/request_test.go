package request_test

import (
	"context"
	"net/netip"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/guard/request"
)

// TestWith checks that a stage keeps what earlier ones know, and changes nothing for them.
func TestWith(t *testing.T) {
	address, anna := netip.MustParseAddr("192.0.2.1"), blog.Account{Issuer: "i", Subject: "anna"}
	ctx := request.With(t.Context(), func(q *request.Request) { q.Address = address })
	inner, cancel := context.WithCancel(request.With(ctx, func(q *request.Request) { q.Account = &anna }))
	defer cancel()
	if q := request.Of(inner); q.Address != address || q.UserID() != anna.UserID() {
		t.Errorf("the inner context has %+v", q)
	}
	if q := request.Of(ctx); q.Account != nil || q.UserID() != "" {
		t.Errorf("the outer context has %+v", q)
	}
	if q := request.Of(t.Context()); q != (request.Request{}) {
		t.Errorf("a context without a request has %+v", q)
	}
}
