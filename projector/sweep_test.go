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
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/internal/inprocess"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

var sweptFlag = flag.Int("swept", 1500, "the number of items in the tests of long sweeps and purges")

// slowTransport delays every request by latency. It counts the executions of stored procedures,
// in total and at a time.
type slowTransport struct {
	next policy.Transporter

	mu                      sync.Mutex
	executions, now, atOnce int
}

const latency = 20 * time.Millisecond

func (d *slowTransport) Do(request *http.Request) (*http.Response, error) {
	if strings.Contains(request.URL.Path, "/sprocs/") {
		d.count(1)
		defer d.count(-1)
	}
	time.Sleep(latency)
	return d.next.Do(request)
}

func (d *slowTransport) count(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.executions += max(0, n)
	d.now += n
	d.atOnce = max(d.atOnce, d.now)
}

// read returns the counts since the last call.
func (d *slowTransport) read() (executions, atOnce int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	executions, atOnce = d.executions, d.atOnce
	d.executions, d.atOnce = 0, d.now
	return executions, atOnce
}

// budgetSwitch is an account with enough throughput, or with little while isShort is set.
type budgetSwitch struct {
	plenty  policy.Transporter
	short   *budgeted
	isShort atomic.Bool
}

func newBudgetSwitch(next policy.Transporter, perSecond float64) *budgetSwitch {
	return &budgetSwitch{plenty: next, short: newBudgeted(next, perSecond)}
}

func (r *budgetSwitch) Do(request *http.Request) (*http.Response, error) {
	if r.isShort.Load() {
		return r.short.Do(request)
	}
	return r.plenty.Do(request)
}

// budgeted is an account with little throughput. A sweep gets nearly all of it: a refused request
// waits to the millisecond until there is some again.
type budgeted struct {
	*storetest.Budget
	next policy.Transporter
}

// newBudgeted returns a transport with a budget in RU/s for each container.
func newBudgeted(next policy.Transporter, perSecond float64) *budgeted {
	return &budgeted{storetest.NewBudget(perSecond, time.Now), next}
}

func (b *budgeted) Do(request *http.Request) (*http.Response, error) {
	return b.Fault(0, request, b.next)
}

// firstCommenter returns the username in the first comment of a post.
func (w *world) firstCommenter(post *blog.Post) string {
	w.Helper()
	comments, err := w.store.Comments(w.Context(), post.ID, blog.PageRequest{First: 1})
	if err != nil {
		w.Fatal(err)
	}
	return comments.Items[0].Author.Username
}

// commentEverywhere creates a user with one comment in each of n partitions of posts. The posts
// themselves do not exist: a sweep does not need them.
func (w *world) commentEverywhere(n int) *blog.User {
	w.Helper()
	writer := w.user()
	date := blog.NewDateTime(time.Now())
	for i := range n {
		postID := fmt.Sprintf("p_%d", i)
		comment := &blog.Comment{ID: fmt.Sprintf("c_%d", i), Author: writer, Content: "…", CreationDate: date}
		text, err := cosmos.EncodeItem(schema.NewCommentItem(postID, comment))
		if err != nil {
			w.Fatal(err)
		}
		_, err = w.store.DB.Container("posts").CreateItem(w.Context(), azcosmos.NewPartitionKeyString(postID), text, nil)
		if err != nil {
			w.Fatal(err)
		}
	}
	return writer
}

// During the long sweep of a user with many comments, and with little throughput, likes of
// others still show in the feed, delayed only by the refusals, and another user's rename is not
// blocked. When there is enough throughput again, the sweep speeds up. In the bubble only
// requests and pauses take time.
func TestSweepAdaptsToThroughput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, 1)
		author, other := w.user(), w.user()
		writer := w.commentEverywhere(*sweptFlag)
		w.settle()
		post := w.post(author)
		w.comment(other, post)
		far := &slowTransport{next: inprocess.To(w.engine)}
		account := newBudgetSwitch(far, 150)
		p, stop := w.run(w.open(account), withoutTakeOver, func(o *projector.Options) { o.Wake, o.Poll = w.wake, time.Second })
		defer stop()
		advanceTime(balance)
		far.read()

		w.rename(writer)
		advanceTime(time.Second)
		executions, atOnce := far.read()
		t.Logf("enough throughput: %d executions in a second, %d at a time", executions, atOnce)
		if atOnce != 4 {
			t.Errorf("with enough throughput, %d executions at a time", atOnce)
		}

		account.isShort.Store(true)
		advanceTime(10 * time.Second)
		far.read()
		before := account.short.Refused()
		var longest, total time.Duration
		for n := range 20 {
			advanceTime(700 * time.Millisecond)
			begun := time.Now()
			w.like(w.user(), post)
			w.until(w.feedShows(post, n+1))
			longest, total = max(longest, time.Since(begun)), total+time.Since(begun)
		}
		renaming := time.Now()
		renamed := w.rename(other)
		w.until(func() bool { return w.firstCommenter(post) == renamed.Username })
		executions, atOnce = far.read()
		t.Logf("throughput short: likes showed within %v, %v on average; a rename after %v; %d executions, %d at a time, %d refusals",
			longest, total/20, time.Since(renaming), executions, atOnce, account.short.Refused()-before)
		if longest > 5*time.Second || time.Since(renaming) > 30*time.Second {
			t.Error("the sweep blocked others")
		}
		if sweeps, err := w.store.Sweeps(t.Context()); err != nil || len(sweeps) != 2 {
			t.Errorf("the sweep ended too early: %v, %v", sweeps, err)
		}

		account.isShort.Store(false)
		begun := time.Now()
		for p.Counts().SweepPasses < 4 && time.Since(begun) < time.Hour {
			advanceTime(time.Second)
		}
		executions, atOnce = far.read()
		t.Logf("enough throughput: the remaining %d executions took %v, %d at a time", executions, time.Since(begun), atOnce)
		if atOnce != 4 {
			t.Errorf("with enough throughput again, %d executions at a time", atOnce)
		}
		if sweeps, err := w.store.Sweeps(t.Context()); err != nil || len(sweeps) > 0 {
			t.Errorf("pending sweeps: %v, %v", sweeps, err)
		}
	})
}
