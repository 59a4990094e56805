package projector_test

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/faults"
	"cosmosblog/projector"
	"cosmosblog/store"
)

var sweptFlag = flag.Int("swept", 2000, "on how many posts somebody wrote who is renamed")

// distant is a transport whose every request takes a while. It notes how many executions there are, and how many at a time.
type distant struct {
	next policy.Transporter

	mu                      sync.Mutex
	executions, now, atOnce int
}

const distance = 5 * time.Millisecond

func (d *distant) Do(request *http.Request) (*http.Response, error) {
	if strings.Contains(request.URL.Path, "/sprocs/") {
		d.count(1)
		defer d.count(-1)
	}
	time.Sleep(distance)
	return d.next.Do(request)
}

func (d *distant) count(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.executions += max(0, n)
	d.now += n
	d.atOnce = max(d.atOnce, d.now)
}

// read gives what was noted since it was called last.
func (d *distant) read() (executions, atOnce int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	executions, atOnce = d.executions, d.atOnce
	d.executions, d.atOnce = 0, d.now
	return executions, atOnce
}

// road leads to an account whose throughput is plenty or short.
type road struct {
	plenty  policy.Transporter
	short   *faults.Budget
	isShort atomic.Bool
}

func (r *road) Do(request *http.Request) (*http.Response, error) {
	if r.isShort.Load() {
		return r.short.Do(request)
	}
	return r.plenty.Do(request)
}

// firstCommenter gives the name of who wrote the first comment of a post.
func (w *world) firstCommenter(post *blog.Post) string {
	w.Helper()
	comments, err := w.store.Comments(w.Context(), post.ID, blog.PageRequest{First: 1})
	if err != nil {
		w.Fatal(err)
	}
	return comments.Items[0].Author.Username
}

// commentEverywhere makes a user and a comment of theirs on each of n posts of somebody.
func (w *world) commentEverywhere(author *blog.User, n int) *blog.User {
	w.Helper()
	writer := w.user()
	date := blog.NewDateTime(time.Now())
	for i := range n {
		_, err := w.store.WriteThread(w.Context(), store.Thread{
			Post:     &blog.Post{ID: fmt.Sprintf("p_%d", i), Author: author, Title: "A title", Content: "…", CreationDate: date},
			Comments: []*blog.Comment{{ID: fmt.Sprintf("c_%d", i), Author: writer, Content: "…", CreationDate: date}},
		})
		if err != nil {
			w.Fatal(err)
		}
	}
	return writer
}

// While somebody is swept who wrote much, and throughput is so short that it takes long, what others do shows in the feed
// as ever but for what a refusal takes, and another's rename is not held up. Once throughput is plenty, the sweep hurries.
// In the bubble nothing takes time but requests and pauses.
func TestASweepGivesWayAndHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 1)
		author, other := w.user(), w.user()
		writer := w.commentEverywhere(author, *sweptFlag)
		w.settle()
		post := w.post(author)
		w.comment(other, post)
		far := &distant{next: store.InProcess(w.engine)}
		road := &road{plenty: far, short: &faults.Budget{Next: far, PerSecond: 400, Now: time.Now}}
		p, stop := w.run(w.open(road), alone, func(o *projector.Options) { o.Wake, o.Poll = w.wake, time.Second })
		defer stop()
		pass(balance)
		far.read()

		w.rename(writer)
		pass(time.Second)
		executions, atOnce := far.read()
		t.Logf("plenty: %d executions in a second, %d at a time", executions, atOnce)
		if atOnce != 8 {
			t.Errorf("without a shortage, %d were executed at a time", atOnce)
		}

		road.isShort.Store(true)
		pass(10 * time.Second)
		far.read()
		before := road.short.Refused()
		var longest, total time.Duration
		for n := range 20 {
			pass(700 * time.Millisecond)
			begun := time.Now()
			w.like(w.user(), post)
			w.until(w.feedShows(post, n+1))
			longest, total = max(longest, time.Since(begun)), total+time.Since(begun)
		}
		renaming := time.Now()
		renamed := w.rename(other)
		w.until(func() bool { return w.firstCommenter(post) == renamed.Username })
		executions, atOnce = far.read()
		t.Logf("short: a like showed after %v at most, %v on average; a rename after %v; meanwhile %d executions, %d at a time, %d refusals",
			longest, total/20, time.Since(renaming), executions, atOnce, road.short.Refused()-before)
		if longest > 5*time.Second || time.Since(renaming) > 30*time.Second {
			t.Error("the sweep holds up the others")
		}
		if sweeps, err := w.store.Sweeps(t.Context()); err != nil || len(sweeps) != 2 {
			t.Errorf("the sweep ended before the test: %v, %v", sweeps, err)
		}

		road.isShort.Store(false)
		begun := time.Now()
		for p.Counts().SweepPasses < 4 && time.Since(begun) < time.Hour {
			pass(time.Second)
		}
		executions, atOnce = far.read()
		t.Logf("plenty: the rest, %d executions, took %v, %d at a time", executions, time.Since(begun), atOnce)
		if atOnce != 8 {
			t.Errorf("after the shortage, %d were executed at a time", atOnce)
		}
		if sweeps, err := w.store.Sweeps(t.Context()); err != nil || len(sweeps) > 0 {
			t.Errorf("pending sweeps: %v, %v", sweeps, err)
		}
	})
}
