package projector_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/projector"
)

// delayedWrite is a wire that delays one write until resume is closed.
type delayedWrite struct {
	*wire
	left    int           // writes before it, without those of leases
	reached chan struct{} // closed when the write is reached
	resume  chan struct{}
}

func delayWrite(wire *wire, n int) *delayedWrite {
	h := &delayedWrite{wire: wire, left: n, reached: make(chan struct{}), resume: make(chan struct{})}
	wire.refuse = func(request *http.Request) int {
		if !isWrite(request) || containerOf(request) == "leases" {
			return 0
		}
		if h.left--; h.left == -1 {
			close(h.reached)
			<-h.resume
		}
		return 0
	}
	return h
}

// A write of a worker may arrive at any time after its lease was taken. It does not overwrite
// what others wrote meanwhile. The test delays each write in turn, with every kind of change on
// both sides.
func TestWritesAfterLossOfLease(t *testing.T) {
	for n := firstCrash(t); lateWrite(t, int(n)); n += *strideFlag {
	}
}

// lateWrite delays a projector's n-th write until another projector has projected all changes
// and more. It reports whether there was an n-th write.
func lateWrite(t *testing.T, n int) bool {
	w := newWorld(t)
	anna, ben, carl := w.user(), w.user(), w.user()
	posts := w.posts(anna, 6)
	comment := w.comment(ben, posts[0])
	w.comment(carl, posts[0])
	w.like(carl, posts[1])
	w.settle()

	another := w.post(ben)
	for _, post := range posts[:4] {
		w.like(ben, post)
	}
	w.delete(posts[4])
	renamed := w.rename(ben)
	w.deleteUser(carl)

	wire, s := w.wired()
	held := delayWrite(wire, n)
	loser := w.projector(s, func(o *projector.Options) { o.Parallel = 1 })
	ended := make(chan error, 1)
	go func() { ended <- loser.SettleForTests(t.Context()) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d writes", n)
		return false
	case <-held.reached:
	}

	w.like(anna, another)
	w.like(anna, posts[0])
	w.delete(posts[1])
	if _, err := w.store.DeleteComment(t.Context(), ben.ID, posts[0].ID, comment.ID); err != nil {
		t.Fatal(err)
	}
	w.comment(renamed, posts[2])
	w.rename(renamed)
	w.rename(anna)
	w.settle()
	w.wantViewsEqualSource()
	close(held.resume)
	<-ended // may fail, because its leases are lost
	w.wantViewsEqualSource()
	w.settle()
	w.wantViewsEqualSource()
	if t.Failed() {
		t.Fatalf("with write %d delayed", n)
	}
	return true
}

// A worker stops in the middle of a page, before its next request, if its lease is lost, or if
// it could not renew the lease before the expiry.
func TestWorkerStopsMidPageOnLostLease(t *testing.T) {
	for name, lose := range map[string]func(w *world, wire *wire){
		"stolen": func(w *world, wire *wire) {
			w.setOwner("another")
			advanceTime(balance + time.Millisecond) // the owner notices when it lists the leases
		},
		"expired": func(w *world, wire *wire) {
			wire.dropAnswers(func(request *http.Request) bool {
				return isWrite(request) && strings.Contains(request.URL.Path, "/docs/heartbeat.")
			})
			advanceTime(expire)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				const n = 90 // a page
				w.deletions(n)
				wire, s := w.wired()
				wire.refuse = delaySecond(isFeedRead)
				_, stop := w.run(s, withoutTakeOver, func(o *projector.Options) {
					o.Parallel = 1
				})
				defer advanceTime(renew) // for requests without an answer at the end
				defer stop()
				advanceTime(2 * renew)
				begun := wire.writesTo("feed")
				lose(w, wire)
				before := wire.writesTo("feed")
				advanceTime(expire - renew - 1) // afterwards a lease that was not renewed expires
				if now := wire.writesTo("feed"); begun == 0 || before <= begun || before == n || now != before {
					t.Errorf("%d deletions projected at first, %d until the lease was lost, %d later", begun, before, now)
				}
			})
		})
	}
}
