package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	gocmp "github.com/google/go-cmp/cmp"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
	"cosmosblog/store/transfer"
)

// lossy is a source that can lose its last writes (Account.LoseWrites), with a target.
type lossy struct {
	a, b *world // source and target
	// slept is the time for which copies waited; each wait calls during.
	slept  time.Duration
	during func()
}

// newLossy returns a source whose last writes, which can be lost, only advance the feed of users:
// no copy writes their items. A copy was interrupted at the posts. The account answers few reads of
// definitions.
func newLossy(t *testing.T) *lossy {
	t.Helper()
	w := storetest.NewWith(t, cosmostest.Options{Follower: true, MetadataReads: 60})
	follower := w.Account.Follower
	l := &lossy{a: &world{w}, b: newWorld(t), during: func() {}}
	l.a.addBlog()
	follower.CatchUp()
	follower.Lead()
	for i := range 9 { // copies do not write items of such a type
		id := fmt.Sprint("u_lost", i)
		_, err := l.a.Container(schema.Users).UpsertItem(t.Context(), azcosmos.NewPartitionKeyString(id), fmt.Appendf(nil, `{"id":%q,"userId":%[1]q,"type":"none"}`, id), nil)
		l.a.OK(err)
	}
	l.interrupt(schema.Posts)
	return l
}

// interrupt runs a copy that fails at its second write to a container.
func (l *lossy) interrupt(container string) {
	l.a.T.Helper()
	n := 0
	l.b.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Method == http.MethodPost && strings.Contains(request.URL.Path, "/"+container+"/") && request.Header.Get("X-Ms-Documentdb-Query") == "" {
			if n++; n > 1 {
				return nil, errors.New("interrupted")
			}
		}
		return next.Do(request)
	})
	ctx, cancel := context.WithTimeout(l.a.Ctx(), time.Second)
	defer cancel()
	_, err := transfer.Copy(ctx, l.a.DB, l.b.DB, l.options())
	l.b.Wire.Inject(nil)
	if err == nil {
		l.a.T.Fatal("the copy was not interrupted")
	}
}

func (l *lossy) options() transfer.Options {
	l.a.Sleeps = func(d time.Duration) {
		l.a.Clock.Advance(d)
		l.slept += d
		l.during()
	}
	return copyOptions()
}

func (l *lossy) copy() error {
	_, err := transfer.Copy(l.a.Ctx(), l.a.DB, l.b.DB, l.options())
	return err
}

// end ends the history of the source, as its projector does.
func (w *world) end() {
	w.T.Helper()
	history, err := w.History(w.Ctx())
	w.OK(err)
	_, err = w.EndHistory(w.Ctx(), history.Name, "a test")
	w.OK(err)
}

// A copy is refused if the source went back since the last one, whether that was interrupted or
// done, and whether anybody has noticed.
func TestCopyOfAnEndedHistory(t *testing.T) {
	for _, done := range []bool{false, true} {
		for _, noticed := range []bool{false, true} {
			l := newLossy(t)
			if done {
				l.a.OK(l.copy())
			}
			l.a.Account.LoseWrites()
			if noticed {
				l.a.end()
			}
			l.a.AddUser("Dora")
			before := l.b.sources()
			if err := l.copy(); !isRefused(err, "went back") {
				t.Errorf("done=%t, noticed=%t: %v", done, noticed, err)
			}
			if difference := gocmp.Diff(before, l.b.sources()); noticed && difference != "" {
				t.Errorf("the copy that was refused has changed (-, +):\n%s", difference)
			}
			if want := follow.BeyondEndLimit; !noticed && l.slept != want || noticed && l.slept != 0 {
				t.Errorf("noticed=%t: the copy waited for %v", noticed, l.slept)
			}
			l.b = newWorld(t)
			l.a.OK(l.copy())
			l.a.hasSameSources(l.b)
		}
	}
}

// A copy waits for a replica that lags, and then resumes.
func TestInterruptedCopyWaitsForReplicas(t *testing.T) {
	l := newLossy(t)
	l.a.AddUser("Dora")
	l.a.Account.Follower.Hold()
	l.during = func() {
		if l.slept == 20*time.Second {
			l.a.Account.Follower.CatchUp()
		}
	}
	l.a.OK(l.copy())
	l.a.hasSameSources(l.b)
	if l.slept < 20*time.Second || l.slept >= follow.BeyondEndLimit {
		t.Errorf("the copy waited for %v", l.slept)
	}
}

// A history that ends during a copy is noticed before the copy is done.
func TestHistoryEndsDuringACopy(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.addBlog()
	options, ended := copyOptions(), false
	options.Progress = func(_ follow.Progress, c transfer.Copied) {
		if c.Posts > 0 && !ended {
			ended = true
			a.end()
		}
	}
	for range 2 {
		if _, err := transfer.Copy(a.Ctx(), a.DB, b.DB, options); !isRefused(err, "went back") {
			t.Errorf("ended=%t: %v", ended, err)
		}
	}
}

// A copy from a container that was deleted and created again is refused.
func TestCopyOfAReplacedContainer(t *testing.T) {
	l := &lossy{a: newWorld(t), b: newWorld(t), during: func() {}}
	l.a.addBlog()
	l.interrupt(schema.Posts)
	_, err := l.a.Container(schema.Users).Delete(l.a.Ctx(), nil)
	l.a.OK(err)
	l.a = l.a.another() // creates the container again
	l.a.AddUser("Carl")
	if err := l.copy(); !isRefused(err, "deleted and created again") {
		t.Error(err)
	}
}

// A copy of an account that was restored has the items that its change feeds do not show, also if
// it was interrupted.
func TestCopyOfPartialFeeds(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		w, follower := storetest.NewStale(t)
		l := &lossy{a: &world{w}, b: newWorld(t), during: func() {}}
		l.a.addBlog()
		follower.CatchUp()
		l.a.Account.Restore()
		l.a.end()
		if interrupted {
			l.interrupt(schema.Posts)
		}
		l.a.AddPost(l.a.AddUser("Carl"))
		l.a.OK(l.copy())
		l.a.hasSameSources(l.b)
		l.a.AddPost(l.a.AddUser("Dora"))
		l.a.OK(l.copy())
		l.a.hasSameSources(l.b)
	}
}

// A copy is refused if the source loses what the copy has read: no replica reaches the session.
func TestLossDuringACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLossy(t)
		l.a.AddUser("Dora")
		options, pages := l.options(), 0
		l.a.Sleeps = time.Sleep
		options.Progress = func(follow.Progress, transfer.Copied) {
			if pages++; pages == 2 {
				l.a.Account.LoseWrites()
			}
		}
		begun := time.Now()
		_, err := transfer.Copy(l.a.Ctx(), l.a.DB, l.b.DB, options)
		if !isRefused(err, "went back") || time.Since(begun) >= follow.BeyondEndLimit {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}
