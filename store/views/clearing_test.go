package views_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	injected "cosmosblog/internal/faultstest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
	"cosmosblog/store/views"
)

// strewn is a full feed with n copies below its horizon, which is marked as who fills the feed
// and dies leaves it.
func strewn(w *world, n int) *history {
	w.T.Helper()
	h := &history{world: w, posts: map[string]*blog.Post{}}
	for i := range views.FeedCapacity + n {
		h.Clock.Advance(time.Second)
		post := storetest.PostAtRevision(fmt.Sprintf("p_%d", i), h.Clock.Date(), 1, false)
		h.posts[post.ID] = post
		h.Plant(h.Container(schema.Feed), schema.FeedPartition, views.CopyOf(post))
	}
	newest := h.live()[views.FeedCapacity]
	horizon := views.HorizonAt(views.Position{newest.ID, newest.CreationDate})
	horizon.Refilling = true
	h.Plant(h.Container(schema.Feed), schema.FeedPartition, horizon)
	return h
}

// However few operations of each script are accepted, what lies below the horizon goes in the
// end, and nothing else.
func TestWhatIsBelowTheHorizonGoesInParts(t *testing.T) {
	for _, c := range []struct{ below, accepted int }{{1000, 30}, {130, 3}, {60, 2}, {19, 19}, {20, 0}, {250, 0}} {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d by %d, own=%t", c.below, c.accepted, own), func(t *testing.T) {
				r := &storetest.ScriptFaults{}
				h := strewn(newScriptWorld(t, r, own), c.below)
				r.Most.Store(int64(c.accepted))
				h.comesToAnEnd(func() error { return h.RefillFeed(h.Ctx()) })
				h.holdsUnmarked()
			})
		}
	}
}

// The same in a container of the least throughput that there is.
func TestWhatIsBelowTheHorizonGoesAtTheLeastThroughput(t *testing.T) {
	for _, accepted := range []int64{0, 30} {
		r := &storetest.ScriptFaults{}
		h := strewn(newScriptWorld(t, r, false), 1000)
		r.Most.Store(accepted)
		b := storetest.NewThrottled(h.Clock.Now())
		b.Budget = &injected.Budget{Next: cosmos.InProcess(h.Engine), PerSecond: 400, Now: b.Clock}
		h.Faults.Set(func(_ int, request *http.Request, _ storetest.Transporter) (*http.Response, error) {
			return b.Do(request)
		})
		_, _, err := h.ReadHorizon(h.Ctx())
		h.OK(err)
		b.Advance(time.Second - time.Millisecond) // from here on nobody waits for longer than the rest of it
		h.comesToAnEnd(func() error { return h.RefillFeed(h.Ctx()) })
		h.Faults.Set(nil)
		h.holdsUnmarked()
		if b.Refused() == 0 {
			t.Error("nothing was refused")
		}
	}
}

// The same where one operation of each script is refused, whichever it is.
func TestWhatIsBelowTheHorizonGoesWhateverIsRefused(t *testing.T) {
	for n := range 33 {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, own=%t", n+3, own), func(t *testing.T) {
				r := &storetest.ScriptFaults{}
				h := strewn(newScriptWorld(t, r, own), 30)
				r.Nth.Store(int64(n + 3)) // without the first two, nothing goes
				h.comesToAnEnd(func() error { return h.RefillFeed(h.Ctx()) })
				h.holdsUnmarked()
			})
		}
	}
}

