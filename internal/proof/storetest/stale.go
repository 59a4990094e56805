package storetest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"cosmosblog/internal/engine"
	"cosmosblog/internal/proof/faultstest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// NewStale is New on a database with a follower, which answers reads without a session token. Hold
// keeps the follower in its present state, as a replica of the service may stay behind between the
// requests of a client. Session returns the context of one such request.
func NewStale(t *testing.T) (*World, *faultstest.Replica) {
	t.Helper()
	clock := NewStillClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	leader := OpenEngine(t, engine.Options{Now: clock.Now})
	follower := OpenEngine(t, engine.Options{Now: clock.Now, Key: leader.Key()})
	replica := faultstest.NewReplica(leader, follower, rand.New(rand.NewPCG(1, 1)))
	w := &World{T: t, Engine: leader, Clock: clock, Faults: &Faults{next: cosmos.InProcess(replica)}}
	db, err := provision.OpenEmbedded(t.Context(), leader, cosmos.Options{
		Transport: w.Faults,
		Now:       clock.Now,
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	w.Database = Open(db)
	return w, replica
}

// Session returns the context of a new session: of one request of a client.
func (w *World) Session() context.Context { return cosmos.WithSession(w.Ctx()) }
