package transfer_test

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
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
	"cosmosblog/store/transfer"
	"cosmosblog/store/views"
)

// sources gives all items that a copy brings, by container and id, without what the other end makes itself.
func (w *world) sources() map[string]string {
	w.T.Helper()
	found := map[string]string{}
	for _, container := range transfer.CopiedContainers {
		for _, item := range w.items(container) {
			if container != schema.Users || item.Type == schema.TypeUser {
				text, err := item.Text()
				w.OK(err)
				found[container+" "+item.PostID+" "+item.ID] = string(text)
			}
		}
	}
	return found
}

// items gives all items of a container, as its change feed shows them.
func (w *world) items(container string) (all []transfer.StoredItem) {
	w.T.Helper()
	ranges, err := w.FeedRanges(w.Ctx(), container)
	w.OK(err)
	for _, r := range ranges {
		for continuation := ""; ; {
			page, err := w.ReadPage(w.Ctx(), container, r, continuation, 1000)
			w.OK(err)
			if len(page.Items) == 0 {
				break
			}
			items, err := transfer.StoredItems(page.Items)
			w.OK(err)
			all, continuation = append(all, items...), page.Continuation
		}
	}
	return all
}

// copyOptions read small pages.
func copyOptions() transfer.Options {
	return transfer.Options{Source: "a test", PageSize: 3, Parallel: 2}
}

func (w *world) copyTo(to *world) transfer.Copied {
	w.T.Helper()
	copied, err := transfer.Copy(w.Ctx(), w.DB, to.DB, copyOptions())
	w.OK(err)
	return copied
}

// arrived holds the sources of another database to these.
func (w *world) arrived(at *world) {
	w.T.Helper()
	if difference := cmp.Diff(w.sources(), at.sources()); difference != "" {
		w.T.Errorf("the copy differs (- source, + copy):\n%s", difference)
	}
}

// blog writes a little of everything.
func (w *world) blog() (ada, bob *blog.User, posts []*blog.Post) {
	w.T.Helper()
	ada, bob = w.AddUser("Ada"), w.AddUser("Bob")
	for range 5 {
		post := w.AddPost(ada)
		w.AddComment(bob, post)
		w.AddLike(bob, post)
		w.AddLike(ada, post)
		posts = append(posts, post)
	}
	return ada, bob, posts
}

func TestCopyBringsEverySource(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.blog()
	_, err := a.DeleteComment(a.Ctx(), bob.ID, posts[0].ID, a.AddComment(bob, posts[0]).ID)
	a.OK(err)
	_, err = a.DeletePost(a.Ctx(), ada.ID, posts[1].ID)
	a.OK(err)
	_, err = a.UpdateUser(a.Ctx(), bob.ID, "Robert")
	a.OK(err)
	_, err = a.CreatePost(a.Ctx(), ada, blog.PostInput{Title: "<b> & \U0001F600", Content: "é \u2028", IdempotencyKey: "key"})
	a.OK(err)
	want := a.sources()
	for name := range want { // what hangs on a deleted post is left to be purged
		item := transfer.StoredHead{}
		a.OK(cosmos.Decode([]byte(want[name]), &item))
		if item.PostID == posts[1].ID && item.Type != schema.TypePost {
			delete(want, name)
		}
	}
	copied := a.copyTo(b)
	if difference := cmp.Diff(want, b.sources()); difference != "" {
		t.Errorf("(- source, + copy):\n%s", difference)
	}
	if copied != (transfer.Copied{Users: 2, Usernames: 2, Posts: 6, Comments: 5, Likes: 8}) {
		t.Errorf("it tells of %+v", copied)
	}
	if copied := a.copyTo(b); copied != (transfer.Copied{}) {
		t.Errorf("again, it copied %+v", copied)
	}
	if left := b.items(schema.Leases); len(left) > 0 {
		t.Errorf("it left %v", left[0])
	}
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
	var told []transfer.Progress
	options := copyOptions()
	options.Progress = func(p transfer.Progress) { told = append(told, p) }
	copied, err := transfer.Copy(a.Ctx(), a.DB, b.DB, options)
	a.OK(err)
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
	ada := a.AddUser("Ada")
	post := a.AddPost(ada)
	for i := range 130 {
		a.AddLike(a.AddUser(fmt.Sprintf("user%d", i)), post)
	}
	for range 120 {
		_, err := a.CreateComment(a.Ctx(), ada, blog.CommentInput{PostID: post.ID, Content: longText(9000)})
		a.OK(err)
	}
	a.copyTo(b)
	a.arrived(b)
	b.HoldsCounts(post.ID, 120, 130)
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
	ada, bob := a.AddUser("Ada"), a.AddUser("Bob")
	post := a.AddPost(ada)
	var once, twice sync.Once
	a.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get("Content-Type") == "application/query+json" && strings.Contains(request.URL.Path, "/"+schema.Posts+"/") {
			once.Do(func() { a.Faults.Set(nil); a.AddLike(bob, post) })
		}
		return next.Do(request)
	})
	options := copyOptions()
	options.Progress = func(p transfer.Progress) {
		if p.Copied.Posts > 0 {
			twice.Do(func() {
				b.HoldsCounts(post.ID, 0, 1)
				b.AddLike(b.AddUser("Carl"), post)
			})
		}
	}
	_, err := transfer.Copy(a.Ctx(), a.DB, b.DB, options)
	a.OK(err)
	b.HoldsCounts(post.ID, 0, 2)
}

