package views_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// projectGroup projects a group into both views, and what is left one by one. It returns the number
// of posts that were left.
func (w *world) projectGroup(posts []*blog.Post) (left int) {
	w.T.Helper()
	for _, view := range []views.PostView{w.UserPostView("u_a"), w.FeedView()} {
		written, err := view.ProjectGroup(w.Ctx(), posts)
		w.OK(err)
		for _, post := range posts {
			if _, done := written[post.ID]; !done {
				left++
				_, err := view.Project(w.Ctx(), post)
				w.OK(err)
			}
		}
	}
	return left
}

// Groups leave the same items as projections one by one, whatever the states of posts and copies
// are: new, edited, older than the copy, deleted, too old for the feed. Trims between deletions
// depend on their order, so the feeds are compared above both horizons.
func TestGroupsEqualSingleProjections(t *testing.T) {
	seed := testseed.Of(t)
	random := rand.New(rand.NewPCG(seed, 0))
	groups, singles := newWorld(t), newWorld(t)
	for _, w := range []*world{groups, singles} {
		w.Plant(w.Container(schema.Users), "u_a", map[string]any{"id": "u_a", "userId": "u_a", "type": "user", "postCount": 0})
	}
	begin := groups.Clock.Now()
	var known []*blog.Post
	left, total := 0, 0
	for range 2 * *historyFlag {
		group := map[string]*blog.Post{}
		for range random.IntN(60) {
			if len(known) > 0 && random.IntN(3) == 0 {
				post := known[random.IntN(len(known))]
				revision := 1 + random.Int64N(4) // the last one of some posts is their deletion
				group[post.ID] = storetest.PostAtRevision(post.ID, post.CreationDate, revision, revision == 4 && len(post.ID)%2 == 0)
				continue
			}
			date := blog.NewDateTime(begin.Add(time.Duration(len(known)-random.IntN(300)) * time.Hour))
			post := storetest.PostAtRevision(fmt.Sprintf("p_%d", len(known)), date, 1, false)
			group[post.ID], known = post, append(known, post)
		}
		var posts []*blog.Post
		for _, post := range group {
			posts = append(posts, post)
			for _, view := range []views.PostView{singles.UserPostView("u_a"), singles.FeedView()} {
				_, err := view.Project(singles.Ctx(), post)
				singles.OK(err)
			}
		}
		left += groups.projectGroup(posts)
		total += 2 * len(posts)
		if got, want := groups.items(schema.Users), singles.items(schema.Users); !reflect.DeepEqual(got, want) {
			t.Fatalf("after %d posts, users has %d items, want %d, or they differ", len(known), len(got), len(want))
		}
		_, lower := groups.readFeed()
		_, higher := singles.readFeed()
		if isNewer(lower, higher) {
			higher = lower
		}
		got, want := groups.itemsAbove(higher), singles.itemsAbove(higher)
		if !reflect.DeepEqual(got, want) || len(known) > 400 && len(got) < blog.FeedLength/2 {
			t.Fatalf("after %d posts, feed has %d items above %v, want %d, or they differ", len(known), len(got), higher, len(want))
		}
	}
	if left > total/2 {
		t.Errorf("%d of %d projections were left", left, total)
	}
}

// itemsAbove returns the copies and tombstones of feed above a position. Copies below the feed's
// own horizon count as above.
func (w *world) itemsAbove(p blog.Position) (above []map[string]any) {
	_, own := w.readFeed()
	for _, item := range w.items(schema.Feed) {
		at := blog.Position{CreationDate: blog.DateTime(item["creationDate"].(string)), ID: item["id"].(string)}
		if item["id"] != views.HorizonID && (isNewer(at, p) || item["deleted"] == false && !isNewer(at, own)) {
			above = append(above, item)
		}
	}
	return above
}

