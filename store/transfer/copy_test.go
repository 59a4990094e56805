package transfer_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	gocmp "github.com/google/go-cmp/cmp"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
	"cosmosblog/store/transfer"
)

// sources returns the text of all items that a copy writes, by container, post and id.
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

// items returns all items of a container.
func (w *world) items(container string) (all []transfer.StoredItem) {
	w.T.Helper()
	for step, err := range w.Follower(1000).Follow(w.Ctx(), []follow.Position{{Feed: follow.AllItems(container)}}) {
		w.OK(err)
		items, err := transfer.StoredItems(step.Items)
		w.OK(err)
		all = append(all, items...)
	}
	return all
}

// copyOptions returns options with small pages.
func copyOptions() transfer.Options {
	return transfer.Options{Source: "a test"}.SmallPages(3)
}

func (w *world) copyTo(to *world) transfer.Copied {
	w.T.Helper()
	copied, err := transfer.Copy(w.Ctx(), w.DB, to.DB, copyOptions())
	w.OK(err)
	return copied
}

// hasSameSources checks that another database has the same sources.
func (w *world) hasSameSources(at *world) {
	w.T.Helper()
	if difference := gocmp.Diff(w.sources(), at.sources()); difference != "" {
		w.T.Errorf("the copy differs (- source, + copy):\n%s", difference)
	}
}