// What was deleted at the other end does not come back with a change at the source.
func TestCopyLeavesWhatIsDeleted(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.AddUser("Ada"), a.AddUser("Bob")
	post := a.AddPost(ada)
	a.copyTo(b)
	_, err := b.DeletePost(b.Ctx(), ada.ID, post.ID)
	b.OK(err)
	_, err = b.DeleteUser(b.Ctx(), bob.ID, "Bob")
	b.OK(err)
	for range 3 {
		a.AddLike(ada, post)
		_, err = a.UnlikePost(a.Ctx(), ada.ID, post.ID)
		a.OK(err)
	}
	for _, name := range []string{"Robert", "Rob"} {
		_, err = a.UpdateUser(a.Ctx(), bob.ID, name)
		a.OK(err)
	}
	a.copyTo(b)
	if _, err := b.Post(b.Ctx(), post.ID); !cosmos.IsNotFound(err) {
		t.Errorf("the deleted post: %v", err)
	}
	if _, err := b.User(b.Ctx(), bob.ID); !cosmos.IsNotFound(err) {
		t.Errorf("the deleted user: %v", err)
	}
}

// Each end changes usernames in its posts by itself, the other one more often: a later change arrives nevertheless.
func TestCopyAfterRenames(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.AddUser("Ada"), a.AddUser("Bob")
	post := a.AddPost(ada)
	a.AddLike(bob, post)
	a.copyTo(b)
	for _, name := range []string{"Bea", "Cea", "Dea", "Eva"} {
		_, err := a.UpdateUser(a.Ctx(), ada.ID, name)
		a.OK(err)
		a.copyTo(b)
		b.renameInPosts(ada.ID)
	}
	a.renameInPosts(ada.ID)
	_, err := a.UnlikePost(a.Ctx(), bob.ID, post.ID) // the counts are then as they were
	a.OK(err)
	a.AddLike(a.AddUser("Carl"), post)
	before, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Posts), post.ID, post.ID)
	b.OK(err)
	a.copyTo(b)
	after, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Posts), post.ID, post.ID)
	b.OK(err)
	if after.Revision <= before.Revision {
		t.Errorf("revision %d comes after %d", after.Revision, before.Revision)
	}
	if likes := storetest.ListAll(b.World, post.ID, b.Likes); len(likes) != 1 || likes[0].User.Username != "Carl" {
		t.Errorf("%d likes", len(likes))
	}
	if copied := a.copyTo(b); copied != (transfer.Copied{}) {
		t.Errorf("again, it copied %+v", copied)
	}
}

func (w *world) renameInPosts(userID string) {
	w.T.Helper()
	user, err := w.User(w.Ctx(), userID)
	w.OK(err)
	_, _, err = w.Sweep(w.Ctx(), views.Sweep{UserID: userID, Username: user.Username, AuthorRevision: user.Revision}, w.NewThrottler(2))
	w.OK(err)
}

