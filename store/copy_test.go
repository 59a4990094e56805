package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cosmosblog/internal/blog"
	"cosmosblog/store/embedded"
)

// sources gives all items that a copy brings, by container and id, without what the other end makes itself.
func (w *world) sources() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, container := range copiedContainers {
		for _, item := range w.items(container) {
			if container != usersContainer || item.Type == typeUser {
				text, err := item.text()
				w.ok(err)
				found[container+" "+item.PostID+" "+item.ID] = string(text)
			}
		}
	}
	return found
}

// items gives all items of a container, as its change feed shows them.
func (w *world) items(container string) (all []storedItem) {
	w.t.Helper()
	ranges, err := w.FeedRanges(w.ctx(), container)
	w.ok(err)
	for _, r := range ranges {
		for continuation := ""; ; {
			page, err := w.changedItems(w.ctx(), container, r, continuation, 1000)
			w.ok(err)
			if len(page.items) == 0 {
				break
			}
			items, err := storedItems(page.items)
			w.ok(err)
			all, continuation = append(all, items...), page.continuation
		}
	}
	return all
}

func (w *world) copying(to *world) *Copying {
	return &Copying{From: w.Store, To: to.Store, Source: "a test", PageSize: 3, Parallel: 2}
}

func (w *world) copyTo(to *world) Copied {
	w.t.Helper()
	copied, err := w.copying(to).Run(w.ctx())
	w.ok(err)
	return copied
}

// arrived holds the sources of another database to these.
func (w *world) arrived(at *world) {
	w.t.Helper()
	if difference := cmp.Diff(w.sources(), at.sources()); difference != "" {
		w.t.Errorf("the copy differs (- source, + copy):\n%s", difference)
	}
}

// blog writes a little of everything.
func (w *world) blog() (ada, bob *blog.User, posts []*blog.Post) {
	w.t.Helper()
	ada, bob = w.user("Ada"), w.user("Bob")
	for range 5 {
		post := w.post(ada)
		w.comment(bob, post)
		w.like(bob, post)
		w.like(ada, post)
		posts = append(posts, post)
	}
	return ada, bob, posts
}

func (w *world) like(user *blog.User, post *blog.Post) {
	w.t.Helper()
	_, err := w.LikePost(w.ctx(), user, post.ID)
	w.ok(err)
}

func TestCopyBringsEverySource(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.blog()
	_, err := a.DeleteComment(a.ctx(), bob.ID, posts[0].ID, a.comment(bob, posts[0]).ID)
	a.ok(err)
	_, err = a.DeletePost(a.ctx(), ada.ID, posts[1].ID)
	a.ok(err)
	_, err = a.UpdateUser(a.ctx(), bob.ID, "Robert")
	a.ok(err)
	_, err = a.CreatePost(a.ctx(), ada, blog.PostInput{Title: "<b> & \U0001F600", Content: "é \u2028", IdempotencyKey: "key"})
	a.ok(err)
	want := a.sources()
	for name := range want { // what hangs on a deleted post is left to be purged
		item := storedHead{}
		a.ok(decodeInto([]byte(want[name]), &item))
		if item.PostID == posts[1].ID && item.Type != typePost {
			delete(want, name)
		}
	}
	copied := a.copyTo(b)
	if difference := cmp.Diff(want, b.sources()); difference != "" {
		t.Errorf("(- source, + copy):\n%s", difference)
	}
	if copied != (Copied{Users: 2, Usernames: 2, Posts: 6, Comments: 5, Likes: 8}) {
		t.Errorf("it tells of %+v", copied)
	}
	if copied := a.copyTo(b); copied != (Copied{}) {
		t.Errorf("again, it copied %+v", copied)
	}
	if left := b.items(leasesContainer); len(left) > 0 {
		t.Errorf("it left %v", left[0].properties)
	}
}

// divided asks for as much throughput for each new container as several feed ranges carry.
type divided struct{ next transporter }

func (d divided) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/colls") {
		request.Header.Set("x-ms-offer-throughput", "40000")
	}
	return d.next.Do(request)
}

// newDividedWorld is a world whose containers have four feed ranges each.
func newDividedWorld(t *testing.T) *world {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	first, err := OpenEmbedded(t.Context(), engine, Options{Transport: divided{InProcess(engine)}})
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	w := (&world{t: t, engine: engine, clock: &stillClock{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}}).another()
	if ranges, err := w.FeedRanges(t.Context(), postsContainer); err != nil || len(ranges) != 4 {
		t.Fatalf("%d feed ranges: %v", len(ranges), err)
	}
	return w
}