// addBlog adds users, posts, comments and likes.
func (w *world) addBlog() (ada, bob *blog.User, posts []*blog.Post) {
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

func TestCopyWritesEverySource(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.addBlog()
	_, err := a.DeleteComment(a.Ctx(), bob.ID, posts[0].ID, a.AddComment(bob, posts[0]).ID)
	a.OK(err)
	_, err = a.DeletePost(a.Ctx(), ada.ID, posts[1].ID)
	a.OK(err)
	_, err = a.UpdateUser(a.Ctx(), bob.ID, "Robert")
	a.OK(err)
	_, err = a.CreatePost(a.Ctx(), ada, blog.CreatePostInput{Title: "<b> & \U0001F600", Content: "é \u2028", IdempotencyKey: new("key")})
	a.OK(err)
	want := a.sources()
	for name := range want { // the comments and likes of a deleted post are not copied
		var item transfer.StoredHead
		a.OK(cosmos.Decode([]byte(want[name]), &item))
		if item.PostID == posts[1].ID && item.Type != schema.TypePost {
			delete(want, name)
		}
	}
	copied := a.copyTo(b)
	if difference := gocmp.Diff(want, b.sources()); difference != "" {
		t.Errorf("(- source, + copy):\n%s", difference)
	}
	if copied != (transfer.Copied{Users: 2, Usernames: 2, Posts: 6, Comments: 5, Likes: 8}) {
		t.Errorf("copied %+v", copied)
	}
	if copied := a.copyTo(b); copied != (transfer.Copied{}) {
		t.Errorf("the second copy wrote %+v", copied)
	}
	for _, left := range b.items(schema.Leases) {
		if left.ID != "format" && !strings.HasPrefix(left.ID, "copy.") {
			t.Errorf("the copy left %v in leases", left)
		}
	}
}

// Deleted items that have their ttl are copied as items that do not have it yet. The target's
// projector then finishes their deletion there. Their text is not copied.
func TestCopyOfFinishedDeletions(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.addBlog()
	comment := a.AddComment(bob, posts[0])
	_, err := a.DeleteComment(a.Ctx(), bob.ID, posts[0].ID, comment.ID)
	a.OK(err)
	a.OK(a.ExpireComment(a.Ctx(), posts[0].ID, comment.ID, bob.ID))
	a.RemovePost(posts[1])
	a.OK(a.PurgePost(a.Ctx(), posts[1].ID))

	a.copyTo(b)
	for id, author := range map[string]string{comment.ID: bob.ID, posts[1].ID: ada.ID} {
		post := posts[0].ID
		if id == posts[1].ID {
			post = id
		}
		item, _, err := cosmos.Read[map[string]any](b.Ctx(), b.Container(schema.Posts), post, id)
		b.OK(err)
		if i := *item; i["deleted"] != true || i["ttl"] != nil || i["userId"] != author || i["authorId"] != nil || i["content"] != "" {
			t.Errorf("the copy of a deleted item is %v", i)
		}
	}
	b.OK(b.ExpireComment(b.Ctx(), posts[0].ID, comment.ID, bob.ID))
	b.OK(b.PurgePost(b.Ctx(), posts[1].ID))
	if copied := a.copyTo(b); copied != (transfer.Copied{}) {
		t.Errorf("the second copy wrote %+v", copied)
	}
	a.AddComment(bob, posts[0]) // the thread is copied again, except its tombstone
	if copied := a.copyTo(b); copied.Comments != 1 || copied.Posts != 1 {
		t.Errorf("after another comment, the copy wrote %+v", copied)
	}
}

func TestCopyBetweenSeveralFeedRanges(t *testing.T) {
	a, b, c := newDividedWorld(t), newWorld(t), newDividedWorld(t)
	a.addBlog()
	a.copyTo(b)
	a.hasSameSources(b)
	b.copyTo(c)
	a.hasSameSources(c)
}

// The reported progress never falls, has the same total from the first call, and ends at it.
func TestCopyReportsProgress(t *testing.T) {
	a, b := newDividedWorld(t), newWorld(t)
	_, _, posts := a.addBlog()
	var reports []follow.Progress
	options, last := copyOptions(), transfer.Copied{}
	options.Progress = func(p follow.Progress, c transfer.Copied) { reports, last = append(reports, p), c }
	copied, err := transfer.Copy(a.Ctx(), a.DB, b.DB, options)
	a.OK(err)
	for i := 1; i < len(reports); i++ {
		if reports[i].Done < reports[i-1].Done || reports[i].Total != reports[0].Total {
			t.Errorf("%+v is followed by %+v", reports[i-1], reports[i])
		}
	}
	if end := reports[len(reports)-1]; end.Done != end.Total || last != copied || int(copied.Posts) != len(posts) {
		t.Errorf("the last progress is %+v, %+v", end, last)
	}
}

// A thread that needs several batches is copied completely, and its counters are right.
func TestCopyOfLongThread(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada := a.AddUser("Ada")
	post := a.AddPost(ada)
	for i := range 130 {
		a.AddLike(a.AddUser(fmt.Sprintf("user%d", i)), post)
	}
	for range 120 {
		_, err := a.CreateComment(a.Ctx(), ada, blog.CreateCommentInput{PostID: post.Ref(), Content: longText(blog.MaxCommentLength - 1)})
		a.OK(err)
	}
	a.copyTo(b)
	a.hasSameSources(b)
	b.HoldsCounts(post.ID, 120, 130)
}

func longText(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return string(text)
}

// A like that is added while the copy reads the post and its likes is counted in the target.
func TestCopyReadsThreadAtOneMoment(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.AddUser("Ada"), a.AddUser("Bob")
	post := a.AddPost(ada)
	var once, twice sync.Once
	a.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		isQuery := request.Header.Get("Content-Type") == "application/query+json"
		if isQuery && strings.Contains(request.URL.Path, "/"+schema.Posts+"/") {
			once.Do(func() { a.Wire.Inject(nil); a.AddLike(bob, post) })
		}
		return next.Do(request)
	})
	options := copyOptions()
	options.Progress = func(_ follow.Progress, c transfer.Copied) {
		if c.Posts > 0 {
			twice.Do(func() { b.HoldsCounts(post.ID, 0, 1) })
		}
	}
	_, err := transfer.Copy(a.Ctx(), a.DB, b.DB, options)
	a.OK(err)
	a.hasSameSources(b)
}

// Only an empty database, or one with copies from the same source, is a target.
func TestCopyIntoADatabaseInUse(t *testing.T) {
	for _, container := range transfer.CopiedContainers {
		a, b := newWorld(t), newWorld(t)
		a.addBlog()
		b.addBlog()
		for _, other := range transfer.CopiedContainers {
			for _, item := range b.items(other) {
				if other != container {
					_, err := b.Container(other).DeleteItem(b.Ctx(), azcosmos.NewPartitionKeyString(cmp.Or(item.PostID, item.ID)), item.ID, nil)
					b.OK(err)
				}
			}
		}
		before := b.sources()
		if _, err := transfer.Copy(a.Ctx(), a.DB, b.DB, copyOptions()); !isRefused(err, "not copied from this source") {
			t.Errorf("with items in %s: %v", container, err)
		}
		if difference := gocmp.Diff(before, b.sources()); difference != "" {
			t.Errorf("the copy that was refused has changed (-, +):\n%s", difference)
		}
	}
	a, b, c := newWorld(t), newWorld(t), newWorld(t)
	a.addBlog()
	c.addBlog()
	a.copyTo(b)
	if _, err := transfer.Copy(c.Ctx(), c.DB, b.DB, transfer.Options{Source: "another"}); !isRefused(err, "not copied from this source") {
		t.Errorf("a copy from another source: %v", err)
	}
}

