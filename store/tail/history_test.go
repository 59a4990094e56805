package tail_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
)

// acknowledged are the comments of a post that were acknowledged, by time.
type acknowledged struct {
	post *blog.Post

	mu     sync.Mutex
	counts []stamped // increasing
	own    int       // after the last comment by the server with the tail
}

type stamped struct {
	at    time.Time
	count int
}

// add notes an acknowledged comment, by the count in its answer.
func (a *acknowledged) add(count int, own bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts = append(a.counts, stamped{time.Now(), count})
	if own {
		a.own = max(a.own, count)
	}
}

// least returns the least count that a read may return now: what this server wrote, and what was
// acknowledged before a time.
func (a *acknowledged) least(before time.Time) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	least := a.own
	for _, c := range a.counts {
		if c.at.Before(before) {
			least = max(least, c.count)
		}
	}
	return least
}

// Readers and writers of a server with a tail, beside those of another server, on an account with a
// follower that lags. No read is older than the bound and the follower's lag, or than the server's
// own writes. Within a session, no read is older than the one before.
func TestKeptReadsAreNotTooOld(t *testing.T) {
	const (
		lag   = 300 * time.Millisecond
		bound = staleness + lag
	)
	random := testseed.Rand(t)
	var hits, stale int64
	inWorld(t, cosmostest.Options{Follower: true, Random: rand.New(rand.NewPCG(random.Uint64(), 1))}, func(w *world) {
		posts := make([]*acknowledged, 4)
		for i := range posts {
			posts[i] = &acknowledged{post: w.post()}
		}
		comment := func(s *store.Store, a *acknowledged, own bool) {
			comment, err := s.CreateComment(w.Context(), w.ada, blog.CreateCommentInput{PostID: a.post.Ref(), Content: "A comment."})
			w.ok(err)
			a.add(comment.Post.CommentCount, own)
		}
		read := func(ctx context.Context, a *acknowledged, least int) int {
			post, err := w.reader.Post(ctx, a.post.ID)
			w.ok(err)
			if post.CommentCount < least {
				t.Errorf("read %d comments, want at least %d", post.CommentCount, least)
			}
			return post.CommentCount
		}
		w.awake("posts")
		w.account.Follower.Trail(lag)
		var all sync.WaitGroup
		for range 6 {
			choices := rand.New(rand.NewPCG(random.Uint64(), 2))
			all.Go(func() {
				for range 200 {
					time.Sleep(time.Duration(choices.Int64N(int64(150 * time.Millisecond))))
					a := posts[choices.IntN(len(posts))]
					switch choices.IntN(8) {
					case 0:
						comment(w.other.Store, a, false)
					case 1:
						comment(w.own.Store, a, true)
					default:
						session := cosmos.WithSession(w.Context())
						first := read(session, a, a.least(time.Now().Add(-bound)))
						read(session, a, first)
					}
				}
			})
		}
		all.Wait()
		w.account.Follower.CatchUp()
		hits, stale = w.cache.Stats().Hits, int64(w.account.Follower.Stale())
	})
	if hits < 500 || stale < 10 {
		t.Errorf("%d hits and %d stale reads: the history tests nothing", hits, stale)
	}
	t.Logf("%d hits, %d stale reads", hits, stale)
}