func TestCopyFromAndToSeveralRanges(t *testing.T) {
	a, b, c := newDividedWorld(t), newWorld(t), newDividedWorld(t)
	a.blog()
	a.copyTo(b)
	a.arrived(b)
	b.copyTo(c)
	a.arrived(c)
}

// What is told of progress rises, and ends at the whole.
func TestCopyTellsOfProgress(t *testing.T) {
	a, b := newDividedWorld(t), newWorld(t)
	_, _, posts := a.blog()
	var told []CopyProgress
	copying := a.copying(b)
	copying.Progress = func(p CopyProgress) { told = append(told, p) }
	copied, err := copying.Run(a.ctx())
	a.ok(err)
	for i := 1; i < len(told); i++ {
		if told[i].Done < told[i-1].Done || told[i].Total != told[0].Total {
			t.Errorf("after %+v comes %+v", told[i-1], told[i])
		}
	}
	if last := told[len(told)-1]; last.Done != last.Total || last.Copied != copied || int(copied.Posts) != len(posts) {
		t.Errorf("at the end it tells %+v", last)
	}
}

// A thread that needs several batches is seen by its counts, or not at all.
func TestCopyOfALongThread(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada := a.user("Ada")
	post := a.post(ada)
	for i := range 130 {
		a.like(a.user(fmt.Sprintf("user%d", i)), post)
	}
	for range 120 {
		_, err := a.CreateComment(a.ctx(), ada, blog.CommentInput{PostID: post.ID, Content: longText(9000)})
		a.ok(err)
	}
	a.copyTo(b)
	a.arrived(b)
	b.counts(post.ID, 120, 130)
}

func longText(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return string(text)
}

// A like that comes between the post and its likes is counted where it arrives: what is written at the other end before
// the next page starts from counts that are right.
func TestCopyOfAThreadAsOfOneMoment(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.user("Ada"), a.user("Bob")
	post := a.post(ada)
	var once, twice sync.Once
	a.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if request.Header.Get("Content-Type") == "application/query+json" && strings.Contains(request.URL.Path, "/"+postsContainer+"/") {
			once.Do(func() { a.faults.set(nil); a.like(bob, post) })
		}
		return next.Do(request)
	})
	copying := a.copying(b)
	copying.Progress = func(p CopyProgress) {
		if p.Copied.Posts > 0 {
			twice.Do(func() {
				b.counts(post.ID, 0, 1)
				b.like(b.user("Carl"), post)
			})
		}
	}
	_, err := copying.Run(a.ctx())
	a.ok(err)
	b.counts(post.ID, 0, 2)
}

// What was deleted at the other end does not come back with a change at the source.
func TestCopyLeavesWhatIsDeleted(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.user("Ada"), a.user("Bob")
	post := a.post(ada)
	a.copyTo(b)
	_, err := b.DeletePost(b.ctx(), ada.ID, post.ID)
	b.ok(err)
	_, err = b.DeleteUser(b.ctx(), bob.ID, "Bob")
	b.ok(err)
	for range 3 {
		a.like(ada, post)
		_, err = a.UnlikePost(a.ctx(), ada.ID, post.ID)
		a.ok(err)
	}
	for _, name := range []string{"Robert", "Rob"} {
		_, err = a.UpdateUser(a.ctx(), bob.ID, name)
		a.ok(err)
	}
	a.copyTo(b)
	if _, err := b.Post(b.ctx(), post.ID); !isNotFound(err) {
		t.Errorf("the deleted post: %v", err)
	}
	if _, err := b.User(b.ctx(), bob.ID); !isNotFound(err) {
		t.Errorf("the deleted user: %v", err)
	}
}

// Each end changes usernames in its posts by itself, the other one more often: a later change arrives nevertheless.
func TestCopyAfterRenames(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.user("Ada"), a.user("Bob")
	post := a.post(ada)
	a.like(bob, post)
	a.copyTo(b)
	for _, name := range []string{"Bea", "Cea", "Dea", "Eva"} {
		_, err := a.UpdateUser(a.ctx(), ada.ID, name)
		a.ok(err)
		a.copyTo(b)
		b.renameInPosts(ada.ID)
	}
	a.renameInPosts(ada.ID)
	_, err := a.UnlikePost(a.ctx(), bob.ID, post.ID) // the counts are then as they were
	a.ok(err)
	a.like(a.user("Carl"), post)
	before, _, err := readStored(b.ctx(), b.posts, post.ID, post.ID)
	b.ok(err)
	a.copyTo(b)
	after, _, err := readStored(b.ctx(), b.posts, post.ID, post.ID)
	b.ok(err)
	if after.Revision <= before.Revision {
		t.Errorf("revision %d comes after %d", after.Revision, before.Revision)
	}
	if likes := listAll(b, post.ID, b.Likes); len(likes) != 1 || likes[0].User.Username != "Carl" {
		t.Errorf("%d likes", len(likes))
	}
	if copied := a.copyTo(b); copied != (Copied{}) {
		t.Errorf("again, it copied %+v", copied)
	}
}

