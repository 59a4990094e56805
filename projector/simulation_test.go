package projector_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/projector"
)

var (
	seedFlag       = flag.Uint64("seed", 0, "the seed of the simulations; another each time where 0")
	operationsFlag = flag.Int("operations", 4000, "how many operations a simulation does")
)

func seed(t testing.TB) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -seed %d", seed)
	return seed
}

// rangeCounts are how many feed ranges the simulations' containers have.
var rangeCounts = []int{1, 8}

// Random commands of concurrent writers, while a projector runs that writes wake: in the end every view equals its
// source.
func TestSimulationWithARunningProjector(t *testing.T) {
	seed := seed(t)
	for _, ranges := range rangeCounts {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			w := newWorldOf(t, ranges)
			_, stop := w.run(w.store, func(o *projector.Options) { o.Wake = w.wake })
			simulate(w, seed, *operationsFlag)
			stop()
			w.settle()
			w.check()
		})
	}
}

// The same, with several projectors that lose leases to one another all the time, so that workers come late and work on
// what others work on.
func TestSimulationWithLeasesThatWander(t *testing.T) {
	w, seed := newWorldOf(t, 8), seed(t)
	var stops []func()
	for range 3 {
		_, stop := w.run(w.store, func(o *projector.Options) {
			o.Wake, o.Renew, o.Balance = w.wake, 10*time.Millisecond, 10*time.Millisecond
		})
		stops = append(stops, stop)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		simulate(w, seed, *operationsFlag)
	}()
	random, wandered := rand.New(rand.NewPCG(seed, 0)), 0
	for done := false; !done; {
		select {
		case <-written:
			done = true
		case <-time.After(5 * time.Millisecond):
			wandered += w.free(random)
		}
	}
	for _, stop := range stops {
		stop()
	}
	t.Logf("%d leases wandered", wandered)
	w.settle()
	w.check()
}

// free takes a random lease away from whoever has it, and gives how many it took.
func (w *world) free(random *rand.Rand) int {
	leases, err := w.store.Leases(w.Context())
	if err != nil || len(leases) == 0 {
		return 0
	}
	lease := leases[random.IntN(len(leases))]
	lease.Owner = ""
	if _, err := w.store.SaveLease(w.Context(), lease); err != nil {
		return 0
	}
	return 1
}

// The same, with a projector that is away all the time and then begins at the beginning, and which is cut off and
// replaced by another after a random number of requests again and again.
func TestSimulationWithADyingProjector(t *testing.T) {
	seed := seed(t)
	for _, ranges := range rangeCounts {
		t.Run(fmt.Sprint(ranges), func(t *testing.T) {
			w := newWorldOf(t, ranges)
			simulate(w, seed, *operationsFlag)
			t.Logf("%d deaths", w.settleDying(rand.New(rand.NewPCG(seed, 0))))
			w.settle()
			w.check()
		})
	}
}

// settleDying lets projectors die after some requests each, until one is done before that.
func (w *world) settleDying(random *rand.Rand) (deaths int) {
	for ; ; deaths++ {
		wire, s := w.wired()
		p := w.projector(s)
		wire.answerLost = random.IntN(2) == 0
		wire.left.Store(random.Int64N(500))
		if p.Settle(w.Context()) == nil {
			return deaths
		}
	}
}

// simulate does n operations as several writers, each with a random stream of its own.
func simulate(w *world, seed uint64, n int) {
	w.Helper()
	const writers = 8
	pool := &pool{}
	for range 10 {
		pool.users = append(pool.users, w.user())
	}
	var group sync.WaitGroup
	for i := range uint64(writers) {
		group.Go(func() {
			writer := &writer{world: w, pool: pool, Rand: rand.New(rand.NewPCG(seed, i))}
			for range n / writers {
				writer.write()
			}
		})
	}
	group.Wait()
}

// pool is what writers know of what there is. They know it late, as clients do.
type pool struct {
	mu       sync.Mutex
	users    []*blog.User
	posts    []*blog.Post
	comments []*blog.Comment
}

func pick[T any](p *pool, r *rand.Rand, from *[]T) (picked T, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(*from) == 0 {
		return picked, false
	}
	return (*from)[r.IntN(len(*from))], true
}

func add[T any](p *pool, to *[]T, item T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*to = append(*to, item)
}

func (p *pool) renamed(user *blog.User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.users, func(u *blog.User) bool { return u.ID == user.ID })
	if i >= 0 { // deleted meanwhile otherwise
		p.users[i] = user
	}
}

// replace lets nobody write as a user any more, and as another one instead.
func (p *pool) replace(user, by *blog.User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.users, func(u *blog.User) bool { return u.ID == user.ID })
	if i >= 0 { // somebody else deleted them, too
		p.users[i] = by
	}
}

type writer struct {
	*world
	*pool
	*rand.Rand
}

// write does one random operation. Refusals are part of it: what a writer knows may be gone.
func (w *writer) write() {
	user, _ := pick(w.pool, w.Rand, &w.users)
	post, ok := pick(w.pool, w.Rand, &w.pool.posts)
	kind := w.IntN(100)
	var err error
	switch {
	case kind < 25 || !ok:
		post, err = w.store.CreatePost(w.Context(), user, blog.PostInput{Title: w.title(), Content: w.text()})
		if err == nil {
			add(w.pool, &w.pool.posts, post)
		}
	case kind < 35:
		title := w.title()
		_, err = w.store.UpdatePost(w.Context(), post.Author.ID, post.ID, blog.PostChange{Title: &title})
	case kind < 50:
		_, err = w.store.DeletePost(w.Context(), post.Author.ID, post.ID)
	case kind < 65:
		var comment *blog.Comment
		comment, err = w.store.CreateComment(w.Context(), user, blog.CommentInput{PostID: post.ID, Content: w.text()})
		if err == nil {
			add(w.pool, &w.comments, comment)
		}
	case kind < 67:
		if comment, ok := pick(w.pool, w.Rand, &w.comments); ok {
			_, err = w.store.UpdateComment(w.Context(), comment.Author.ID, comment.Post.ID, comment.ID, w.text())
		}
	case kind < 70:
		if comment, ok := pick(w.pool, w.Rand, &w.comments); ok {
			_, err = w.store.DeleteComment(w.Context(), comment.Author.ID, comment.Post.ID, comment.ID)
		}
	case kind < 88:
		_, err = w.store.LikePost(w.Context(), user, post.ID)
	case kind < 95:
		_, err = w.store.UnlikePost(w.Context(), user.ID, post.ID)
	case kind < 96:
		if _, err = w.store.DeleteUser(w.Context(), user.ID, user.Username); err == nil {
			w.replace(user, w.user())
		}
	default:
		var renamed *blog.User
		renamed, err = w.store.UpdateUser(w.Context(), user.ID, fmt.Sprintf("user%d", w.names.Add(1)))
		if err == nil {
			w.renamed(renamed)
		}
	}
	if code := blog.CodeOf(err); err != nil && code != blog.NotFound && code != blog.Conflict && code != blog.BadUserInput {
		w.Errorf("operation %d: %v", kind, err)
	}
}

func (w *writer) title() string { return fmt.Sprintf("title %d", w.IntN(1000)) }

func (w *writer) text() string {
	return strings.Repeat(fmt.Sprintf("text %d ", w.IntN(1000)), 1+w.IntN(60))
}
