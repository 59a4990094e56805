package tail_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/store/schema"
	"cosmosblog/store/tail"
)

// received reports whether a channel has a signal, and removes it.
func received(channel <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// A watched container is followed, although nobody reads it. A watcher learns of the writes of all
// servers, of its own server at once, and of no others after its end.
func TestWatch(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		post, another := w.post(), w.post()
		changed, stop := w.tail.Watch(schema.Posts, post.ID)
		w.after(time.Minute)
		received(changed) // what may have been missed before the first poll
		w.after(time.Second)
		if received(changed) {
			t.Error("received without a change")
		}
		_, err := w.other.LikePost(w.Context(), w.ada, post.ID)
		w.ok(err)
		w.after(staleness / 2)
		if !received(changed) {
			t.Error("a change of another server is not received")
		}
		_, err = w.own.LikePost(w.Context(), w.ada, another.ID)
		w.ok(err)
		w.after(staleness)
		if received(changed) {
			t.Error("received after a change of another partition")
		}
		_, err = w.own.UnlikePost(w.Context(), w.ada, post.ID)
		w.ok(err)
		if !received(changed) {
			t.Error("an own change is not received at once")
		}
		stop()
		stop()
		_, err = w.own.LikePost(w.Context(), w.ada, post.ID)
		w.ok(err)
		if w.after(staleness); received(changed) {
			t.Error("received after the end")
		}
		w.after(time.Minute)
		if _, isFollowed := w.tail.Lag(schema.Posts); isFollowed {
			t.Error("the container is followed after the end of all watchers")
		}
	})
}

// With wake-ups, a watcher learns of the writes of others long before the next poll by time.
func TestWake(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		written := make(chan struct{}, 1)
		woken := tail.New(tail.Options{
			DB: w.own.DB, Containers: []string{schema.Posts}, Staleness: time.Minute, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Wake: func(string) (<-chan struct{}, func()) { return written, func() {} },
		})
		ctx, cancel := context.WithCancel(w.Context())
		defer cancel()
		go func() { _ = woken.Run(ctx) }()
		post := w.post()
		changed, stop := woken.Watch(schema.Posts, post.ID)
		defer stop()
		w.after(100 * time.Millisecond)
		received(changed)
		_, err := w.other.CreateComment(w.Context(), w.ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "Hi"})
		w.ok(err)
		if w.after(100 * time.Millisecond); received(changed) {
			t.Fatal("the tail polls without a wake-up")
		}
		written <- struct{}{}
		if w.after(10 * time.Millisecond); !received(changed) {
			t.Error("a change is not received after a wake-up")
		}
		cancel()
		synctest.Wait()
	})
}

// A watcher learns of changes from before the first successful poll, however late that is.
func TestWatchWithFailedPolls(t *testing.T) {
	inWorld(t, cosmostest.Options{}, func(w *world) {
		post := w.post()
		polls := 0
		w.wire.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
			if request.Header.Get("A-IM") != "" {
				if polls++; polls <= 6 {
					return cosmostest.Refuse(http.StatusTooManyRequests, "x-ms-retry-after-ms: 300")(n, request, next)
				}
			}
			return next.Do(request)
		})
		changed, stop := w.tail.Watch(schema.Posts, post.ID)
		defer stop()
		w.after(200 * time.Millisecond)
		received(changed)
		_, err := w.other.LikePost(w.Context(), w.ada, post.ID)
		w.ok(err)
		w.after(20 * time.Second)
		if !received(changed) || polls <= 6 {
			t.Errorf("a change is not received after %d polls", polls)
		}
	})
}
