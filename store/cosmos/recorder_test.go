package cosmos_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// requestLog is a Recorder that stores the requests.
type requestLog struct {
	mu       sync.Mutex
	requests []cosmos.Request
}

func (l *requestLog) Record(_ context.Context, request cosmos.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, request)
}

// operation is an operation of the Store, with the requests that it must send.
type operation struct {
	name string
	do   func(ctx context.Context) error
	want []cosmos.Request
}

// operations returns the operations, after it has created the users and posts that they need.
func operations(w *storetest.World) []operation {
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post, other := w.AddPost(ada), w.AddPost(ada)
	comment := w.AddComment(bob, post)
	_, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	title := "Another title"
	page := blog.PageRequest{First: 20}
	request := func(container, operation string, status int, keys ...string) cosmos.Request {
		return cosmos.Request{Container: container, Operation: operation, PartitionKeys: keys, Status: status}
	}
	return []operation{
		{"User", func(ctx context.Context) error { _, err := w.User(ctx, ada.ID); return err },
			[]cosmos.Request{request("users", "read", 200, ada.ID)}},
		{"Users", func(ctx context.Context) error { _, err := w.Users(ctx, []string{ada.ID, bob.ID}); return err },
			[]cosmos.Request{request("users", "readMany", 200, ada.ID, bob.ID)}},
		{"UserByUsername", func(ctx context.Context) error { _, err := w.UserByUsername(ctx, "ADA"); return err },
			[]cosmos.Request{request("usernames", "read", 200, "ada"), request("users", "read", 200, ada.ID)}},
		{"UserPosts", func(ctx context.Context) error { _, err := w.UserPosts(ctx, ada.ID, page); return err },
			[]cosmos.Request{request("users", "query", 200, ada.ID)}},
		{"Post", func(ctx context.Context) error { _, err := w.Post(ctx, post.ID); return err },
			[]cosmos.Request{request("posts", "read", 200, post.ID)}},
		{"Post unknown", func(ctx context.Context) error { _, _ = w.Post(ctx, "p_unknown"); return nil },
			[]cosmos.Request{request("posts", "read", 404, "p_unknown")}},
		{"Posts one", func(ctx context.Context) error { _, err := w.Posts(ctx, []string{post.ID}); return err },
			[]cosmos.Request{request("posts", "read", 200, post.ID)}},
		{"Posts", func(ctx context.Context) error { _, err := w.Posts(ctx, []string{post.ID, other.ID}); return err },
			[]cosmos.Request{request("posts", "readMany", 200, post.ID, other.ID)}},
		{"Comments", func(ctx context.Context) error { _, err := w.Comments(ctx, post.ID, page); return err },
			[]cosmos.Request{request("posts", "query", 200, post.ID)}},
		{"Likes", func(ctx context.Context) error { _, err := w.Likes(ctx, post.ID, page); return err },
			[]cosmos.Request{request("posts", "query", 200, post.ID)}},
		{"Comment", func(ctx context.Context) error { _, err := w.Comment(ctx, post.ID, comment.ID); return err },
			[]cosmos.Request{request("posts", "read", 200, post.ID)}},
		{"LikedBy", func(ctx context.Context) error {
			_, err := w.LikedBy(ctx, bob.ID, []string{post.ID, other.ID})
			return err
		}, []cosmos.Request{request("posts", "readMany", 200, post.ID, other.ID)}},
		{"Feed", func(ctx context.Context) error { _, err := w.Feed(ctx, page); return err },
			[]cosmos.Request{request("feed", "query", 200, "post")}},
		{"CreateComment", func(ctx context.Context) error {
			_, err := w.CreateComment(ctx, ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
			return err
		}, []cosmos.Request{request("posts", "execute", 200, post.ID)}},
		{"DeleteComment", func(ctx context.Context) error {
			_, err := w.DeleteComment(ctx, bob.ID, post.ID, comment.ID)
			return err
		},
			[]cosmos.Request{request("posts", "execute", 200, post.ID)}},
		{"LikePost", func(ctx context.Context) error { _, err := w.LikePost(ctx, ada, post.ID); return err },
			[]cosmos.Request{request("posts", "execute", 200, post.ID)}},
		{"UnlikePost", func(ctx context.Context) error { _, err := w.UnlikePost(ctx, ada, post.ID); return err },
			[]cosmos.Request{request("posts", "execute", 200, post.ID)}},
		{"UpdatePost", func(ctx context.Context) error {
			_, err := w.UpdatePost(ctx, ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Title: &title}})
			return err
		}, []cosmos.Request{request("posts", "read", 200, post.ID), request("posts", "patch", 200, post.ID)}},
		{"DeletePost", func(ctx context.Context) error { _, err := w.DeletePost(ctx, ada.ID, other.ID); return err },
			[]cosmos.Request{request("posts", "read", 200, other.ID), request("posts", "patch", 200, other.ID)}},
	}
}