// isRefused reports whether an error is that of a copy that needs an empty target, for a reason.
func isRefused(err error, reason string) bool {
	refused, ok := errors.AsType[*transfer.EmptyTargetError](err)
	return ok && strings.Contains(refused.Error(), reason)
}

// A copy after six days is refused: the source may have forgotten what was deleted since.
func TestCopyAfterDeletionsHaveExpired(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, _, posts := a.addBlog()
	a.copyTo(b)
	for range 3 { // the age is that of the last copy, and not of the last change
		a.Clock.Advance(5 * 24 * time.Hour)
		a.copyTo(b)
	}
	_, err := a.DeletePost(a.Ctx(), ada.ID, posts[0].ID)
	a.OK(err)
	a.Clock.Advance(7 * 24 * time.Hour)
	if _, err := transfer.Copy(a.Ctx(), a.DB, b.DB, copyOptions()); !isRefused(err, "too late") {
		t.Errorf("after a week: %v", err)
	}
}

// Both databases sweep usernames through their posts independently, the target more often. A
// later change of the source must still be copied.
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
	_, err := a.UnlikePost(a.Ctx(), bob, post.ID) // with the next like, the counters are as before
	a.OK(err)
	a.AddLike(a.AddUser("Carl"), post)
	before, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Posts), post.ID, post.ID)
	b.OK(err)
	a.copyTo(b)
	after, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Posts), post.ID, post.ID)
	b.OK(err)
	if after.Revision <= before.Revision {
		t.Errorf("revision %d follows %d", after.Revision, before.Revision)
	}
	if likes := storetest.ListAll(b.World, post.ID, b.Likes); len(likes) != 1 || likes[0].User.Username != "Carl" {
		t.Errorf("the post has %d likes", len(likes))
	}
	if copied := a.copyTo(b); copied != (transfer.Copied{}) {
		t.Errorf("the second copy wrote %+v", copied)
	}
}

func (w *world) renameInPosts(userID string) {
	w.T.Helper()
	user, err := w.User(w.Ctx(), userID)
	w.OK(err)
	sweep := chores.Sweep{UserID: userID, Username: user.Username, AuthorRevision: user.Revision}
	_, err = chores.Run(w.Ctx(), w.SweepPass(sweep))
	w.OK(err)
}

// An account is deleted and created again. The new user is copied with a
// greater revision than the old one. All that the account wrote in the target then belongs to
// the new user, and is deleted with that user.
func TestCopyOfRecreatedUser(t *testing.T) {
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
	a.OK(a.RecordDeletion(a.Ctx(), chores.Deletion{UserID: ada.ID, Revision: marked.Revision}))
	pending, err := a.Deletions(a.Ctx())
	a.OK(err)
	a.OK(a.FinishDeletion(a.Ctx(), pending[0]))
	for range 2 { // the tombstone expires after seven days
		a.Clock.Advance(4 * 24 * time.Hour)
		a.copyTo(b)
	}
	_, err = a.CreateUser(a.Ctx(), storetest.Account("Ada"), "Ada")
	a.OK(err)
	a.copyTo(b)
	second, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Users), ada.ID, ada.ID)
	b.OK(err)
	if second.Deleted || second.Revision <= first.Revision {
		t.Errorf("%v is followed by %v", first, second)
	}
	_, err = a.UpdateUser(a.Ctx(), ada.ID, "Adele")
	a.OK(err)
	a.copyTo(b)
	if user, err := b.User(b.Ctx(), ada.ID); err != nil || user.Username != "Adele" {
		t.Errorf("the renamed user is %v, %v", user, err)
	}
}

// A copy ends although a post is liked or unliked before each page of the posts.
func TestCopyOfBusySourceEnds(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, _, posts := a.addBlog()
	carl, other := a.AddUser("Carl"), a.another()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pages := 0
	a.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get("A-IM") != "" && strings.Contains(request.URL.Path, "/"+schema.Posts+"/") {
			if pages++; pages == 100 {
				cancel()
			}
			if pages%2 == 1 {
				other.AddLike(carl, posts[0])
			} else {
				_, err := other.UnlikePost(other.Ctx(), carl, posts[0].ID)
				other.OK(err)
			}
		}
		return next.Do(request)
	})
	if _, err := transfer.Copy(ctx, a.DB, b.DB, copyOptions()); err != nil {
		t.Fatalf("after %d pages: %v", pages, err)
	}
	a.Wire.Inject(nil)
	a.copyTo(b)
	a.hasSameSources(b)
}