// Where who clears dies between two parts, what is below the horizon stays marked, nobody who is
// late adds to it, and the next one goes on.
func TestWhoClearsTheFeedDiesAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		r := &storetest.ScriptFaults{}
		h := strewn(newScriptWorld(t, r, n%2 == 0), 20)
		r.Most.Store(6)
		h.Faults.Set(storetest.DeadFrom(n))
		died := h.RefillFeed(h.Ctx()) != nil
		h.Faults.Set(nil)
		live, position := h.readFeed()
		horizon, _, err := h.ReadHorizon(h.Ctx())
		h.OK(err)
		if i := len(live) - 1; !horizon.Refilling && !isNewer(live[i], position) {
			t.Fatalf("death at request %d: %v lies below the horizon %v, which is not marked", n, live[i], position)
		}
		late := h.posts["p_0"]
		_, err = h.Container(schema.Feed).DeleteItem(h.Ctx(), azcosmos.NewPartitionKeyString(schema.FeedPartition), late.ID, nil)
		if err == nil && horizon.RefillDate != "" {
			err = h.WriteFeedCopy(h.Ctx(), late, views.CopyState{})
			h.OK(err)
			if _, _, err := cosmos.Read[schema.PostItem](h.Ctx(), h.Container(schema.Feed), schema.FeedPartition, late.ID); !cosmos.IsNotFound(err) {
				t.Fatalf("death at request %d: a copy came back below the horizon (%v)", n, err)
			}
		}
		h.comesToAnEnd(func() error { return h.RefillFeed(h.Ctx()) })
		h.holdsUnmarked()
		if !died {
			return
		}
	}
}

// New posts come in, however much is below a horizon that is marked, and however few operations
// are accepted.
func TestNewPostsComeInAboveMuch(t *testing.T) {
	for _, accepted := range []int{5, 9, 30, 0} {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, own=%t", accepted, own), func(t *testing.T) {
				r := &storetest.ScriptFaults{}
				h := strewn(newScriptWorld(t, r, own), 1100)
				r.Most.Store(int64(accepted))
				for i := range 10 {
					h.Clock.Advance(time.Second)
					post := storetest.PostAtRevision(fmt.Sprintf("p_new_%d", i), h.Clock.Date(), 1, false)
					h.posts[post.ID] = post
					h.comesToAnEnd(func() error { _, err := h.ProjectFeedPost(h.Ctx(), post); return err })
				}
				if live, _ := h.readFeed(); len(live) > views.FeedCapacity+1100 {
					t.Errorf("it grows: there are %d", len(live))
				}
				r.Most.Store(0)
				h.comesToAnEnd(func() error { return h.RefillFeed(h.Ctx()) })
				h.holdsUnmarked()
			})
		}
	}
}

// The same where too much is above a horizon that is not marked, because triggers were refused so
// far, and whichever operation of each is refused from now on: those that a trim of one copy
// takes are enough.
func TestNewPostsComeInBesideTooMany(t *testing.T) {
	for n := range int64(10) {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, own=%t", n, own), func(t *testing.T) {
				r := &storetest.ScriptFaults{}
				h := strewn(newScriptWorld(t, r, own), 40)
				first := views.Position{"p_0", h.posts["p_0"].CreationDate}
				_, err := cosmos.Replace(h.Ctx(), h.Container(schema.Feed), schema.FeedPartition, views.HorizonID, views.HorizonAt(first), "")
				h.OK(err)
				_, err = h.Container(schema.Feed).DeleteItem(h.Ctx(), azcosmos.NewPartitionKeyString(schema.FeedPartition), first.ID, nil)
				h.OK(err)
				if n > 0 {
					r.Most.Store(n + 3)
				}
				for i := range 5 {
					h.Clock.Advance(time.Second)
					post := storetest.PostAtRevision(fmt.Sprintf("p_new_%d", i), h.Clock.Date(), 1, false)
					h.posts[post.ID] = post
					h.comesToAnEnd(func() error { _, err := h.ProjectFeedPost(h.Ctx(), post); return err })
					h.holdsUnmarked()
				}
			})
		}
	}
}

// comesToAnEnd repeats what there was no time or throughput for.
func (h *history) comesToAnEnd(step func() error) {
	h.T.Helper()
	for range 5 {
		err := step()
		if err == nil {
			return
		}
		h.Fails(err, blog.Throttled)
	}
	h.T.Fatal("it does not come to an end")
}

func (h *history) holdsUnmarked() {
	h.T.Helper()
	h.holds()
	horizon, _, err := h.ReadHorizon(h.Ctx())
	h.OK(err)
	if horizon.Refilling {
		h.T.Errorf("the horizon is marked: %+v", horizon)
	}
}