func (w *world) renameInPosts(userID string) {
	w.t.Helper()
	user, err := w.User(w.ctx(), userID)
	w.ok(err)
	_, _, err = w.Sweep(w.ctx(), Sweep{UserID: userID, Username: user.Username, AuthorRevision: user.Revision}, w.NewPace(2))
	w.ok(err)
}

// Whose account was deleted and came back, unseen by the other end, arrives there with a revision after that of their
// first life: all that they have written there is theirs, and goes when they do.
func TestCopyOfASecondLife(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada := a.user("Ada")
	for _, name := range []string{"Ada2", "Ada3"} {
		_, err := a.UpdateUser(a.ctx(), ada.ID, name)
		a.ok(err)
	}
	a.copyTo(b)
	first, _, err := readStored(b.ctx(), b.users, ada.ID, ada.ID)
	b.ok(err)
	_, err = a.DeleteUser(a.ctx(), ada.ID, "Ada3")
	a.ok(err)
	marked, _, err := readStored(a.ctx(), a.users, ada.ID, ada.ID)
	a.ok(err)
	a.ok(a.RecordDeletion(a.ctx(), Deletion{UserID: ada.ID, Revision: marked.Revision}))
	pending, err := a.Deletions(a.ctx())
	a.ok(err)
	a.ok(a.FinishDeletion(a.ctx(), pending[0]))
	a.clock.advance(8 * 24 * time.Hour)
	_, err = a.CreateUser(a.ctx(), account("Ada"), "Ada")
	a.ok(err)
	a.copyTo(b)
	second, _, err := readStored(b.ctx(), b.users, ada.ID, ada.ID)
	b.ok(err)
	if second.CreationDate <= first.CreationDate || second.Revision <= first.Revision {
		t.Errorf("after %s comes %s", first.properties, second.properties)
	}
	_, err = a.UpdateUser(a.ctx(), ada.ID, "Adele")
	a.ok(err)
	a.copyTo(b)
	if user, err := b.User(b.ctx(), ada.ID); err != nil || user.Username != "Adele" {
		t.Errorf("renamed, they are %v, %v", user, err)
	}
}

// A copy ends although somebody likes a post, or likes it no more, before each page of the posts.
func TestCopyOfABusySourceEnds(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, _, posts := a.blog()
	carl, other := a.user("Carl"), a.another()
	ctx, die := context.WithCancel(t.Context())
	defer die()
	pages := 0
	a.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if request.Header.Get("A-IM") != "" && strings.Contains(request.URL.Path, "/"+postsContainer+"/") {
			if pages++; pages == 100 {
				die()
			}
			if pages%2 == 1 {
				other.like(carl, posts[0])
			} else {
				_, err := other.UnlikePost(other.ctx(), carl.ID, posts[0].ID)
				other.ok(err)
			}
		}
		return next.Do(request)
	})
	if _, err := a.copying(b).Run(ctx); err != nil {
		t.Fatalf("after %d pages: %v", pages, err)
	}
	a.faults.set(nil)
	a.copyTo(b)
	a.arrived(b)
}

// What changed at the source since the last copy arrives with the next, also what is gone.
func TestCopyAgain(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.blog()
	a.copyTo(b)
	_, err := a.UnlikePost(a.ctx(), bob.ID, posts[0].ID)
	a.ok(err)
	title := "Another title"
	_, err = a.UpdatePost(a.ctx(), ada.ID, posts[1].ID, blog.PostChange{Title: &title})
	a.ok(err)
	_, err = a.UpdateUser(a.ctx(), bob.ID, "Robert")
	a.ok(err)
	_, err = a.UpdateUser(a.ctx(), ada.ID, "Bob")
	a.ok(err)
	a.like(a.user("Carl"), posts[2])
	a.copyTo(b)
	want, got := a.sources(), b.sources()
	delete(got, usernamesContainer+"  ada") // a reservation that nobody believes: its user bears another name
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("(- source, + copy):\n%s", difference)
	}
	b.counts(posts[0].ID, 1, 1)
}