// A group of new posts takes few requests, however many they are: two in the author's list and at
// most six in the list of their month, and four for each FeedSurplus posts in the feed, because the
// last of them runs the trigger. A repetition also reads the copies.
func TestGroupTakesFewRequests(t *testing.T) {
	w := newWorld(t)
	w.Plant(w.Container(schema.Users), "u_a", map[string]any{"id": "u_a", "userId": "u_a", "type": "user", "postCount": 0})
	next := 0
	newPosts := func(n int) (posts []*blog.Post) {
		for range n {
			w.Clock.Advance(time.Second)
			posts = append(posts, storetest.PostAtRevision(fmt.Sprintf("p_%d", next), w.Clock.Date(), 1, false))
			next++
		}
		return posts
	}
	for range views.FeedCapacity/90 + 1 { // to fill the feed
		w.projectGroup(newPosts(90))
	}
	const n = 4 * views.FeedSurplus
	for _, c := range []struct {
		view        views.PostView
		most, again int
	}{
		{w.UserPostView("u_a"), 8, 3},
		{w.FeedView(), 5*2 + 4*2, 6}, // up to 5 transactions and 4 single posts, each after a read of the horizon
	} {
		posts := newPosts(n)
		for _, most := range []int{c.most, c.again} {
			w.Wire.Inject(nil)
			written, err := c.view.ProjectGroup(w.Ctx(), posts)
			w.OK(err)
			if sent := len(w.Wire.Requests()); len(written) != n || written[posts[0].ID] != (most == c.most) || sent > most {
				t.Errorf("%s: %d posts were projected by %d requests, want at most %d", c.view.Container, len(written), sent, most)
			}
		}
	}
	if live, _ := w.readFeed(); len(live) < views.FeedCapacity || len(live) > views.FeedCapacity+views.FeedSurplus {
		t.Errorf("the feed has %d copies", len(live))
	}
}

// Groups of the feed that are projected at the same time do not make one another fail.
func TestConcurrentGroups(t *testing.T) {
	w := newWorld(t)
	const groups, size = 8, 15
	var all [groups][]*blog.Post
	for i := range groups * size {
		w.Clock.Advance(time.Second)
		all[i%groups] = append(all[i%groups], storetest.PostAtRevision(fmt.Sprintf("p_%d", i), w.Clock.Date(), 1, false))
	}
	w.Wire.Inject(nil)
	w.TakeTurnsForever() // no turn ends early because the machine is busy
	var running sync.WaitGroup
	for _, posts := range all {
		running.Go(func() {
			if written, err := w.FeedView().ProjectGroup(t.Context(), posts); err != nil || len(written) != size {
				t.Errorf("%d of %d posts were written: %v", len(written), size, err)
			}
		})
	}
	running.Wait()
	// At most two transactions with the horizon before them, and a single post between them.
	if n := len(w.Wire.Requests()); n > groups*6 {
		t.Errorf("%d requests, want at most %d", n, groups*6)
	}
	if live, _ := w.readFeed(); len(live) != groups*size {
		t.Errorf("%d copies, want %d", len(live), groups*size)
	}
}

// A group of more posts than a transaction can write takes several. If a damaged post makes
// a transaction too large, its group is left, and the damaged post alone fails.
func TestLargeGroups(t *testing.T) {
	w := newWorld(t)
	w.Plant(w.Container(schema.Users), "u_a", map[string]any{"id": "u_a", "userId": "u_a", "type": "user", "postCount": 0})
	var posts []*blog.Post
	for i := range 2*cosmos.MaxBatchOperations + 50 {
		post := storetest.PostAtRevision(fmt.Sprintf("p_%d", i), w.Clock.Date(), 1, false)
		post.Title, post.Excerpt = strings.Repeat("\U0001F600", blog.MaxTitleLength), strings.Repeat("\U0001F600", blog.ExcerptLength)
		posts = append(posts, post)
	}
	w.Wire.Inject(nil)
	written, err := w.UserPostView(posts[0].Author.ID).ProjectGroup(w.Ctx(), posts)
	w.OK(err)
	user, _, err := cosmos.Read[schema.UserItem](w.Ctx(), w.Container(schema.Users), "u_a", "u_a")
	w.OK(err)
	batches := slices.DeleteFunc(w.Wire.Requests(), func(r *http.Request) bool { return r.Header.Get("X-Ms-Cosmos-Is-Batch-Request") == "" })
	if len(written) != len(posts) || user.PostCount != len(posts) || len(batches) > 3*5 {
		t.Errorf("%d of %d posts were projected by %d transactions, and %d counted", len(written), len(posts), len(batches), user.PostCount)
	}

	damaged := storetest.PostAtRevision("p_damaged", w.Clock.Date(), 1, false)
	damaged.Title = strings.Repeat("x", 3<<20)
	sound := storetest.PostAtRevision("p_sound", w.Clock.Date(), 1, false)
	for _, p := range w.postViews() {
		written, err := p.ProjectGroup(w.Ctx(), []*blog.Post{sound, damaged})
		w.OK(err)
		_, alone := p.Project(w.Ctx(), damaged)
		if _, err := p.Project(w.Ctx(), sound); written[damaged.ID] || !cosmos.IsItemError(alone) || err != nil {
			t.Errorf("%s: written: %v; the damaged post alone: %v; the sound one: %v", p.Container, written, alone, err)
		}
	}
}

