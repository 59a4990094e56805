package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
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
// no copy writes their items. A copy was interrupted at the posts.
func newLossy(t *testing.T) *lossy {
	t.Helper()
	w, follower := storetest.NewStale(t)
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
	options := copyOptions()
	options.Now = func() time.Time { return time.Unix(0, 0).Add(l.slept) }
	options.Sleep = func(ctx context.Context, d time.Duration) error {
		l.slept += d
		l.during()
		return ctx.Err()
	}
	return options
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

// An interrupted copy begins again if the history of the source has ended. Otherwise, it would lack
// what was written at positions that it had already passed.
func TestInterruptedCopyOfAnEndedHistory(t *testing.T) {
	l := newLossy(t)
	l.a.Account.LoseWrites()
	l.a.end()
	l.a.AddPost(l.a.AddUser("Carl"))
	l.a.AddUser("Dora")
	l.a.OK(l.copy())
	l.a.hasSameSources(l.b)
	if l.slept != 0 {
		t.Errorf("the copy waited for %v", l.slept)
	}
	l.a.AddUser("Emil")
	l.a.OK(l.copy())
	l.a.hasSameSources(l.b)
}

// The same, before anybody has noticed the end of the history.
func TestInterruptedCopyBeyondTheEnd(t *testing.T) {
	l := newLossy(t)
	l.a.Account.LoseWrites()
	l.a.AddUser("Dora")
	l.a.OK(l.copy())
	l.a.hasSameSources(l.b)
	if l.slept != changefeed.BeyondEndLimit {
		t.Errorf("the copy waited for %v", l.slept)
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
	if l.slept < 20*time.Second || l.slept >= changefeed.BeyondEndLimit {
		t.Errorf("the copy waited for %v", l.slept)
	}
}

// After a copy was done, the next one fails if the source went back, whether it is the next one or
// resumes one that was interrupted.
func TestCopyAfterACopyOfAnEndedHistory(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		for _, noticed := range []bool{false, true} {
			l := newLossy(t)
			l.a.OK(l.copy())
			if interrupted {
				l.a.AddPost(l.a.AddUser("Carl"))
				l.a.AddPost(l.a.AddUser("Dora"))
				l.interrupt(schema.Posts)
			}
			l.a.Account.LoseWrites()
			if noticed {
				l.a.end()
			}
			err := l.copy()
			_, refused := errors.AsType[*transfer.HistoryError](err)
			if want := interrupted || noticed; refused != want || err == nil == want {
				t.Errorf("interrupted=%t, noticed=%t: %v", interrupted, noticed, err)
			}
			if refused {
				l.b = newWorld(t)
				l.a.OK(l.copy())
				l.a.hasSameSources(l.b)
			}
		}
	}
}

// An interrupted copy fails if it has copied what the source lost.
func TestInterruptedCopyOfLostStates(t *testing.T) {
	for name, lose := range map[string]func(w *world, ada *blog.User, post *blog.Post){
		"post": func(w *world, _ *blog.User, post *blog.Post) { w.AddComment(w.AddUser("Carl"), post) },
		"user": func(w *world, ada *blog.User, _ *blog.Post) {
			_, err := w.UpdateUser(w.Ctx(), ada.ID, "Adele")
			w.OK(err)
		},
		"deletion": func(w *world, ada *blog.User, post *blog.Post) {
			_, err := w.DeletePost(w.Ctx(), ada.ID, post.ID)
			w.OK(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, follower := storetest.NewStale(t)
			l := &lossy{a: &world{w}, b: newWorld(t), during: func() {}}
			ada := l.a.AddUser("Ada")
			post := l.a.AddPost(ada)
			follower.CatchUp()
			follower.Lead()
			lose(l.a, ada, post)
			l.a.AddPost(ada)
			l.a.AddPost(ada)
			l.a.AddPost(ada)
			l.a.AddPost(ada)
			l.interruptLast()
			l.a.Account.LoseWrites()
			l.a.end()
			if _, refused := errors.AsType[*transfer.HistoryError](l.copy()); !refused {
				t.Error("the copy did not fail")
			}
		})
	}
}

// interruptLast runs a copy that fails when it saves that it is done.
func (l *lossy) interruptLast() {
	l.a.T.Helper()
	ctx, cancel := context.WithCancel(l.a.Ctx())
	defer cancel()
	reads := 0
	l.a.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/docs/history") {
			if reads++; reads == 2 {
				cancel()
				return nil, errors.New("interrupted")
			}
		}
		return next.Do(request)
	})
	_, err := transfer.Copy(ctx, l.a.DB, l.b.DB, l.options())
	l.a.Wire.Inject(nil)
	if err == nil {
		l.a.T.Fatal("the copy was not interrupted")
	}
}

