package views_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// tagged returns a state of a post with tags.
func (w *world) tagged(revision int64, version int, tags ...string) *blog.Post {
	post := storetest.PostAtRevision("p_1", "2026-11-20T09:00:00.000000Z", revision, false)
	post.Version, post.Tags = version, tags
	return post
}

// inLists returns the lists in which a post has a live entry.
func (w *world) inLists() (lists []string) {
	for _, item := range w.items(schema.Lists) {
		if item["id"] == "p_1" && item["deleted"] == false {
			lists = append(lists, item["list"].(string))
		}
	}
	slices.Sort(lists)
	return lists
}

var errStopped = errors.New("stopped")

// stopAtLists lets a projector fail at its first request to lists.
func (w *world) stopAtLists() {
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.Contains(request.URL.Path, "/colls/"+schema.Lists+"/") {
			return nil, errStopped
		}
		return next.Do(request)
	})
}

// The entries of a post are in the lists of its month and of the tags of its newest state, whatever
// the order in which its states are projected.
func TestListsFollowTags(t *testing.T) {
	w := newWorld(t)
	v := w.UserPostView("u_a")
	for _, c := range []struct {
		post *blog.Post
		want []string
	}{
		{w.tagged(1, 1, "a", "b"), []string{"month:2026-11", "tag:a", "tag:b"}},
		{w.tagged(5, 3, "c", "b"), []string{"month:2026-11", "tag:b", "tag:c"}},
		{w.tagged(3, 2, "d"), []string{"month:2026-11", "tag:b", "tag:c"}}, // late
		{w.tagged(6, 4), []string{"month:2026-11"}},
		{w.tagged(7, 5, "a"), []string{"month:2026-11", "tag:a"}},
	} {
		_, err := v.Project(w.Ctx(), c.post)
		w.OK(err)
		if got := w.inLists(); !slices.Equal(got, c.want) {
			t.Errorf("revision %d: the post is in %q, want %q", c.post.Revision, got, c.want)
		}
	}
	deleted := w.tagged(8, 5, "a")
	deleted.Deleted = true
	_, err := v.Project(w.Ctx(), deleted)
	w.OK(err)
	if got := w.inLists(); len(got) > 0 {
		t.Errorf("a deleted post is in %q", got)
	}
	tags, err := w.Tags(w.Ctx(), 10)
	if err != nil || len(tags) > 0 {
		t.Errorf("%d tags, %v", len(tags), err)
	}
}

// A like that is projected after an interrupted edit also does what the edit has left.
func TestLikeOfUnlistedCopy(t *testing.T) {
	w := newWorld(t)
	v := w.UserPostView("u_a")
	_, err := v.Project(w.Ctx(), w.tagged(1, 1, "a"))
	w.OK(err)
	w.stopAtLists()
	if _, err := v.Project(w.Ctx(), w.tagged(2, 2, "b")); err == nil {
		t.Fatal("the projection was not interrupted")
	}
	w.Wire.Inject(nil)
	_, err = v.Project(w.Ctx(), w.tagged(3, 2, "b"))
	w.OK(err)
	if got, want := w.inLists(), []string{"month:2026-11", "tag:b"}; !slices.Equal(got, want) {
		t.Errorf("the post is in %q, want %q", got, want)
	}
	w.Wire.Inject(nil)
	_, err = v.Project(w.Ctx(), w.tagged(4, 2, "b"))
	w.OK(err)
	if n := len(w.Wire.Requests()); n != 1 {
		t.Errorf("a like of a listed copy took %d requests", n)
	}
}

// Until the entries of a deleted post are tombstones, the tombstone of its copy names the lists,
// and does not expire.
func TestUnlistedTombstoneStays(t *testing.T) {
	w := newWorld(t)
	v := w.UserPostView("u_a")
	_, err := v.Project(w.Ctx(), w.tagged(1, 1, "a"))
	w.OK(err)
	deleted := w.tagged(2, 1)
	deleted.Deleted = true
	w.stopAtLists()
	if _, err := v.Project(w.Ctx(), deleted); err == nil {
		t.Fatal("the projection was not interrupted")
	}
	if copy := w.item(schema.Users, "p_1"); copy["ttl"] != nil || copy["unlisted"] != true || copy["formerLists"] == nil {
		t.Errorf("the copy is %v", copy)
	}
	w.Wire.Inject(nil)
	_, err = v.Project(w.Ctx(), deleted)
	w.OK(err)
	if copy := w.item(schema.Users, "p_1"); copy["ttl"] != views.DeletedTTL.Seconds() || copy["unlisted"] != nil || copy["formerLists"] != nil {
		t.Errorf("the copy is %v", copy)
	}
	if got := w.inLists(); len(got) > 0 {
		t.Errorf("a deleted post is in %q", got)
	}
}