func TestCopyLeavesWhatIsNewer(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.blog()
	a.copyTo(b)
	_, err := b.UpdateUser(b.ctx(), bob.ID, "Robert")
	b.ok(err)
	b.like(b.user("Carl"), posts[0])
	b.comment(ada, posts[1])
	before := b.sources()
	a.like(a.user("Dora"), posts[2])
	a.copyTo(b)
	got := b.sources()
	for name, item := range before {
		if item != got[name] && name[:5] != "posts" || item != got[name] && name[6:34] != posts[2].ID {
			t.Errorf("%s was overwritten: %s, %s", name, item, got[name])
		}
	}
	b.counts(posts[0].ID, 1, 3)
	b.counts(posts[1].ID, 2, 2)
	b.counts(posts[2].ID, 1, 3)
}

func TestCopyNoticesThatANameIsTaken(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.user("Ada")
	_, err := b.CreateUser(b.ctx(), account("somebody else"), "ADA")
	b.ok(err)
	_, err = a.copying(b).Run(a.ctx())
	conflict, ok := errors.AsType[*NameConflictError](err)
	if !ok || conflict.Username != "ADA" {
		t.Fatalf("got %v", err)
	}
	if users := b.items(usersContainer); len(users) != 1 {
		t.Errorf("%d users", len(users))
	}
}

// Who deletes their account while nobody looks is deleted at the other end too, and their username comes along until it is
// free there.
func TestCopyOfADeletedUser(t *testing.T) {
	a, b, late := newWorld(t), newWorld(t), newWorld(t)
	_, bob, _ := a.blog()
	a.copyTo(b)
	_, err := a.DeleteUser(a.ctx(), bob.ID, bob.Username)
	a.ok(err)
	marked, _, err := readStored(a.ctx(), a.users, bob.ID, bob.ID)
	a.ok(err)
	a.ok(a.RecordDeletion(a.ctx(), Deletion{UserID: bob.ID, Revision: marked.Revision}))
	pending, err := a.Deletions(a.ctx())
	a.ok(err)
	_, _, err = a.Delete(a.ctx(), pending[0], a.NewPace(1))
	a.ok(err)
	a.ok(a.FinishDeletion(a.ctx(), pending[0]))
	a.copyTo(b)
	got, _, err := readStored(b.ctx(), b.users, bob.ID, bob.ID)
	b.ok(err)
	if !got.Deleted || got.Username != "Bob" || got.Revision != marked.Revision+1 {
		t.Errorf("the user arrived as %s", got.properties)
	}
	a.copyTo(late)
	if _, _, err := readStored(late.ctx(), late.users, bob.ID, bob.ID); !isNotFound(err) {
		t.Errorf("a user who is gone was copied: %v", err)
	}
}

// Who writes their first post while the copy is at the posts is copied before it.
func TestCopyBringsAuthorsFirst(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.blog()
	var dora *blog.User
	var post *blog.Post
	var once sync.Once
	a.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if request.Header.Get("A-IM") != "" && strings.Contains(request.URL.Path, "/"+postsContainer+"/") {
			once.Do(func() {
				a.faults.set(nil)
				dora = a.user("Dora")
				post = a.post(dora)
			})
		}
		return next.Do(request)
	})
	seen := false
	b.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if post != nil && strings.Contains(request.Header.Get("X-Ms-Documentdb-Partitionkey"), post.ID) && request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" {
			seen = true
			for _, item := range b.items(usersContainer) {
				if item.ID == dora.ID {
					return next.Do(request)
				}
			}
			t.Error("the post comes before its author")
		}
		return next.Do(request)
	})
	a.copyTo(b)
	b.faults.set(nil)
	if !seen {
		t.Error("the post was not copied")
	}
	a.arrived(b)
}

// An edited comment arrives although its post did not change.
func TestCopyOfAnEditedComment(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, bob, posts := a.blog()
	comment := a.comment(bob, posts[0])
	a.copyTo(b)
	var changes azcosmos.PatchOperations
	changes.AppendSet("/content", "Edited.")
	changes.AppendSet("/updatedDate", string(blog.NewDateTime(a.clock.Now())))
	_, err := a.posts.PatchItem(a.ctx(), azcosmos.NewPartitionKeyString(posts[0].ID), comment.ID, changes, nil)
	a.ok(err)
	if copied := a.copyTo(b); copied != (Copied{Comments: 1}) {
		t.Errorf("it copied %+v", copied)
	}
	a.arrived(b)
}

