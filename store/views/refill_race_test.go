package views_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// backdate creates a post of an earlier date by way of another server, and projects it.
func (h *history) backdate(id string, date blog.DateTime) {
	h.T.Helper()
	other := h.another()
	post := storetest.PostAtRevision(id, date, 1, false)
	h.posts[id] = post
	other.Plant(other.Container(schema.Posts), id, views.FeedCopyOf(post))
	_, err := other.FeedView().Project(h.Ctx(), post)
	h.OK(err)
}

// A refill does not miss a post of an earlier date that is created meanwhile and whose projection
// skipped it.
func TestBackdatedPostDuringRefill(t *testing.T) {
	h := drained(t, drainedLeft)
	older := h.live()[drainedLeft+10]
	created := false
	h.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Method != http.MethodGet && strings.HasSuffix(request.URL.Path, "/docs/"+views.HorizonID) && !created {
			created = true
			h.backdate("p_backdated", older.CreationDate)
		}
		return next.Do(request)
	})
	h.OK(h.RefillFeed(t.Context()))
	h.Wire.Inject(nil)
	if !created {
		t.Error("no post was created")
	}
	h.holds()
}

// The same if the refill crashes right after a write of the horizon, and the next one continues.
func TestBackdatedPostBeforeCrashOfRefill(t *testing.T) {
	for _, c := range []struct{ created, crash int }{{1, 1}, {1, 2}, {2, 2}} {
		t.Run(fmt.Sprintf("created at write %d, crash after %d", c.created, c.crash), func(t *testing.T) {
			h := drained(t, drainedLeft)
			older := h.live()[drainedLeft+10]
			writes := 0
			h.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if writes == c.crash {
					return nil, storetest.ErrCut
				}
				if request.Method != http.MethodGet && strings.HasSuffix(request.URL.Path, "/docs/"+views.HorizonID) {
					if writes++; writes == c.created {
						h.backdate("p_backdated", older.CreationDate)
					}
				}
				return next.Do(request)
			})
			_ = h.RefillFeed(t.Context())
			h.Wire.Inject(nil)
			h.OK(h.RefillFeed(t.Context()))
			h.holds()
		})
	}
}

// Copies that a refill wrote in vain, because the feed was trimmed meanwhile, do not count as
// copies of a full feed.
func TestRefillCountsCopiesAboveHorizon(t *testing.T) {
	h := drained(t, 100)
	live := h.live()
	h.OK(h.RefillFeed(t.Context()))
	horizon := views.Horizon{ID: views.HorizonID, Type: schema.TypePost, CreationDate: live[10].CreationDate, PostID: live[10].ID}
	_, err := cosmos.Replace(h.Ctx(), h.Container(schema.Feed), schema.FeedPartition, views.HorizonID, horizon, "")
	h.OK(err)
	_, err = h.Container(schema.Feed).DeleteItem(h.Ctx(), azcosmos.NewPartitionKeyString(schema.FeedPartition), live[10].ID, nil)
	h.OK(err)
	h.OK(h.RefillFeed(t.Context()))
	h.holds()
}

// concurrentHistory is the posts that several projectors change and project.
type concurrentHistory struct {
	*world
	mu    sync.Mutex
	posts map[string]*blog.Post // in their last state
}

// projectorOfFeed changes posts and projects them. Several run concurrently.
type projectorOfFeed struct {
	*concurrentHistory
	own *world
	*rand.Rand
}

// create creates a post, on one of the next days or long ago.
func (p *projectorOfFeed) create() {
	date := blog.NewDateTime(p.Clock.Now().Add(time.Duration(p.IntN(50)) * time.Hour))
	if p.IntN(2) == 0 {
		date = blog.NewDateTime(p.Clock.Now().AddDate(0, 0, -p.IntN(400)))
	}
	post := storetest.PostAtRevision(fmt.Sprintf("p_%d", p.Int64()), date, 1, false)
	p.write(post, nil)
}

// write writes a state of a post, unless the post has changed since before, and projects it.
func (p *projectorOfFeed) write(post, before *blog.Post) {
	p.mu.Lock()
	if p.posts[post.ID] != before {
		p.mu.Unlock()
		return
	}
	p.posts[post.ID] = post
	item := schema.PostItem{ID: post.ID, PostID: post.ID, UserID: post.Author.ID, Type: schema.TypePost, UserUsername: post.Author.Username,
		PostHead: post.PostHead, LikeCount: post.LikeCount, CreationDate: post.CreationDate, SortKey: schema.SortKey(post.CreationDate, post.ID), Version: 1,
		Revision: post.Revision, Deleted: post.Deleted}
	text, err := cosmos.EncodeItem(item)
	if err == nil {
		_, err = p.own.Container(schema.Posts).UpsertItem(p.Ctx(), azcosmos.NewPartitionKeyString(post.ID), text, nil)
	}
	p.mu.Unlock()
	if err != nil {
		p.T.Error(err)
	}
	_, _ = p.own.FeedView().Project(p.Ctx(), post) // may crash
}

func (p *projectorOfFeed) any(newest bool) *blog.Post {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *blog.Post
	for _, post := range p.posts { // in random order
		switch {
		case post.Deleted:
		case !newest:
			return post
		case found == nil || post.CreationDate > found.CreationDate:
			found = post
		}
	}
	return found
}