// The weight of the latest state of a counter stays, also if that of an earlier state is written
// after it.
func TestLateWeight(t *testing.T) {
	w := newWorld(t)
	v := w.ListView("tag:a")
	late := w.another()
	late.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) { // after the entry, before the weight
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/docs/a") {
			deleted := w.tagged(2, 1, "a")
			deleted.Deleted = true
			_, err := v.Project(w.Ctx(), deleted)
			w.OK(err)
		}
		return next.Do(request)
	})
	_, err := late.ListView("tag:a").Project(late.Ctx(), w.tagged(1, 1, "a"))
	w.OK(err)
	weight, _, err := cosmos.Read[schema.WeightItem](w.Ctx(), w.Container(schema.Lists), blog.Tags.Plural, "a")
	w.OK(err)
	if weight.Weight != 0 || weight.Type != schema.TypeTombstone || weight.TTL == 0 {
		t.Errorf("the weight is %+v", weight)
	}
}

// hotPosts returns new posts with the tag hot.
func (w *world) hotPosts(first, n int) (posts []*blog.Post) {
	for i := range n {
		post := storetest.PostAtRevision(fmt.Sprintf("p_%d", first+i), w.Clock.Date(), 1, false)
		post.Tags = []string{"hot"}
		posts = append(posts, post)
	}
	return posts
}

// If the weight of a group cannot be written, the copies of the group stay unlisted, and the next
// projection writes it.
func TestWeightOfInterruptedGroup(t *testing.T) {
	w := newWorld(t)
	w.Plant(w.Container(schema.Users), "u_a", map[string]any{"id": "u_a", "userId": "u_a", "type": "user", "postCount": 0})
	v := w.UserPostView("u_a")
	posts := w.hotPosts(0, 3)
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/docs/hot") {
			return nil, errStopped
		}
		return next.Do(request)
	})
	if written, err := v.ProjectGroup(w.Ctx(), posts); err == nil && len(written) > 0 {
		t.Errorf("the posts %v are projected without a weight", written)
	}
	w.Wire.Inject(nil)
	for _, post := range posts {
		_, err := v.Project(w.Ctx(), post)
		w.OK(err)
	}
	tags, err := w.Tags(w.Ctx(), 10)
	if err != nil || len(tags) != 1 || tags[0].Name != "hot" {
		t.Errorf("the tags are %v, %v", tags, err)
	}
}

// Groups write the weight of a list only if it changes.
func TestWeightsOfGroups(t *testing.T) {
	w := newWorld(t)
	w.Plant(w.Container(schema.Users), "u_a", map[string]any{"id": "u_a", "userId": "u_a", "type": "user", "postCount": 0})
	w.Wire.Inject(nil)
	const groups = 100
	for i := range groups {
		_, err := w.UserPostView("u_a").ProjectGroup(w.Ctx(), w.hotPosts(2*i, 2))
		w.OK(err)
	}
	n := 0
	for _, request := range w.Wire.Requests() {
		if strings.HasSuffix(request.URL.Path, "/docs/hot") {
			n++
		}
	}
	if n < 20 || n > 60 { // reads and writes of about 4·log2(200) weights
		t.Errorf("%d groups sent %d requests about the weight", groups, n)
	}
}

// Weight keeps three binary digits.
func TestWeight(t *testing.T) {
	for count, want := range map[int]int{-1: 0, 0: 0, 1: 1, 7: 7, 8: 8, 9: 8, 10: 10, 15: 14, 16: 16, 19: 16, 20: 20, 1000: 896, 1 << 40: 1 << 40} {
		if got := schema.Weight(count); got != want {
			t.Errorf("the weight of %d is %d, want %d", count, got, want)
		}
	}
}

var hotListFlag = flag.Int("hot-list", 100, "number of posts of TestHotList for each number of workers")

// Workers that project posts into one list at the same time count each of them. With -v, the test
// logs the entries a second, and the RU of each.
func TestHotList(t *testing.T) {
	for _, workers := range []int{1, 8, 64} {
		w := newWorld(t)
		charged := &cosmos.ChargeLimit{}
		ctx := charged.Context(t.Context())
		var next, retried atomic.Int64
		var group sync.WaitGroup
		begin := time.Now()
		for range workers {
			group.Go(func() {
				for n := next.Add(1); n <= int64(*hotListFlag); n = next.Add(1) {
					post := storetest.PostAtRevision(fmt.Sprintf("p_%d", n), w.Clock.Date(), 1, false)
					post.Tags = []string{"hot"}
					for try := 0; ; try++ {
						_, err := w.ListView("tag:hot").Project(ctx, post)
						if err == nil {
							break
						}
						if retried.Add(1); try == 10 {
							t.Error(err)
							break
						}
					}
				}
			})
		}
		group.Wait()
		counts, err := w.PostCounts(t.Context(), []blog.List{"tag:hot"})
		w.OK(err)
		if count := counts["tag:hot"]; count == nil || *count != *hotListFlag {
			t.Errorf("%d workers: the counter is %v, want %d", workers, counts, *hotListFlag)
		}
		n := float64(*hotListFlag)
		t.Logf("%d workers: %.0f entries/s, %.1f RU each, %d repeated", workers, n/time.Since(begin).Seconds(), charged.Spent()/n, retried.Load())
	}
}
