package changefeed_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// TestFollowSplits follows the posts in pages of one item. Posts are added in the first round, and
// the feed range is split at one page after the other, twice. Every post is on a page, also if each
// page is read by another process, from the stored positions.
func TestFollowSplits(t *testing.T) {
	for at := 1; at <= 24; at++ {
		for _, isStored := range []bool{false, true} {
			w := newWorld(t)
			ada := w.AddUser("Ada")
			want := map[string]bool{}
			add := func(w *world) {
				for range 6 {
					want[w.AddPost(ada).ID] = true
				}
			}
			add(w)
			other, pages := w.another(), 0
			w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if request.Header.Get("A-IM") != "" {
					if pages++; pages == 4 {
						add(other)
					}
					if pages == at {
						w.OK(w.Account.Split(cosmos.DefaultDatabase, schema.Posts, "0"))
					}
					if pages == at+3 {
						w.OK(w.Account.Split(cosmos.DefaultDatabase, schema.Posts, "2"))
					}
				}
				return next.Do(request)
			})
			positions, err := w.Beginnings(w.Ctx(), schema.Posts)
			w.OK(err)
			for isDone := false; !isDone; {
				isDone = true
				for step, err := range w.Follower(1).Follow(w.Ctx(), positions) {
					w.OK(err)
					for _, id := range idsOfItems(t, step.Items) {
						delete(want, id)
					}
					text, err := json.Marshal(step.Positions)
					w.OK(err)
					positions = nil
					w.OK(json.Unmarshal(text, &positions))
					if strings.Count(string(text), "minInclusive") != len(positions) {
						t.Fatalf("a position has several parts: %s", text)
					}
					if isStored && len(step.Items) > 0 {
						isDone = false
						break
					}
				}
			}
			if now := follow.ProgressOf(positions); len(want) > 0 || now.Done != now.Total {
				t.Errorf("split at page %d, stored=%t: %d posts are missing; the progress is %+v", at, isStored, len(want), now)
			}
			w.Wire.Inject(nil)
		}
	}
}

// TestFollowEnds follows a feed that grows with each page. It ends after two rounds.
func TestFollowEnds(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	w.AddPost(ada)
	positions, err := w.Beginnings(w.Ctx(), schema.Posts)
	w.OK(err)
	pages := 0
	for step, err := range w.Follower(1).Follow(w.Ctx(), positions) {
		w.OK(err)
		if w.AddPost(ada); len(step.Items) != 1 {
			t.Errorf("a page has %d items", len(step.Items))
		}
		if pages++; pages > 9 {
			t.Fatal("Follow does not end")
		}
	}
	if pages < 2 {
		t.Errorf("%d pages", pages)
	}
}