// Whose account was deleted and came back, unseen by the other end, arrives there with a revision after that of their
// first life: all that they have written there is theirs, and goes when they do.
func TestCopyOfASecondLife(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada := a.AddUser("Ada")
	for _, name := range []string{"Ada2", "Ada3"} {
		_, err := a.UpdateUser(a.Ctx(), ada.ID, name)
		a.OK(err)
	}
	a.copyTo(b)
	first, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Users), ada.ID, ada.ID)
	b.OK(err)
	_, err = a.DeleteUser(a.Ctx(), ada.ID, "Ada3")
	a.OK(err)
	marked, _, err := transfer.ReadStored(a.Ctx(), a.Container(schema.Users), ada.ID, ada.ID)
	a.OK(err)
	a.OK(a.RecordDeletion(a.Ctx(), views.Deletion{UserID: ada.ID, Revision: marked.Revision}))
	pending, err := a.Deletions(a.Ctx())
	a.OK(err)
	a.OK(a.FinishDeletion(a.Ctx(), pending[0]))
	a.Clock.Advance(8 * 24 * time.Hour)
	_, err = a.CreateUser(a.Ctx(), storetest.Account("Ada"), "Ada")
	a.OK(err)
	a.copyTo(b)
	second, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Users), ada.ID, ada.ID)
	b.OK(err)
	if second.CreationDate <= first.CreationDate || second.Revision <= first.Revision {
		t.Errorf("after %v comes %v", first, second)
	}
	_, err = a.UpdateUser(a.Ctx(), ada.ID, "Adele")
	a.OK(err)
	a.copyTo(b)
	if user, err := b.User(b.Ctx(), ada.ID); err != nil || user.Username != "Adele" {
		t.Errorf("renamed, they are %v, %v", user, err)
	}
}

// A copy ends although somebody likes a post, or likes it no more, before each page of the posts.
func TestCopyOfABusySourceEnds(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, _, posts := a.blog()
	carl, other := a.AddUser("Carl"), a.another()
	ctx, die := context.WithCancel(t.Context())
	defer die()
	pages := 0
	a.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get("A-IM") != "" && strings.Contains(request.URL.Path, "/"+schema.Posts+"/") {
			if pages++; pages == 100 {
				die()
			}
			if pages%2 == 1 {
				other.AddLike(carl, posts[0])
			} else {
				_, err := other.UnlikePost(other.Ctx(), carl.ID, posts[0].ID)
				other.OK(err)
			}
		}
		return next.Do(request)
	})
	if _, err := transfer.Copy(ctx, a.DB, b.DB, copyOptions()); err != nil {
		t.Fatalf("after %d pages: %v", pages, err)
	}
	a.Faults.Set(nil)
	a.copyTo(b)
	a.arrived(b)
}

// What changed at the source since the last copy arrives with the next, also what is gone.
func TestCopyAgain(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.blog()
	a.copyTo(b)
	_, err := a.UnlikePost(a.Ctx(), bob.ID, posts[0].ID)
	a.OK(err)
	title := "Another title"
	_, err = a.UpdatePost(a.Ctx(), ada.ID, posts[1].ID, blog.PostChange{Title: &title})
	a.OK(err)
	_, err = a.UpdateUser(a.Ctx(), bob.ID, "Robert")
	a.OK(err)
	_, err = a.UpdateUser(a.Ctx(), ada.ID, "Bob")
	a.OK(err)
	a.AddLike(a.AddUser("Carl"), posts[2])
	a.copyTo(b)
	want, got := a.sources(), b.sources()
	delete(got, schema.Usernames+"  ada") // a reservation that nobody believes: its user bears another name
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("(- source, + copy):\n%s", difference)
	}
	b.HoldsCounts(posts[0].ID, 1, 1)
}

