package projector_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/projector"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// refusing refuses requests to a container whose path ends with id, except reads of the change
// feed. It also refuses to create the item with the id, alone or in a transaction.
func refusing(container, id string, status int) func(*http.Request) int {
	return func(request *http.Request) int {
		switch {
		case containerOf(request) != container || request.Header.Get("A-IM") != "":
			return 0
		case strings.HasSuffix(request.URL.Path, id), request.Method == http.MethodPost && writesItem(request, id):
			return status
		}
		return 0
	}
}

// writesItem reports whether the body of a request names an item.
func writesItem(request *http.Request, id string) bool {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return false
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte(`"id":"`+id+`"`))
}

func (w *world) letters() []changefeed.DeadLetter {
	w.Helper()
	letters, err := w.store.DeadLetters(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return letters
}

// counted returns the numbers of retries and of changes set aside.
func counted(p *projector.Projector) (retries, setAside int64) {
	for _, of := range p.Counts().Projections {
		retries += of.Retries
		setAside += of.SetAside
	}
	return retries, setAside
}

// A change is set aside after some attempts if its item makes the projection fail, and the
// other changes are projected. Failures of the account are retried without limit.
func TestFailingItemIsSetAside(t *testing.T) {
	for status, attempts := range map[int]int{ // 0: without limit
		http.StatusBadRequest:            5,
		http.StatusRequestEntityTooLarge: 5,
		http.StatusRequestTimeout:        10,
		http.StatusConflict:              10,
		http.StatusForbidden:             0,
		http.StatusUnauthorized:          0,
		http.StatusTooManyRequests:       0,
		http.StatusInternalServerError:   0,
		http.StatusServiceUnavailable:    0,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				posts := w.posts(w.user(), 3)
				wire, s := w.wiredWithoutDelays()
				wire.refuse = refusing("users", posts[1].ID, status)
				p := w.projector(s)
				if err := p.SettleForTests(t.Context()); (err == nil) != (attempts > 0) {
					t.Errorf("settled: %v", err)
				}
				wire.refuse = nil
				letters := w.letters()
				if attempts == 0 {
					if retries, setAside := counted(p); len(letters) != 0 || retries+setAside != 0 {
						t.Errorf("set aside: %+v", letters)
					}
					w.settle()
					w.wantViewsEqualSource()
					return
				}
				if len(letters) != 1 || letters[0].ItemID != posts[1].ID || letters[0].Projection != "userPosts" || letters[0].Attempts != attempts {
					t.Errorf("set aside: %+v", letters)
				}
				if retries, setAside := counted(p); retries != int64(attempts-1) || setAside != 1 {
					t.Errorf("counted %d retries and %d set aside", retries, setAside)
				}
				mine, err := w.store.UserPosts(t.Context(), posts[0].Author.ID, blog.PageRequest{First: 9})
				if err != nil || len(mine.Items) != 2 {
					t.Errorf("%d posts are projected, %v", len(mine.Items), err)
				}
				w.retryAll(nil)
				w.wantViewsEqualSource()
			})
		})
	}
}

// retryAll retries all dead letters and checks each error. If want is nil, no dead letter must
// remain.
func (w *world) retryAll(want error) {
	w.Helper()
	for _, letter := range w.letters() {
		if err := projector.Retry(w.Context(), w.store.DB, letter); !errors.Is(err, want) {
			w.Errorf("%s of %s: %v", letter.Projection, letter.ItemID, err)
		}
	}
	if letters := w.letters(); want == nil && len(letters) > 0 {
		w.Errorf("left: %+v", letters)
	}
}

// A deleted post is removed from every view that accepts the removal. No item of it is deleted
// for good before all views are done.
func TestDeletionBehindDeadLetter(t *testing.T) {
	w := newWorld(t)
	anna := w.user()
	post := w.post(anna)
	w.comment(anna, post)
	wire, s := w.wired()
	wire.refuse = refusing("users", post.ID, http.StatusBadRequest)
	p := w.projector(s)
	settle := func() {
		t.Helper()
		if err := p.SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	if !w.feedShows(post, 0)() {
		t.Error("the feed lacks the post")
	}
	before := w.letters()
	w.delete(post)
	settle()
	settle()
	page, err := w.store.Feed(t.Context(), blog.PageRequest{First: 9})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("the feed shows %d posts, %v", len(page.Items), err)
	}
	change, err := w.store.Change(t.Context(), schema.Posts, post.ID, post.ID)
	if err != nil || change.Expires {
		t.Errorf("the post has a ttl, %v", err)
	}
	letters := w.letters()
	if len(letters) != 1 || letters[0].Attempts != 2*before[0].Attempts || letters[0].FirstDate != before[0].FirstDate || letters[0].Date < before[0].Date {
		t.Errorf("%+v after %+v", letters, before)
	}
	w.retryAll(nil)
	w.settle()
	w.wantViewsEqualSource()
	w.wantNoDrift()
}

// Retry does not delete a dead letter if the item was set aside again meanwhile.
func TestRenewedDeadLetterStays(t *testing.T) {
	w := newWorld(t)
	post := w.post(w.user())
	wire, s := w.wired()
	wire.refuse = refusing("feed", "docs", http.StatusBadRequest)
	p := w.projector(s)
	if err := p.SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	letter := w.letters()[0]
	again := func() {
		if err := w.store.WriteDeadLetter(t.Context(), changefeed.DeadLetter{Projection: "feed", Container: "posts", PartitionKey: post.ID, ItemID: post.ID, Attempts: 1}); err != nil {
			t.Error(err)
		}
	}
	wire.refuse = nil
	wire.next = beforeWrite{wire.next, "feed", again}
	if err := projector.Retry(t.Context(), s.DB, letter); !errors.Is(err, changefeed.ErrDeadLetterChanged) {
		t.Error(err)
	}
	if letters := w.letters(); len(letters) != 1 || letters[0].Attempts != letter.Attempts+1 {
		t.Errorf("%+v", letters)
	}
	w.retryAll(nil)
	w.settle()
	w.wantViewsEqualSource()
}

