//go:build ci

package export_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/export"
	"cosmosblog/store/schema"
)

// TestQueryKilledAtEveryStep kills an export by query before each of its changes of the folder, and
// writes meanwhile. The next run continues the query.
func TestQueryKilledAtEveryStep(t *testing.T) {
	continued := 0
	for at, isKilled := 1, true; isKilled && !t.Failed(); at++ {
		w := newWorld(t)
		_, bob, posts := w.addBlog()
		w.endHistory("")
		killed, steps := errors.New("killed"), 0
		options := w.options()
		options.PageSize, options.BatchRows = 6, 1 // each page with a row ends a batch, in whatever order the items are
		export.SetBefore(&options, func(string) error {
			if steps++; steps == at {
				return killed
			}
			return nil
		})
		w.Wire.Inject(storetest.HideItems)
		_, err := export.Run(w.Ctx(), w.DB, options)
		if isKilled = err != nil; isKilled && !errors.Is(err, killed) {
			t.Fatal(err)
		}
		items := w.itemsLeft()
		w.Wire.Inject(nil)
		w.AddLike(w.AddUser("Cyd"), posts[1])
		w.AddComment(bob, posts[1])
		w.RemovePost(posts[3])

		var first *http.Request
		w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if first == nil && isQueryOfItems(request) {
				first = request
			}
			return storetest.HideItems(n, request, next)
		})
		w.export()
		w.Wire.Inject(nil)
		w.isEqual()
		if items != "" && items != schema.Users && items != schema.Posts {
			continued++
			if first == nil || first.Header.Get("X-Ms-Continuation") == "" {
				t.Errorf("killed before step %d: the query was not continued at %s", at, items)
			}
		}
		if len(w.again) > 0 {
			t.Error(w.again)
		}
	}
	if continued < 30 {
		t.Errorf("%d queries were continued", continued)
	}
}

// TestKilledAfterSplit splits a range since the last run, and kills the next one after pages of one
// part. What was deleted in the other part expires before the run after that.
func TestKilledAfterSplit(t *testing.T) {
	for i := range 16 {
		removed, killedAt := i%8, 3+i/8
		w := newWorld(t)
		ada := w.AddUser("Ada")
		var posts []*blog.Post
		for range 8 {
			posts = append(posts, w.AddPost(ada))
		}
		w.export()
		w.split(schema.Posts, 0)
		for range 2 {
			w.AddComment(ada, posts[(removed+1)%8])
			w.AddComment(ada, posts[(removed+2)%8])
		}
		w.RemovePost(posts[removed])
		w.Clock.Advance(5 * 24 * time.Hour)
		for i, post := range posts {
			if i != removed {
				w.AddLike(ada, post)
			}
		}
		w.Clock.Advance(time.Minute)
		options, commits := w.options(), 0
		options.PageSize, options.BatchRows = 1, 1
		killed := errors.New("killed")
		export.SetBefore(&options, func(step string) error {
			if step == "replace the manifest" {
				if commits++; commits > killedAt {
					return killed
				}
			}
			return nil
		})
		if _, err := export.Run(w.Ctx(), w.DB, options); !errors.Is(err, killed) {
			t.Fatal(err)
		}
		w.Clock.Advance(5 * 24 * time.Hour)
		w.expire(posts[removed])
		w.export()
		w.isEqual()
	}
}

// TestCanceled interrupts the export at every request.
func TestCanceled(t *testing.T) {
	for at := 1; ; at++ {
		w := newWorld(t)
		w.addBlog()
		ctx, cancel := context.WithCancel(t.Context())
		w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
			if n == at {
				cancel()
			}
			return next.Do(request)
		})
		_, err := export.Run(ctx, w.DB, w.options())
		cancel()
		w.Wire.Inject(nil)
		w.export()
		w.isEqual()
		if err == nil {
			return
		}
	}
}
