package projector_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"cosmosblog/projector"
)

// heldWrite is a wire that holds one write up until it is let go.
type heldWrite struct {
	*wire
	left    int           // writes before it, those of leases not counted
	reached chan struct{} // closed when it is there
	goOn    chan struct{}
}

func holding(wire *wire, n int) *heldWrite {
	h := &heldWrite{wire: wire, left: n, reached: make(chan struct{}), goOn: make(chan struct{})}
	wire.refuse = func(request *http.Request) int {
		if !isWrite(request) || containerOf(request) == "leases" {
			return 0
		}
		if h.left--; h.left == -1 {
			close(h.reached)
			<-h.goOn
		}
		return 0
	}
	return h
}

// A worker may be in the middle of a write when its lease is taken, and that write may come as late as it likes: it changes
// nothing that somebody else wrote meanwhile. This goes through all writes, with each kind of change on both sides.
func TestAWriteThatComesAfterTheLeaseWasTaken(t *testing.T) {
	for n := firstCrash(); lateWrite(t, int(n)); n += *strideFlag {
	}
}

// lateWrite holds a projector's n-th write up until another projector has done its work and more. It tells whether there
// was one.
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
	held := holding(wire, n)
	loser := w.projector(s, func(o *projector.Options) { o.Parallel = 1 })
	ended := make(chan error, 1)
	go func() { ended <- loser.Settle(t.Context()) }()
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
	w.check()
	close(held.goOn)
	<-ended // as it may: its leases are gone
	w.check()
	w.settle()
	w.check()
	if t.Failed() {
		t.Fatalf("with write %d held up", n)
	}
	return true
}

// A worker stops in the middle of a page, before its next request, when it learns that its lease is somebody else's, or
// when it could not renew it for so long that it may be.
func TestWhoLosesALeaseStopsInTheMiddle(t *testing.T) {
	for name, lose := range map[string]func(w *world, m *member){
		"stolen": func(w *world, m *member) {
			w.own("somebody else")
			pass(renew)
		},
		"expired": func(w *world, m *member) {
			m.wire.silence(func(request *http.Request) bool {
				return isWrite(request) && containerOf(request) == "leases"
			})
			pass(expire)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.posts(w.user(), 90) // a page
				m := w.members(1, func(o *projector.Options) { o.Parallel = 1 })[0]
				defer pass(renew) // for what was not answered by the end
				defer m.stop()
				m.wire.change(func(c *wire) { c.refuse = slowly(isFeedRead) })
				pass(2 * renew)
				begun := m.wire.writesTo("feed")
				lose(w, m)
				before := m.wire.writesTo("feed")
				pass(expire - renew - 1) // then the lease of somebody who does not renew it is anybody's
				if now := m.wire.writesTo("feed"); begun == 0 || before < begun || before == 90 || now != before {
					t.Errorf("%d posts were written at first, %d with the lease, %d later", begun, before, now)
				}
			})
		})
	}
}
