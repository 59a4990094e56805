package storetest

import (
	"context"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/store/cosmos"
)

// NewStale is New on an account with a follower, which answers reads without a session token. Hold
// keeps the follower in its present state, as a replica of the service may stay behind between the
// requests of a client. Session returns the context of one such request.
func NewStale(t *testing.T) (*World, *cosmostest.Replica) {
	t.Helper()
	w := NewWith(t, cosmostest.Options{Follower: true})
	return w, w.Account.Follower
}

// Session returns the context of a new session: of one request of a client.
func (w *World) Session() context.Context { return cosmos.WithSession(w.Ctx()) }