func TestCopyLeavesWhatIsNewer(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.blog()
	a.copyTo(b)
	_, err := b.UpdateUser(b.Ctx(), bob.ID, "Robert")
	b.OK(err)
	b.AddLike(b.AddUser("Carl"), posts[0])
	b.AddComment(ada, posts[1])
	before := b.sources()
	a.AddLike(a.AddUser("Dora"), posts[2])
	a.copyTo(b)
	got := b.sources()
	for name, item := range before {
		if item != got[name] && name[:5] != "posts" || item != got[name] && name[6:34] != posts[2].ID {
			t.Errorf("%s was overwritten: %s, %s", name, item, got[name])
		}
	}
	b.HoldsCounts(posts[0].ID, 1, 3)
	b.HoldsCounts(posts[1].ID, 2, 2)
	b.HoldsCounts(posts[2].ID, 1, 3)
}

func TestCopyNoticesThatANameIsTaken(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.AddUser("Ada")
	_, err := b.CreateUser(b.Ctx(), storetest.Account("somebody else"), "ADA")
	b.OK(err)
	_, err = transfer.Copy(a.Ctx(), a.DB, b.DB, copyOptions())
	conflict, ok := errors.AsType[*transfer.NameConflictError](err)
	if !ok || conflict.Username != "ADA" {
		t.Fatalf("got %v", err)
	}
	if users := b.items(schema.Users); len(users) != 1 {
		t.Errorf("%d users", len(users))
	}
}

// Who deletes their account while nobody looks is deleted at the other end too, and their username comes along until it is
// free there.
func TestCopyOfADeletedUser(t *testing.T) {
	a, b, late := newWorld(t), newWorld(t), newWorld(t)
	_, bob, _ := a.blog()
	a.copyTo(b)
	_, err := a.DeleteUser(a.Ctx(), bob.ID, bob.Username)
	a.OK(err)
	marked, _, err := transfer.ReadStored(a.Ctx(), a.Container(schema.Users), bob.ID, bob.ID)
	a.OK(err)
	a.OK(a.RecordDeletion(a.Ctx(), views.Deletion{UserID: bob.ID, Revision: marked.Revision}))
	pending, err := a.Deletions(a.Ctx())
	a.OK(err)
	_, _, err = a.Delete(a.Ctx(), pending[0], a.NewThrottler(1))
	a.OK(err)
	a.OK(a.FinishDeletion(a.Ctx(), pending[0]))
	a.copyTo(b)
	got, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Users), bob.ID, bob.ID)
	b.OK(err)
	if !got.Deleted || got.Username != "Bob" || got.Revision != marked.Revision+1 {
		t.Errorf("the user arrived as %v", got)
	}
	a.copyTo(late)
	if _, _, err := transfer.ReadStored(late.Ctx(), late.Container(schema.Users), bob.ID, bob.ID); !cosmos.IsNotFound(err) {
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
	a.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get("A-IM") != "" && strings.Contains(request.URL.Path, "/"+schema.Posts+"/") {
			once.Do(func() {
				a.Faults.Set(nil)
				dora = a.AddUser("Dora")
				post = a.AddPost(dora)
			})
		}
		return next.Do(request)
	})
	seen := false
	b.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if post != nil && strings.Contains(request.Header.Get("X-Ms-Documentdb-Partitionkey"), post.ID) && request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != "" {
			seen = true
			for _, item := range b.items(schema.Users) {
				if item.ID == dora.ID {
					return next.Do(request)
				}
			}
			t.Error("the post comes before its author")
		}
		return next.Do(request)
	})
	a.copyTo(b)
	b.Faults.Set(nil)
	if !seen {
		t.Error("the post was not copied")
	}
	a.arrived(b)
}

// An edited comment arrives although its post did not change.
func TestCopyOfAnEditedComment(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, bob, posts := a.blog()
	comment := a.AddComment(bob, posts[0])
	a.copyTo(b)
	var changes azcosmos.PatchOperations
	changes.AppendSet("/content", "Edited.")
	changes.AppendSet("/updatedDate", string(blog.NewDateTime(a.Clock.Now())))
	_, err := a.Container(schema.Posts).PatchItem(a.Ctx(), azcosmos.NewPartitionKeyString(posts[0].ID), comment.ID, changes, nil)
	a.OK(err)
	if copied := a.copyTo(b); copied != (transfer.Copied{Comments: 1}) {
		t.Errorf("it copied %+v", copied)
	}
	a.arrived(b)
}