// projectBoth projects a post into both views.
func (w *world) projectBoth(post *blog.Post) {
	w.T.Helper()
	for _, p := range w.postViews() {
		_, err := p.Project(w.Ctx(), post)
		w.OK(err)
	}
}

// While a group is between its reads and its transaction, another process writes a copy, or moves
// the horizon. The group neither overwrites the newer copy nor creates copies below the horizon.
func TestWritesDuringGroup(t *testing.T) {
	at := func(w *world, i int) blog.DateTime {
		return blog.NewDateTime(w.Clock.Now().Add(time.Duration(i) * time.Hour))
	}
	for name, other := range map[string]func(w *world, posts []*blog.Post){
		"a newer copy": func(w *world, posts []*blog.Post) {
			w.projectBoth(storetest.PostAtRevision(posts[1].ID, posts[1].CreationDate, 9, false))
		},
		"a tombstone": func(w *world, posts []*blog.Post) {
			w.projectBoth(storetest.PostAtRevision(posts[1].ID, posts[1].CreationDate, 9, true))
		},
		"a copy of a new post": func(w *world, posts []*blog.Post) {
			w.projectBoth(storetest.PostAtRevision(posts[4].ID, posts[4].CreationDate, 9, false))
		},
		"the horizon is raised": func(w *world, posts []*blog.Post) {
			horizon, etag, err := w.ReadHorizon(w.Ctx())
			w.OK(err)
			w.OK(w.MoveHorizon(w.Ctx(), horizon, views.FeedPosition{CreationDate: posts[4].CreationDate, ID: posts[4].ID}, etag))
		},
		"the horizon is lowered": func(w *world, posts []*blog.Post) {
			horizon, etag, err := w.ReadHorizon(w.Ctx())
			w.OK(err)
			w.OK(w.MoveHorizon(w.Ctx(), horizon, views.FeedPosition{}, etag))
		},
	} {
		for _, container := range []string{schema.Users, schema.Feed} {
			t.Run(name+" in "+container, func(t *testing.T) {
				w := newWorld(t)
				w.Plant(w.Container(schema.Users), "u_a", map[string]any{"id": "u_a", "userId": "u_a", "type": "user", "postCount": 0})
				_, err := w.FeedView().Project(w.Ctx(), storetest.PostAtRevision("p_first", at(w, 0), 1, false))
				w.OK(err)
				var posts []*blog.Post
				for i := range 6 {
					post := storetest.PostAtRevision(fmt.Sprintf("p_%d", i), at(w, i+1), 1, false)
					if i < 3 && !strings.HasPrefix(name, "the horizon") { // it has a copy already
						w.projectBoth(post)
						post = storetest.PostAtRevision(post.ID, post.CreationDate, 2, false)
					}
					posts = append(posts, post)
				}
				second, came := w.another(), false
				w.Wire.Inject(func(_ int, r *http.Request, next storetest.Transporter) (*http.Response, error) {
					target, _ := cosmos.TargetOf(r)
					if !came && target.Container == container && r.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" {
						came = true
						other(second, posts)
					}
					return next.Do(r)
				})
				w.projectGroup(posts)
				w.Wire.Inject(nil)
				if !came {
					t.Error("the group sent no transaction")
				}
				w.wantCopies(posts, map[string]int{"a newer copy": 1, "a tombstone": 1, "a copy of a new post": 4}[name], strings.HasPrefix(name, "the horizon"))
			})
		}
	}
}