func (p *projectorOfFeed) step() {
	switch kind := p.IntN(100); {
	case kind < 25:
		p.create()
	case kind < 85:
		before := p.any(kind > 40)
		if before == nil {
			return
		}
		after := storetest.PostAtRevision(before.ID, before.CreationDate, before.Revision+1, kind > 40)
		p.write(after, before)
	default:
		if p.IntN(2) == 0 {
			p.own.Wire.Inject(cosmostest.From(1+p.IntN(300), storetest.CutBefore))
		}
		_ = p.own.RefillFeed(p.Ctx()) // may crash
		p.own.Wire.Inject(nil)
	}
}

// holdsVisibly checks that the feed shows the newest posts in their last state.
func (h *concurrentHistory) holdsVisibly() {
	h.T.Helper()
	var want []blog.Position
	for _, post := range h.posts {
		if !post.Deleted {
			want = append(want, blog.Position{CreationDate: post.CreationDate, ID: post.ID})
		}
	}
	storetest.SortPositions(want, true)
	want = want[:min(len(want), blog.FeedLength)]
	page, err := h.Feed(h.Ctx(), blog.PageRequest{First: blog.MaxPageSize})
	h.OK(err)
	if len(page.Items) != len(want) {
		h.T.Fatalf("the feed shows %d posts, not %d", len(page.Items), len(want))
	}
	for i, post := range page.Items {
		last := h.posts[want[i].ID]
		if post.ID != want[i].ID || post.Revision != last.Revision || post.LikeCount != last.LikeCount {
			h.T.Fatalf("at %d the feed shows %s of %s (revision %d), not %s of %s (revision %d)", i, post.ID, post.CreationDate,
				post.Revision, want[i].ID, want[i].CreationDate, last.Revision)
		}
	}
}

// New posts during a refill push out some copies that it has just written. The horizon must not
// move below those: a post above it that is not in the feed never returns.
func TestNewPostsDuringRefill(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	var posts []*blog.Post
	project := func(s *world, n int) {
		for range n {
			w.Clock.Advance(time.Second)
			post := s.AddPost(ada)
			posts = append(posts, post)
			w.OK(s.RepairPost(w.Ctx(), post.ID))
		}
	}
	project(w, 280)
	for _, post := range posts[210:270] { // 60 of the 200 that the feed has
		_, err := w.DeletePost(w.Ctx(), ada.ID, post.ID)
		w.OK(err)
		w.OK(w.RepairPost(w.Ctx(), post.ID))
	}
	other, came := w.another(), false
	w.Wire.Inject(func(_ int, r *http.Request, next storetest.Transporter) (*http.Response, error) {
		if target, _ := cosmos.TargetOf(r); !came && target.Container == schema.Feed && r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, views.HorizonID) {
			came = true
			project(other, 10)
		}
		return next.Do(r)
	})
	w.OK(w.RefillFeed(w.Ctx()))
	w.Wire.Inject(nil)
	drifts, err := audit.Drifts(w.Ctx(), w.DB, schema.Feed, schema.FeedPartition)
	w.OK(err)
	for _, d := range drifts {
		t.Error(d.Kind, d.ID, d.Field, d.Is, d.Should)
	}
}

// The mark of an interrupted refill is removed if new posts have filled the feed since. No older
// post enters the feed by it any more.
func TestMarkOfInterruptedRefillIsRemoved(t *testing.T) {
	h := drained(t, drainedLeft)
	old := h.live()[drainedLeft-10]
	h.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		response, err := next.Do(request)
		if request.Method != http.MethodGet && strings.HasSuffix(request.URL.Path, "/docs/"+views.HorizonID) {
			h.Wire.Inject(func(int, *http.Request, storetest.Transporter) (*http.Response, error) {
				return nil, storetest.ErrCut
			})
		}
		return response, err
	})
	_ = h.RefillFeed(t.Context())
	h.Wire.Inject(nil)
	for range views.FeedCapacity - drainedLeft + 30 {
		post := h.newPost()
		h.Plant(h.Container(schema.Posts), post.ID, views.FeedCopyOf(post))
		h.project(post)
	}
	h.OK(h.RefillFeed(t.Context()))
	if h.like(old) {
		t.Error("an old post came back")
	}
	h.holds()
}

// A new post that was skipped because the horizon was too high is in the feed after the horizon
// was lowered.
func TestNewPostWhileHorizonIsLowered(t *testing.T) {
	h := drained(t, 60)
	horizon, etag, err := h.ReadHorizon(h.Ctx())
	h.OK(err)
	horizon.CreationDate = blog.NewDateTime(horizon.CreationDate.Time().AddDate(1, 0, 0))
	_, err = cosmos.Replace(h.Ctx(), h.Container(schema.Feed), schema.FeedPartition, views.HorizonID, horizon, etag)
	h.OK(err)
	other, came := h.another(), false
	h.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if !came && request.Method != http.MethodGet && strings.HasSuffix(request.URL.Path, "/docs/"+views.HorizonID) {
			came = true
			post := h.newPost()
			h.Plant(other.Container(schema.Posts), post.ID, views.FeedCopyOf(post))
			_, err := other.FeedView().Project(h.Ctx(), post)
			h.OK(err)
		}
		return next.Do(request)
	})
	drifts, err := audit.Drifts(h.Ctx(), h.DB, schema.Feed, schema.FeedPartition)
	h.OK(err)
	left, err := audit.Repair(h.Ctx(), h.DB, schema.Feed, schema.FeedPartition, drifts)
	h.OK(err)
	h.Wire.Inject(nil)
	now, err := audit.Drifts(h.Ctx(), h.DB, schema.Feed, schema.FeedPartition)
	h.OK(err)
	if !came || len(left) > 0 || len(now) > 0 {
		t.Errorf("created %v, drifts left %v, then found %v", came, left, now)
	}
}
