package bulk_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// bigThread returns a thread that needs several batches: 90 comments and 120 likes, by users who
// are not in the database.
func bigThread(author *blog.User) bulk.Thread {
	date := blog.NewDateTime(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC))
	thread := bulk.Thread{Post: &blog.Post{ID: "p_big", Author: author, PostHead: blog.PostHead{Title: "A title"}, Content: "Some content.", CreationDate: date}}
	for i := range 90 {
		thread.Comments = append(thread.Comments, &blog.Comment{ID: fmt.Sprintf("c_%d", i), Author: author, Content: "A comment.", CreationDate: date})
	}
	for i := range 120 {
		thread.Likes = append(thread.Likes, &blog.Like{User: &blog.User{ID: fmt.Sprintf("u_%d", i), Username: "somebody", Revision: 2}, CreationDate: date})
	}
	return thread
}

func TestWriteThread(t *testing.T) {
	w := storetest.New(t)
	thread := bigThread(w.AddUser("anna"))
	w.Wire.Inject(nil)
	post, err := w.WriteThread(w.Ctx(), thread)
	w.OK(err)
	w.HoldsCounts(post.ID, 90, 120)
	if post.Revision != 211 || post.CommentCount != 90 || post.LikeCount != 120 {
		t.Errorf("the post is %+v", post)
	}
	w.Wire.Inject(nil)
	again, err := w.WriteThread(w.Ctx(), thread)
	w.OK(err)
	if n := len(w.Wire.Requests()); n != 2 || again.Revision != post.Revision {
		t.Errorf("writing an existing thread: %d requests, revision %d, want 2 and %d", n, again.Revision, post.Revision)
	}
}

// TestWriteThreadResumes interrupts WriteThread at each request, changes the post in between,
// and runs WriteThread again.
func TestWriteThreadResumes(t *testing.T) {
	for n := 1; n <= 3; n++ {
		for name, inject := range map[string]cosmostest.Fault{"request lost": cosmostest.From(n, storetest.CutBefore), "answer lost": lostFrom(n)} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				w := storetest.New(t)
				author := w.AddUser("anna")
				thread := bigThread(author)
				w.Wire.Inject(inject)
				if _, err := w.WriteThread(w.Ctx(), thread); err == nil {
					t.Fatal("nothing was interrupted")
				}
				w.Wire.Inject(nil)
				likes, comments := 120, 90
				// This user's like is in the thread. If the post exists, others change it too.
				if _, err := w.LikePost(w.Ctx(), thread.Likes[119].User, "p_big"); err == nil {
					_, err = w.LikePost(w.Ctx(), author, "p_big")
					w.OK(err)
					w.AddComment(author, thread.Post)
					likes, comments = likes+1, comments+1
				}
				post, err := w.WriteThread(w.Ctx(), thread)
				w.OK(err)
				w.HoldsCounts("p_big", comments, likes)
				if post.LikeCount != likes || post.Revision != int64(1+likes+comments) {
					t.Errorf("the post has %d likes and revision %d, want %d and %d", post.LikeCount, post.Revision, likes, 1+likes+comments)
				}
			})
		}
	}
}

// lostFrom executes the n-th request but loses its answer, and fails all later ones, as if the
// process had died.
func lostFrom(n int) cosmostest.Fault {
	return func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if i > n {
			return nil, storetest.ErrCut
		}
		response, err := next.Do(request)
		if i == n {
			return nil, storetest.ErrCut
		}
		return response, err
	}
}

func TestWriteThreadSkipsDeletedPost(t *testing.T) {
	w := storetest.New(t)
	author := w.AddUser("anna")
	thread := bigThread(author)
	w.Wire.Inject(func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if i == 2 { // between the first batch and the second
			if _, err := w.Another().DeletePost(w.Ctx(), author.ID, "p_big"); err != nil {
				t.Error(err)
			}
		}
		return next.Do(request)
	})
	post, err := w.WriteThread(w.Ctx(), thread)
	w.OK(err)
	if !post.Deleted || post.LikeCount+post.CommentCount != 99 {
		t.Errorf("the post is %+v", post)
	}
	w.OK(w.WriteUserPosts(w.Ctx(), author.ID, []*blog.Post{post}))
	w.OK(w.WriteFeedPosts(w.Ctx(), []*blog.Post{post}))
	if n := len(storetest.ListAll(w, author.ID, w.UserPosts)); n != 0 {
		t.Errorf("%d posts are listed, want none", n)
	}
}

func TestWriteThreadRejectsOthersPost(t *testing.T) {
	w := storetest.New(t)
	thread := bigThread(w.AddUser("anna"))
	_, err := w.WriteThread(w.Ctx(), thread)
	w.OK(err)
	thread.Post.Author = w.AddUser("bert")
	_, err = w.WriteThread(w.Ctx(), thread)
	w.Fails(err, blog.IdempotencyKeyReused)
}

