package projector

import (
	"context"
	"testing"
	"time"

	"cosmosblog/store/changefeed"
)

// TestCheckpointIsAwaitedUntilTheEnd checks that a checkpoint that clients wait for is written at
// the end of the feed, also if the checkpoint was written before for other reasons. It then had no
// position that helps them.
func TestCheckpointIsAwaitedUntilTheEnd(t *testing.T) {
	var written []changefeed.Lease
	held := &heldLease{
		write: func(_ context.Context, lease changefeed.Lease) (changefeed.Lease, error) {
			written = append(written, lease)
			return lease, nil
		},
		now: time.Now, pulse: &pulse{expire: time.Hour}, renew: time.Hour, writeTimeout: time.Hour, checkpointAfter: 1, writing: make(chan struct{}, 1), rebuilt: true,
	}
	if err := held.advance(t.Context(), progress{continuation: "a full page", changes: 1, awaited: true}); err != nil {
		t.Fatal(err)
	}
	if done, err := held.atEnd(t.Context(), "0:-1#5", "2026-11-28T09:00:00.000000Z"); !done || err != nil {
		t.Fatal(done, err)
	}
	if len(written) != 2 || written[0].Position != "" || written[1].Position != "0:-1#5" {
		t.Errorf("the checkpoints are %+v", written)
	}
}

// A held lease stays as it is in a history that keeps it, and is written at the end of the feed, so
// that heartbeats date it again.
func TestHeldLeaseFollowsHistories(t *testing.T) {
	read := changefeed.Lease{ID: "lease.posts.-FF", Continuation: "c", Position: "0:-1#5", AsOf: "2026-11-28T09:00:00.000000Z"}
	held := &heldLease{
		write: func(_ context.Context, lease changefeed.Lease) (changefeed.Lease, error) { return lease, nil },
		now:   time.Now, pulse: &pulse{expire: time.Hour}, renew: time.Hour, writeTimeout: time.Hour, writing: make(chan struct{}, 1),
		lease: read, stored: read, saved: time.Now(), rebuilt: true,
	}
	if _, ok := held.end(); !ok {
		t.Error("the stored position is not the end")
	}
	held.follow(changefeed.History{Name: "2026-11-28T10:00:00.000000Z/A", IsRebuilt: true})
	read.History = "2026-11-28T10:00:00.000000Z/A"
	if held.current() != read || !held.rebuilt {
		t.Errorf("the lease is %+v", held.current())
	}
	if _, err := held.atEnd(t.Context(), read.Position, read.AsOf); err != nil {
		t.Error(err)
	}
	if end, ok := held.end(); !ok || end != (changefeed.End{Position: read.Position, AsOf: read.AsOf}) {
		t.Errorf("in the next history, the end is %+v, %t", end, ok)
	}
}

// A checkpoint that the next steps do not write is written in the end.
func TestOldCheckpointIsWritten(t *testing.T) {
	writes, now := 0, time.Now()
	held := &heldLease{
		write: func(_ context.Context, lease changefeed.Lease) (changefeed.Lease, error) { writes++; return lease, nil },
		now:   func() time.Time { return now }, pulse: &pulse{expire: time.Hour}, renew: time.Minute, writeTimeout: time.Hour,
		checkpointAfter: 100, writing: make(chan struct{}, 1), saved: now,
	}
	if err := held.advance(t.Context(), progress{continuation: "c", changes: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 1, 1} {
		if err := held.flush(t.Context(), time.Minute); err != nil || writes != want {
			t.Errorf("%d writes, %v, want %d", writes, err, want)
		}
		now = now.Add(time.Minute)
	}
}