// The next copy writes what changed in the source since the last one, including deletions.
func TestCopyOfChanges(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob, posts := a.addBlog()
	a.copyTo(b)
	_, err := a.UnlikePost(a.Ctx(), bob, posts[0].ID)
	a.OK(err)
	title := "Another title"
	_, err = a.UpdatePost(a.Ctx(), ada.ID, blog.UpdatePostInput{ID: posts[1].Ref(), PostChange: blog.PostChange{Title: &title}})
	a.OK(err)
	_, err = a.UpdateUser(a.Ctx(), bob.ID, "Robert")
	a.OK(err)
	_, err = a.UpdateUser(a.Ctx(), ada.ID, "Bob")
	a.OK(err)
	a.AddLike(a.AddUser("Carl"), posts[2])
	a.copyTo(b)
	want, got := a.sources(), b.sources()
	delete(got, schema.Usernames+"  ada") // stale: its user has another username
	if difference := gocmp.Diff(want, got); difference != "" {
		t.Errorf("(- source, + copy):\n%s", difference)
	}
	b.HoldsCounts(posts[0].ID, 1, 1)
}

// A user who was deleted between two copies is deleted in the target too. The tombstone keeps
// the username until its reservation there is deleted.
func TestCopyOfDeletedUser(t *testing.T) {
	a, b, late := newWorld(t), newWorld(t), newWorld(t)
	_, bob, _ := a.addBlog()
	a.copyTo(b)
	_, err := a.DeleteUser(a.Ctx(), bob.ID, bob.Username)
	a.OK(err)
	marked, _, err := transfer.ReadStored(a.Ctx(), a.Container(schema.Users), bob.ID, bob.ID)
	a.OK(err)
	a.OK(a.RecordDeletion(a.Ctx(), chores.Deletion{UserID: bob.ID, Revision: marked.Revision}))
	pending, err := a.Deletions(a.Ctx())
	a.OK(err)
	_, err = chores.Run(a.Ctx(), a.DeletionPass(pending[0]))
	a.OK(err)
	a.OK(a.FinishDeletion(a.Ctx(), pending[0]))
	a.copyTo(b)
	got, _, err := transfer.ReadStored(b.Ctx(), b.Container(schema.Users), bob.ID, bob.ID)
	b.OK(err)
	if !got.Deleted || got.Username != "Bob" || got.Revision != marked.Revision+1 {
		t.Errorf("the user was copied as %v", got)
	}
	a.copyTo(late)
	_, _, err = transfer.ReadStored(late.Ctx(), late.Container(schema.Users), bob.ID, bob.ID)
	if !cosmos.IsNotFound(err) {
		t.Errorf("reading a deleted user in a new target: %v", err)
	}
}

// An edited comment is copied although its post did not change, because it is not a recent one.
func TestCopyOfEditedComment(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, bob, posts := a.addBlog()
	comment := a.AddComment(bob, posts[0])
	for range blog.MaxRecentComments {
		a.AddComment(bob, posts[0])
	}
	a.copyTo(b)
	_, err := a.UpdateComment(a.Ctx(), bob.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: "Edited."})
	a.OK(err)
	if copied := a.copyTo(b); copied != (transfer.Copied{Comments: 1}) {
		t.Errorf("copied %+v", copied)
	}
	a.hasSameSources(b)
}

// Two edits have the same date if the second server's clock is behind. The second edit is
// copied too.
func TestCopyOfEditsWithSameDate(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	_, bob, posts := a.addBlog()
	comment := a.AddComment(bob, posts[0])
	late := a.another()
	first, err := a.UpdateComment(a.Ctx(), bob.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: "First edit."})
	a.OK(err)
	a.copyTo(b)
	second, err := late.UpdateComment(late.Ctx(), bob.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: "Second edit."})
	a.OK(err)
	if first.UpdatedDate != second.UpdatedDate {
		t.Fatalf("the edits are dated %s and %s", first.UpdatedDate, second.UpdatedDate)
	}
	// The post has the comment's excerpt. Either of the two may be first to copy the comment, or both.
	if copied := a.copyTo(b); copied.Posts != 1 || copied.Comments < 1 || copied.Comments > 2 {
		t.Errorf("copied %+v", copied)
	}
	a.hasSameSources(b)
}