// TestBatchSizeInBytes writes comments whose total size exceeds that of one batch.
func TestBatchSizeInBytes(t *testing.T) {
	w := storetest.New(t)
	thread := bigThread(w.AddUser("anna"))
	thread.Post.Content = strings.Repeat("x", blog.MaxContentBytes)
	for _, comment := range thread.Comments {
		comment.Content = strings.Repeat("€", blog.MaxCommentLength) // 30 KB
	}
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.ContentLength > 2<<20 { // the service's limit
			t.Errorf("a request has %d bytes", request.ContentLength)
		}
		return next.Do(request)
	})
	_, err := w.WriteThread(w.Ctx(), thread)
	w.OK(err)
	w.HoldsCounts("p_big", 90, 120)
}

// TestWriteThreadWaitsWhileThrottled rejects far more requests than the retries of a command.
func TestWriteThreadWaitsWhileThrottled(t *testing.T) {
	w := storetest.New(t)
	author := w.AddUser("anna")
	for _, status := range []int{http.StatusTooManyRequests, cosmos.StatusRetryWith, http.StatusServiceUnavailable} {
		w.Wire.Inject(cosmostest.First(100, cosmostest.Refuse(status, "X-Ms-Retry-After-Ms: 1")))
		post, err := w.WriteThread(w.Ctx(), bigThread(author))
		w.OK(err)
		w.OK(w.WriteUserPosts(w.Ctx(), author.ID, []*blog.Post{post}))
	}
	w.HoldsCounts("p_big", 90, 120)
}

// TestWriteUserPostsBesideExistingCopies writes copies of which one exists in an older state and
// one in a newer state.
func TestWriteUserPostsBesideExistingCopies(t *testing.T) {
	w := storetest.New(t)
	author := w.AddUser("anna")
	posts := make([]*blog.Post, 3)
	for i := range posts {
		thread := bulk.Thread{Post: &blog.Post{ID: fmt.Sprintf("p_%d", i), Author: author, PostHead: blog.PostHead{Title: "A title"}, Content: "Some content.", CreationDate: blog.NewDateTime(w.Clock.Now())}}
		var err error
		posts[i], err = w.WriteThread(w.Ctx(), thread)
		w.OK(err)
	}
	older, newer := *posts[0], *posts[1]
	older.Revision, newer.Revision = 0, 9
	for _, post := range []*blog.Post{&older, &newer} {
		_, err := w.UserPostView(post.Author.ID).Project(w.Ctx(), post)
		w.OK(err)
	}
	w.OK(w.WriteUserPosts(w.Ctx(), author.ID, posts))
	for _, post := range storetest.ListAll(w, author.ID, w.UserPosts) {
		want := map[string]int64{"p_0": 1, "p_1": 9, "p_2": 1}[post.ID]
		if post.Revision != want {
			t.Errorf("the copy of %s has revision %d, want %d", post.ID, post.Revision, want)
		}
	}
}

func TestWriteUserReturnsExistingUser(t *testing.T) {
	w := storetest.New(t)
	date := blog.NewDateTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	user, err := w.WriteUser(w.Ctx(), "u_x", "anna", date)
	w.OK(err)
	if user.CreationDate != date || user.Revision != 2 {
		t.Errorf("the user is %+v", user)
	}
	renamed, err := w.UpdateUser(w.Ctx(), "u_x", "anna2")
	w.OK(err)
	again, err := w.WriteUser(w.Ctx(), "u_x", "anna", date)
	w.OK(err)
	if again.ReadAt = renamed.ReadAt; *again != *renamed {
		t.Errorf("got %+v, want %+v", again, renamed)
	}
	_, err = w.WriteUser(w.Ctx(), "u_y", "Anna2", date)
	w.Fails(err, blog.UsernameTaken)
}

// Whatever the feed had before, the oldest of the newest posts of a data set becomes the horizon,
// unless the horizon is higher.
func TestFeedPostsRaiseHorizon(t *testing.T) {
	w := storetest.New(t)
	var posts []*blog.Post
	for i := range views.FeedCapacity + 11 {
		w.Clock.Advance(time.Second)
		posts = append(posts, storetest.PostAtRevision(fmt.Sprintf("p_%d", i), w.Clock.Date(), 1, false))
	}
	w.OK(w.WriteFeedPosts(w.Ctx(), posts[:5]))
	for _, first := range []int{10, 5} {
		w.OK(w.WriteFeedPosts(w.Ctx(), posts[first:][:views.FeedCapacity+1]))
		horizon, _, err := w.ReadHorizon(w.Ctx())
		w.OK(err)
		if horizon.PostID != posts[10].ID || horizon.CreationDate != posts[10].CreationDate {
			t.Errorf("the horizon is %+v, not at %s", horizon, posts[10].ID)
		}
	}
}