// beforeWrite is a transport that calls do before each write to a container.
type beforeWrite struct {
	next      policy.Transporter
	container string
	do        func()
}

func (d beforeWrite) Do(request *http.Request) (*http.Response, error) {
	if isWrite(request) && containerOf(request) == d.container {
		d.do()
	}
	return d.next.Do(request)
}

// A retry counts another refusal, leaves the dead letter if the database fails, and deletes it
// if the item is gone.
func TestRetries(t *testing.T) {
	s := newScene(t, 0)
	post := s.posts[1]
	refusing400, refused := s.wired()
	// The refused request is the batch that updates the post count.
	refusing400.refuse = refusing("users", "docs", http.StatusBadRequest)
	s.delete(post)
	if err := s.projector(refused).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	letter := s.letters()[0]
	if err := projector.Retry(t.Context(), refused.DB, letter); !cosmos.IsItemError(err) {
		t.Error(err)
	}
	renewed := s.letters()
	if len(renewed) != 1 || renewed[0].Attempts != letter.Attempts+1 || renewed[0].FirstDate != letter.FirstDate {
		t.Errorf("%+v after %+v", renewed, letter)
	}
	wire, failing := s.wiredWithoutDelays()
	wire.refuse = refusing("users", "docs", http.StatusServiceUnavailable)
	if err := projector.Retry(t.Context(), failing.DB, renewed[0]); err == nil || cosmos.IsItemError(err) {
		t.Error(err)
	}
	if letters := s.letters(); len(letters) != 1 || letters[0] != renewed[0] {
		t.Errorf("%+v after %+v", letters, renewed)
	}
	for _, id := range []string{post.ID, s.anna.ID} { // anna's like of it too
		s.remove("posts", post.ID, id)
	}
	s.retryAll(nil)
}

// An undecodable item is set aside without a retry. A retry deletes the dead letter once the
// item is repaired or gone.
func TestUnreadableItems(t *testing.T) {
	s := newScene(t, 0)
	mended, gone := s.posts[0], s.posts[1]
	for _, post := range []*blog.Post{mended, gone} {
		s.changePost(post, item{"likeCount": "many"})
	}
	const stray = `{"id": "stray", "type": "post", "postId": 7, "userId": "u_7"}`
	if _, err := s.container("posts").CreateItem(t.Context(), azcosmos.NewPartitionKeyNumber(7), []byte(stray), nil); err != nil {
		t.Fatal(err)
	}
	p := s.projector(s.store)
	if err := p.SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	letters := s.letters()
	if retries, _ := counted(p); len(letters) != 3 || retries != 0 {
		t.Errorf("%+v after %d retries", letters, retries)
	}
	left := func(want ...string) {
		t.Helper()
		for _, letter := range s.letters() {
			_ = projector.Retry(t.Context(), s.store.DB, letter)
		}
		var got []string
		for _, letter := range s.letters() {
			got = append(got, letter.ItemID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("dead letters of %v, want %v", got, want)
		}
	}
	left(mended.ID, gone.ID, "stray")
	s.changePost(mended, item{"likeCount": 1, "head": blog.PostHead{Title: "Mended"}})
	left(gone.ID, "stray")
	copy := s.read("users", s.anna.ID, mended.ID)
	if copy["head"].(map[string]any)["title"] != "Mended" {
		t.Errorf("the copy is %v", copy)
	}
	s.remove("posts", gone.ID, gone.ID)
	left("stray")
	if _, err := s.container("posts").DeleteItem(t.Context(), azcosmos.NewPartitionKeyNumber(7), "stray", nil); err != nil {
		t.Fatal(err)
	}
	left()
}

// A refused refill of the feed is set aside and blocks nothing.
func TestRefusedRefillIsSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		posts := w.posts(w.user(), views.FeedCapacity+views.FeedSurplus+10)
		w.settle()
		for _, post := range posts[len(posts)-views.FeedCapacity*2/5:] { // which are in the feed
			w.delete(post)
		}
		wire, s := w.wired()
		wire.refuse = refusing("feed", posts[3].ID, http.StatusBadRequest) // part of the refill
		if err := w.projector(s).SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
		if letters := w.letters(); len(letters) == 0 || letters[0].Projection != "feed" {
			t.Errorf("set aside: %+v", letters)
		}
		wire.refuse = nil
		w.retryAll(nil)
		w.settle()
		w.wantViewsEqualSource()
	})
}

// A retry may be interrupted at any request. The next one finishes it.
func TestInterruptedRetries(t *testing.T) {
	for n, died := firstCrash(t), true; died; n += *strideFlag {
		w := newWorld(t)
		anna := w.user()
		posts := w.posts(anna, 2)
		w.like(anna, posts[1])
		w.delete(posts[1])
		refused, s := w.wired()
		refused.refuse = refusing("users", "docs", http.StatusBadRequest)
		if err := w.projector(s).SettleForTests(t.Context()); err != nil {
			t.Fatal(err)
		}
		wire, dying := w.wiredWithoutDelays()
		wire.answerLost = n%2 == 0
		wire.left.Store(n)
		died = false
		for _, letter := range w.letters() {
			died = projector.Retry(t.Context(), dying.DB, letter) != nil || died
		}
		w.retryAll(nil)
		w.settle()
		w.wantViewsEqualSource()
		if t.Failed() {
			t.Fatalf("interrupted at request %d", n)
		}
	}
}