// TestRequestsOfOperations checks that each operation sends exactly the documented requests, and
// that the recorded requests are those that reached the transport.
func TestRequestsOfOperations(t *testing.T) {
	w := storetest.New(t)
	for _, test := range operations(w) {
		t.Run(test.name, func(t *testing.T) {
			var log requestLog
			w.Wire.Inject(nil)
			w.OK(test.do(cosmos.WithRecorder(w.Ctx(), &log)))
			if len(w.Wire.Requests()) != len(log.requests) {
				t.Errorf("%d requests sent, %d recorded", len(w.Wire.Requests()), len(log.requests))
			}
			for i := range log.requests {
				if log.requests[i].Charge <= 0 {
					t.Errorf("%v has no charge", log.requests[i])
				}
				if log.requests[i].Begun.IsZero() {
					t.Errorf("%v has no start time", log.requests[i])
				}
				log.requests[i].Charge, log.requests[i].Begun = 0, time.Time{}
				if log.requests[i].Operation == cosmos.OperationReadMany {
					slices.Sort(log.requests[i].PartitionKeys)
					slices.Sort(test.want[i].PartitionKeys)
				}
			}
			if diff := cmp.Diff(test.want, log.requests); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRetriesAreRecorded checks that every try of a request is recorded, including unanswered
// ones.
func TestRetriesAreRecorded(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	for _, test := range []struct {
		inject cosmostest.Fault
		status int
	}{
		{cosmostest.First(2, cosmostest.Refuse(cosmos.StatusRetryWith)), cosmos.StatusRetryWith},
		{cosmostest.First(2, cosmostest.Refuse(429, "x-ms-retry-after-ms: 1")), 429},
		{cosmostest.Nth(1, storetest.CutAfter), 0},
	} {
		var log requestLog
		w.Wire.Inject(test.inject)
		_, err := w.LikePost(cosmos.WithRecorder(w.Ctx(), &log), ada, post.ID)
		w.OK(err)
		if len(log.requests) != len(w.Wire.Requests()) || log.requests[0].Status != test.status {
			t.Errorf("%d requests sent, recorded: %+v", len(w.Wire.Requests()), log.requests)
		}
		for i, r := range log.requests {
			// LikePost sends one request, whose last try succeeds.
			retry := i > 0 && log.requests[i-1].Status != 200
			if r.Retry != retry {
				t.Errorf("status %d: Retry of request %d is %t, want %t", test.status, i, r.Retry, retry)
			}
		}
	}
}

// TestRecorderOfADB checks that the Recorder of a DB gets every request of any context, but no
// partition keys.
func TestRecorderOfADB(t *testing.T) {
	w := storetest.New(t)
	ada := w.AddUser("Ada")
	var own, contexts requestLog
	db, err := provision.OpenEmbedded(t.Context(), w.Account, cosmos.Options{Recorder: &own})
	w.OK(err)
	t.Cleanup(db.Close)
	recorded := store.New(db)
	own.requests = nil
	_, err = recorded.User(t.Context(), ada.ID)
	w.OK(err)
	_, err = recorded.User(cosmos.WithRecorder(t.Context(), &contexts), ada.ID)
	w.OK(err)
	if len(own.requests) != 2 || len(contexts.requests) != 1 {
		t.Fatalf("recorded by the DB: %v, by the context: %v", own.requests, contexts.requests)
	}
	for _, r := range own.requests {
		if r.PartitionKeys != nil || r.Container != "users" || r.Status != 200 || r.Charge != contexts.requests[0].Charge {
			t.Errorf("recorded %+v", r)
		}
	}
}