// Two edits bear one date where the second server's clock is behind: the second one arrives as well.
func TestCopyOfAnEditOfTheSameDate(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, bob, posts := a.blog()
	comment := a.AddComment(bob, posts[0])
	late := a.another()
	first, err := a.UpdateComment(a.Ctx(), bob.ID, posts[0].ID, comment.ID, "First edit.")
	a.OK(err)
	a.copyTo(b)
	second, err := late.UpdateComment(late.Ctx(), bob.ID, posts[0].ID, comment.ID, "Second edit.")
	a.OK(err)
	if first.UpdatedDate != second.UpdatedDate {
		t.Fatalf("the edits are of %s and %s", first.UpdatedDate, second.UpdatedDate)
	}
	if copied := a.copyTo(b); copied != (transfer.Copied{Comments: 1}) {
		t.Errorf("it copied %+v", copied)
	}
	a.arrived(b)
}

// About half of the requests are throttled, at both ends: that is no failure.
func TestCopyWaitsWhereItIsThrottled(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.blog()
	for _, w := range []*world{a, b} {
		w.Faults.Set(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n < 50 || uint32(n)*2654435761>>16&1 == 0 { // at first for longer than azcore's own patience
				return storetest.Refusal(request, http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1"), nil
			}
			return next.Do(request)
		})
	}
	a.copyTo(b)
	a.Faults.Set(nil)
	b.Faults.Set(nil)
	a.arrived(b)
}

// A copy that dies at any request of either end is gone on with by the next, from where it was.
func TestCopyGoesOnWhereItDied(t *testing.T) {
	a := newWorld(t)
	a.blog()
	full := newWorld(t)
	full.Faults.Set(nil)
	a.copyTo(full)
	requests := len(full.Faults.Requests())
	for n := 1; n <= requests; n += 7 {
		b := newWorld(t)
		ctx, die := context.WithCancel(t.Context())
		b.Faults.Set(func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if i >= n {
				die()
				return nil, storetest.ErrCut
			}
			return next.Do(request)
		})
		if _, err := transfer.Copy(ctx, a.DB, b.DB, copyOptions()); err == nil {
			t.Fatalf("it outlived request %d", n)
		}
		b.Faults.Set(nil)
		a.copyTo(b)
		if again := len(b.Faults.Requests()); n > requests/2 && again > requests*3/4 {
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
		users := []*blog.User{a.AddUser("Ada"), a.AddUser("Bob"), a.AddUser("Carl")}
		posts := []*blog.Post{a.AddPost(users[0])}
		somebody := func() *blog.User { return rapid.SampledFrom(users).Draw(r, "user") }
		something := func() *blog.Post { return rapid.SampledFrom(posts).Draw(r, "post") }
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			switch rapid.IntRange(0, 8).Draw(r, "what") {
			case 0:
				posts = append(posts, a.AddPost(somebody()))
			case 1, 2:
				a.AddLike(somebody(), something())
			case 3:
				_, err := a.UnlikePost(a.Ctx(), somebody().ID, something().ID)
				a.OK(err)
			case 4:
				a.AddComment(somebody(), something())
			case 5:
				post := something()
				if comments := storetest.ListAll(a.World, post.ID, a.Comments); len(comments) > 0 {
					_, err := a.DeleteComment(a.Ctx(), comments[0].Author.ID, post.ID, comments[0].ID)
					a.OK(err)
				}
			case 6:
				a.Clock.Advance(time.Second)
			default:
				n := rapid.IntRange(1, 60).Draw(r, "dies at")
				ctx, die := context.WithCancel(t.Context())
				b.Faults.Set(func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
					if i >= n {
						die()
						return nil, storetest.ErrCut
					}
					return next.Do(request)
				})
				_, _ = transfer.Copy(ctx, a.DB, b.DB, copyOptions())
				die()
				b.Faults.Set(nil)
			}
		}
		a.copyTo(b)
		if difference := cmp.Diff(a.sources(), b.sources()); difference != "" {
			r.Fatalf("(- source, + copy):\n%s", difference)
		}
	})
}
