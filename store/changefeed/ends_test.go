package changefeed_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// TestHasChangeUpTo checks that a reader has passed an earlier end of a change feed if, and only
// if, it has read all changes up to that end. Newer changes may follow.
func TestHasChangeUpTo(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	posts := []string{w.AddPost(ada).ID, w.AddPost(ada).ID}
	ranges, err := w.FeedRanges(w.Ctx(), schema.Posts)
	w.OK(err)
	end, err := w.EndLSN(w.Ctx(), schema.Posts, ranges[0])
	w.OK(err)
	w.AddPost(ada)
	continuation := ""
	for n := range len(posts) + 2 {
		behind, err := w.HasChangeUpTo(w.Ctx(), schema.Posts, ranges[0], continuation, end)
		w.OK(err)
		if want := n < len(posts); behind != want {
			t.Errorf("after %d changes: behind is %t, want %t", n, behind, want)
		}
		page, err := w.Changes(w.Ctx(), schema.Posts, ranges[0], continuation, 1)
		w.OK(err)
		continuation = page.Continuation
	}
}

// TestProjectedOf compares checkpoints with ends, of leases that have read nothing, some or more
// than that, and of a range that was split.
func TestProjectedOf(t *testing.T) {
	at := func(n int64) string {
		return fmt.Sprintf(`{"version":1,"resourceId":"r","continuation":[{"minInclusive":"","maxExclusive":"FF","continuationToken":"\"%d\""}]}`, n)
	}
	whole := follow.FeedRange{Max: "FF"}
	ends := changefeed.Ends{
		{Container: "users", FeedRange: whole}: 100,
		{Container: "posts", FeedRange: whole}: 300,
		{Container: "other", FeedRange: whole}: math.MaxInt64,
	}
	lease := func(container string, r follow.FeedRange, continuation string) changefeed.Lease {
		return changefeed.Lease{Container: container, Range: r, Continuation: continuation}
	}
	for _, c := range []struct {
		leases []changefeed.Lease
		want   follow.Progress
	}{
		{nil, follow.Progress{Total: 400}},
		{[]changefeed.Lease{lease("users", whole, ""), lease("posts", whole, at(30))}, follow.Progress{Done: 30, Total: 400}},
		{[]changefeed.Lease{lease("users", whole, at(150)), lease("other", whole, at(3))}, follow.Progress{Done: 100, Total: 400}},
		{[]changefeed.Lease{lease("posts", follow.FeedRange{Max: "1F"}, at(3))}, follow.Progress{Total: 100}},
	} {
		if got := changefeed.ProjectedOf(c.leases, ends); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}

// An empty page of a replica that lags behind the end does not show that the end was passed.
func TestHasChangeUpToOnLaggingReplica(t *testing.T) {
	w := newWorld(t)
	w.AddPost(w.AddUser("Ada"))
	ranges, err := w.FeedRanges(w.Ctx(), schema.Posts)
	w.OK(err)
	page, err := w.Changes(w.Ctx(), schema.Posts, ranges[0], "", 10)
	w.OK(err)
	end, err := w.EndLSN(w.Ctx(), schema.Posts, ranges[0])
	w.OK(err)
	for position, want := range map[int64]bool{end - 1: true, end: false, end + 1: false} {
		w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			response, err := next.Do(request)
			if err == nil && response.StatusCode == http.StatusNotModified {
				response.Header.Set(cosmos.SessionTokenHeader, fmt.Sprintf("0:-1#%d", position))
			}
			return response, err
		})
		behind, err := w.HasChangeUpTo(w.Ctx(), schema.Posts, ranges[0], page.Continuation, end)
		if w.OK(err); behind != want {
			t.Errorf("the end is %d, the replica's state %d: behind is %t", end, position, behind)
		}
	}
}

// A checkpoint beyond the end of its feed has passed nothing, until the replica catches up.
func TestHasChangeUpToBeyondTheEnd(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	w.AddPost(ada)
	ranges, err := w.FeedRanges(w.Ctx(), schema.Posts)
	w.OK(err)
	end, err := w.EndLSN(w.Ctx(), schema.Posts, ranges[0])
	w.OK(err)
	before, err := w.Changes(w.Ctx(), schema.Posts, ranges[0], "", 10)
	w.OK(err)
	beyond := strings.Replace(before.Continuation, fmt.Sprintf(`\"%d\"`, end), fmt.Sprintf(`\"%d\"`, end+1), 1)
	for _, upTo := range []int64{end, end + 1, math.MaxInt64} {
		if behind, err := w.HasChangeUpTo(w.Ctx(), schema.Posts, ranges[0], beyond, upTo); err != nil || !behind {
			t.Errorf("up to %d: behind is %t, %v", upTo, behind, err)
		}
	}
	w.AddPost(ada) // the end is now that of the checkpoint
	if behind, err := w.HasChangeUpTo(w.Ctx(), schema.Posts, ranges[0], beyond, end); err != nil || behind {
		t.Errorf("after another change: behind is %t, %v", behind, err)
	}
}

// TestEndLSNWithoutSessionToken checks that the end is math.MaxInt64 if the account does not
// report the LSN.
func TestEndLSNWithoutSessionToken(t *testing.T) {
	w := newWorld(t)
	w.AddPost(w.AddUser("Ada"))
	ranges, err := w.FeedRanges(w.Ctx(), schema.Posts)
	w.OK(err)
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if err == nil {
			response.Header.Del(cosmos.SessionTokenHeader)
		}
		return response, err
	})
	if end, err := w.EndLSN(w.Ctx(), schema.Posts, ranges[0]); err != nil || end != math.MaxInt64 {
		t.Errorf("the end is %d, error %v", end, err)
	}
}