// Two edits bear one date where the second server's clock is behind: the second one arrives as well.
func TestCopyOfAnEditOfTheSameDate(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, bob, posts := a.blog()
	comment := a.comment(bob, posts[0])
	late := a.another()
	first, err := a.UpdateComment(a.ctx(), bob.ID, posts[0].ID, comment.ID, "First edit.")
	a.ok(err)
	a.copyTo(b)
	second, err := late.UpdateComment(late.ctx(), bob.ID, posts[0].ID, comment.ID, "Second edit.")
	a.ok(err)
	if first.UpdatedDate != second.UpdatedDate {
		t.Fatalf("the edits are of %s and %s", first.UpdatedDate, second.UpdatedDate)
	}
	if copied := a.copyTo(b); copied != (Copied{Comments: 1}) {
		t.Errorf("it copied %+v", copied)
	}
	a.arrived(b)
}

// About half of the requests are throttled, at both ends: that is no failure.
func TestCopyWaitsWhereItIsThrottled(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.blog()
	for _, w := range []*world{a, b} {
		w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
			if n < 50 || uint32(n)*2654435761>>16&1 == 0 { // at first for longer than azcore's own patience
				return refusal(request, http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1"), nil
			}
			return next.Do(request)
		})
	}
	a.copyTo(b)
	a.faults.set(nil)
	b.faults.set(nil)
	a.arrived(b)
}

// A copy that dies at any request of either end is gone on with by the next, from where it was.
func TestCopyGoesOnWhereItDied(t *testing.T) {
	a := newWorld(t)
	a.blog()
	full := newWorld(t)
	full.faults.set(nil)
	a.copyTo(full)
	requests := len(full.faults.requests())
	for n := 1; n <= requests; n += 7 {
		b := newWorld(t)
		ctx, die := context.WithCancel(t.Context())
		b.faults.set(func(i int, request *http.Request, next transporter) (*http.Response, error) {
			if i >= n {
				die()
				return nil, errCut
			}
			return next.Do(request)
		})
		if _, err := a.copying(b).Run(ctx); err == nil {
			t.Fatalf("it outlived request %d", n)
		}
		b.faults.set(nil)
		a.copyTo(b)
		if again := len(b.faults.requests()); n > requests/2 && again > requests*3/4 {
			t.Errorf("after dying at request %d of %d, it took another %d", n, requests, again)
		}
		a.arrived(b)
	}
}

// TestCopiesOfALivingDatabase writes at random and copies now and then, with faults: after the last copy, both ends have
// the same.
func TestCopiesOfALivingDatabase(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := newWorld(t), newWorld(t)
		users := []*blog.User{a.user("Ada"), a.user("Bob"), a.user("Carl")}
		posts := []*blog.Post{a.post(users[0])}
		somebody := func() *blog.User { return rapid.SampledFrom(users).Draw(r, "user") }
		something := func() *blog.Post { return rapid.SampledFrom(posts).Draw(r, "post") }
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			switch rapid.IntRange(0, 8).Draw(r, "what") {
			case 0:
				posts = append(posts, a.post(somebody()))
			case 1, 2:
				a.like(somebody(), something())
			case 3:
				_, err := a.UnlikePost(a.ctx(), somebody().ID, something().ID)
				a.ok(err)
			case 4:
				a.comment(somebody(), something())
			case 5:
				post := something()
				if comments := listAll(a, post.ID, a.Comments); len(comments) > 0 {
					_, err := a.DeleteComment(a.ctx(), comments[0].Author.ID, post.ID, comments[0].ID)
					a.ok(err)
				}
			case 6:
				a.clock.advance(time.Second)
			default:
				n := rapid.IntRange(1, 60).Draw(r, "dies at")
				ctx, die := context.WithCancel(t.Context())
				b.faults.set(func(i int, request *http.Request, next transporter) (*http.Response, error) {
					if i >= n {
						die()
						return nil, errCut
					}
					return next.Do(request)
				})
				_, _ = a.copying(b).Run(ctx)
				die()
				b.faults.set(nil)
			}
		}
		a.copyTo(b)
		if difference := cmp.Diff(a.sources(), b.sources()); difference != "" {
			r.Fatalf("(- source, + copy):\n%s", difference)
		}
	})
}