// A copy waits while both accounts throttle about half of its requests.
func TestCopyWaitsWhenThrottled(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.addBlog()
	for _, w := range []*world{a, b} {
		w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n < 50 || uint32(n)*2654435761>>16&1 == 0 { // the first 50 exceed azcore's own retries
				return cosmostest.Refuse(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1")(0, request, nil)
			}
			return next.Do(request)
		})
	}
	a.copyTo(b)
	a.Wire.Inject(nil)
	b.Wire.Inject(nil)
	a.hasSameSources(b)
}

// A copy that is interrupted at any request to the target is resumed by the next copy.
func TestInterruptedCopyResumes(t *testing.T) {
	a := newWorld(t)
	a.addBlog()
	full := newWorld(t)
	full.Wire.Inject(nil)
	a.copyTo(full)
	requests := len(full.Wire.Requests())
	for n := 1; n <= requests; n += 7 {
		b := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		b.Wire.Inject(cancelAt(n, cancel))
		if _, err := transfer.Copy(ctx, a.DB, b.DB, copyOptions()); err == nil {
			t.Fatalf("the copy returned no error despite the interruption at request %d", n)
		}
		b.Wire.Inject(nil)
		a.copyTo(b)
		if again := len(b.Wire.Requests()); n > requests/2 && again > requests*3/4 {
			t.Errorf("interrupted at request %d of %d, the copy needed %d more requests", n, requests, again)
		}
		a.hasSameSources(b)
	}
}

// cancelAt cancels at the n-th request, and fails it and all later ones before they are sent.
func cancelAt(n int, cancel func()) cosmostest.Fault {
	dead := cosmostest.From(n, storetest.CutBefore)
	return func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if i >= n {
			cancel()
		}
		return dead(i, request, next)
	}
}

// A thread whose texts grow in a request is copied, however long it is: azcosmos escapes < and &.
func TestCopyOfEscapedThread(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada := a.AddUser("Ada")
	post, err := a.CreatePost(a.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: strings.Repeat("<", blog.MaxContentBytes)})
	a.OK(err)
	for range 80 {
		_, err := a.CreateComment(a.Ctx(), ada, blog.CreateCommentInput{PostID: post.Ref(), Content: strings.Repeat("&", blog.MaxCommentLength)})
		a.OK(err)
	}
	a.copyTo(b)
	a.hasSameSources(b)
}

// A user who writes a first post while the copy is at the posts is copied before that post.
func TestCopyWritesAuthorsFirst(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.addBlog()
	var dora *blog.User
	var post *blog.Post
	var once sync.Once
	a.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get("A-IM") != "" && strings.Contains(request.URL.Path, "/"+schema.Posts+"/") {
			once.Do(func() {
				a.Wire.Inject(nil)
				dora = a.AddUser("Dora")
				post = a.AddPost(dora)
			})
		}
		return next.Do(request)
	})
	seen := false
	b.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		isBatch := request.Header.Get("X-Ms-Cosmos-Is-Batch-Request") != ""
		partition := request.Header.Get("X-Ms-Documentdb-Partitionkey")
		if post != nil && isBatch && strings.Contains(partition, post.ID) {
			seen = true
			for _, item := range b.items(schema.Users) {
				if item.ID == dora.ID {
					return next.Do(request)
				}
			}
			t.Error("the post was copied before its author")
		}
		return next.Do(request)
	})
	a.copyTo(b)
	b.Wire.Inject(nil)
	if !seen {
		t.Error("the post was not copied")
	}
	a.hasSameSources(b)
}

// The target has swept a rename that the source has not. A later change of the post is copied
// without the former name, which the source still has on the post's comments and likes: the target
// does not sweep again.
func TestCopyKeepsNewerNames(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	ada, bob := a.AddUser("Ada"), a.AddUser("Bob")
	post := a.AddPost(ada)
	a.AddComment(bob, post)
	a.copyTo(b)
	_, err := a.UpdateUser(a.Ctx(), bob.ID, "Ben")
	a.OK(err)
	a.copyTo(b)
	b.renameInPosts(bob.ID)
	a.AddLike(ada, post)
	a.copyTo(b)
	if all := storetest.ListAll(b.World, post.ID, b.Comments); len(all) != 1 || all[0].Author.Username != "Ben" {
		t.Errorf("the post has %d comments, not one by Ben", len(all))
	}
	a.renameInPosts(bob.ID)
	a.copyTo(b)
	copied, err := b.Post(b.Ctx(), post.ID)
	b.OK(err)
	if copied.LikeCount != 1 || len(copied.RecentComments) != 1 || copied.RecentComments[0].Author.Username != "Ben" {
		t.Errorf("the post has %d likes, and %d recent comments", copied.LikeCount, len(copied.RecentComments))
	}
}