// wantCopies checks the copies of posts of u_a in both views: each has the revision of its post, or
// 9 if its number is newer, which is not 0. With trimmed, copies may be missing. It also checks
// that only the first copy may be below the horizon, and that the copies of the user are counted.
func (w *world) wantCopies(posts []*blog.Post, newer int, trimmed bool) {
	w.T.Helper()
	for _, p := range w.postViews() {
		for i, post := range posts {
			copied, _, err := cosmos.Read[schema.PostItem](w.Ctx(), w.Container(p.Container), p.Partition, post.ID)
			if cosmos.IsNotFound(err) && trimmed {
				continue
			}
			want := post.Revision
			if newer > 0 && i == newer {
				want = 9
			}
			if w.OK(err); copied.Revision != want {
				w.T.Errorf("%s: the copy of %s has revision %d, want %d", p.Container, post.ID, copied.Revision, want)
			}
		}
	}
	live, horizon := w.readFeed()
	for _, p := range live {
		if !isNewer(p, horizon) && p.ID != "p_first" {
			w.T.Errorf("%v is below the horizon %v", p, horizon)
		}
	}
	counted := 0
	for _, item := range w.items(schema.Users) {
		if item["deleted"] == false {
			counted++
		}
	}
	user, _, err := cosmos.Read[schema.UserItem](w.Ctx(), w.Container(schema.Users), "u_a", "u_a")
	if w.OK(err); user.PostCount != counted {
		w.T.Errorf("the post count is %d, want %d", user.PostCount, counted)
	}
}

// If one copy cannot be read or written, the others of its group are left to be projected alone,
// without an error. Errors of the account are returned.
func TestGroupWithFaultyCopy(t *testing.T) {
	w := newWorld(t)
	posts := []*blog.Post{
		storetest.PostAtRevision("p_1", w.Clock.Date(), 2, false), storetest.PostAtRevision("p_2", w.Clock.Date(), 2, false),
	}
	for _, p := range w.postViews() {
		damaged := map[string]any{"id": "p_1", "userId": "u_a", "type": "post", "deleted": false, "revision": "?"}
		w.Plant(w.Container(p.Container), p.Partition, maps.Clone(damaged))
		written, err := p.ProjectGroup(w.Ctx(), posts)
		if w.OK(err); len(written) != 0 {
			t.Errorf("%s: %v", p.Container, written)
		}
		_, err = w.Container(p.Container).DeleteItem(w.Ctx(), azcosmos.NewPartitionKeyString(p.Partition), "p_1", nil)
		w.OK(err)
		w.Wire.Inject(cosmostest.From(1, storetest.CutBefore))
		if _, err = p.ProjectGroup(w.Ctx(), posts); err == nil {
			t.Errorf("%s: no error, although there was no answer", p.Container)
		}
		w.Wire.Inject(nil)
	}
}

// The same as TestLikeOfRefilledPostOnStaleReplica, for a group.
func TestGroupOfRefilledPostsOnStaleReplica(t *testing.T) {
	w, replica := storetest.NewStale(t)
	ada := w.AddUser("Ada")
	post, second, newer := w.AddPost(ada), w.AddPost(ada), w.AddPost(ada)
	w.Plant(w.Container(schema.Feed), schema.FeedPartition,
		views.HorizonAt(views.FeedPosition{ID: newer.ID, CreationDate: newer.CreationDate}))
	replica.Hold()
	w.OK(w.RefillFeed(w.Session()))
	w.AddLike(ada, post)
	other := w.Another() // reads the latest state
	changes := []*blog.Post{other.ReadChange(post.ID, post.ID).Post, other.ReadChange(second.ID, second.ID).Post}

	written, err := w.FeedView().ProjectGroup(w.Session(), changes)
	w.OK(err)
	if want := map[string]bool{post.ID: true, second.ID: false}; !maps.Equal(written, want) || replica.Stale() == 0 {
		t.Errorf("written: %v, want %v; stale reads: %d", written, want, replica.Stale())
	}
}