// A history that ends during a copy is noticed before the copy is done.
func TestHistoryEndsDuringACopy(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.addBlog()
	options, begun := copyOptions(), 0
	ended := false
	options.Progress = func(p transfer.Progress) {
		if p.Copied.Posts > 0 && !ended {
			ended = true
			a.end()
		}
	}
	a.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/docs/history") && request.Method == http.MethodGet {
			begun++
		}
		return next.Do(request)
	})
	_, err := transfer.Copy(a.Ctx(), a.DB, b.DB, options)
	a.OK(err)
	a.hasSameSources(b)
	if begun < 4 { // at the beginning and at the end of both rounds
		t.Errorf("the copy read the history %d times", begun)
	}
	options.Progress = nil
	_, err = transfer.Copy(a.Ctx(), a.DB, b.DB, options)
	a.OK(err) // the checkpoint has the new history
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

// An interrupted copy that begins again copies items whose revisions are those of states that the
// source has lost. It leaves what has changed in the target since.
func TestInterruptedCopyOfStatesWithTheSameRevision(t *testing.T) {
	for name, change := range map[string]func(w *world, at int, ada *blog.User, post *blog.Post, comment *blog.Comment){
		"edit": func(w *world, at int, ada *blog.User, post *blog.Post, _ *blog.Comment) {
			text := fmt.Sprint("text ", at)
			_, err := w.UpdatePost(w.Ctx(), ada.ID, post.ID, blog.PostChange{Content: &text})
			w.OK(err)
		},
		"long edit": func(w *world, at int, ada *blog.User, post *blog.Post, _ *blog.Comment) {
			text := longText(schema.MaxInlineContent + at)
			_, err := w.UpdatePost(w.Ctx(), ada.ID, post.ID, blog.PostChange{Content: &text})
			w.OK(err)
		},
		"like": func(w *world, at int, _ *blog.User, post *blog.Post, _ *blog.Comment) {
			w.AddLike(w.AddUser(fmt.Sprint("Fan", at)), post)
		},
		"comment": func(w *world, _ int, ada *blog.User, post *blog.Post, _ *blog.Comment) { w.AddComment(ada, post) },
		"edit of an old comment": func(w *world, at int, ada *blog.User, post *blog.Post, comment *blog.Comment) {
			if at == 1 {
				_, err := w.UpdateComment(w.Ctx(), ada.ID, post.ID, comment.ID, "a lost edit")
				w.OK(err)
			}
		},
		"deletion or like": func(w *world, at int, ada *blog.User, post *blog.Post, _ *blog.Comment) {
			if at == 1 {
				w.AddLike(ada, post)
			} else {
				w.RemovePost(post)
			}
		},
		"rename": func(w *world, at int, ada *blog.User, _ *blog.Post, _ *blog.Comment) {
			_, err := w.UpdateUser(w.Ctx(), ada.ID, fmt.Sprint("Adele", at))
			w.OK(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, follower := storetest.NewStale(t)
			l := &lossy{a: &world{w}, b: newWorld(t), during: func() {}}
			ada := l.a.AddUser("Ada")
			post := l.a.AddPost(ada)
			comment := l.a.AddComment(ada, post)
			for range blog.MaxRecentComments {
				l.a.AddComment(ada, post)
			}
			kept := l.a.AddPost(ada)
			follower.CatchUp()
			follower.Lead()
			change(l.a, 1, ada, post, comment)
			l.interruptLast()
			l.b.AddLike(l.b.AddUser("Zoe"), kept)
			l.a.Account.LoseWrites()
			l.a.end()
			change(l.a, 2, ada, post, comment)
			l.interruptLast() // and once more, so that the next copy resumes one that has begun again
			l.a.OK(l.copy())
			want, got := l.a.sources(), l.b.sources()
			for at, text := range want {
				if !strings.Contains(at, kept.ID) && !strings.Contains(text, `"deleted":true`) && withoutRevision(got[at]) != withoutRevision(text) {
					t.Errorf("%s is %s, want %s", at, got[at], text)
				}
			}
			for at := range got {
				if want[at] == "" && strings.Contains(at, post.ID) && name != "deletion or like" {
					t.Errorf("%s is left", at)
				}
			}
			if copied, err := l.b.Post(l.b.Ctx(), post.ID); (err == nil) == (name == "deletion or like") {
				t.Errorf("the post is %v, %v", copied, err)
			}
			if post, err := l.b.Post(l.b.Ctx(), kept.ID); err != nil || post.LikeCount != 1 {
				t.Errorf("the post that was liked in the target is %v, %v", post, err)
			}
		})
	}
}

var revision = regexp.MustCompile(`"revision":\d+`)

func withoutRevision(text string) string { return revision.ReplaceAllString(text, "") }
