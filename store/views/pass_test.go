package views_test

import (
	"net/http"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// A pass whose query fails once at each page reads that page again. It does not take the failed
// query for one without further pages.
func TestPassReadsPageAgainAfterError(t *testing.T) {
	const n = 250 // more than two pages
	for name, open := range map[string]func(t *testing.T) (*world, func() views.Pass){
		"sweep": func(t *testing.T) (*world, func() views.Pass) {
			w, sweep := sweptWorld(t, n)
			return w, func() views.Pass { return w.SweepPass(sweep) }
		},
		"deletion": func(t *testing.T) (*world, func() views.Pass) {
			w, sweep := sweptWorld(t, n)
			deletion := views.Deletion{UserID: sweep.UserID, Revision: sweep.AuthorRevision}
			return w, func() views.Pass { return w.DeletionPass(deletion) }
		},
		"purge": func(t *testing.T) (*world, func() views.Pass) {
			w := newWorld(t)
			post := commented(w, n/2)
			w.RemovePost(post)
			return w, func() views.Pass { return w.PurgePass(post.ID) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, pass := open(t)
			queries := 0
			w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if target, _ := cosmos.TargetOf(request); target.Operation == cosmos.OperationQuery {
					if queries++; queries%2 == 1 {
						return cosmostest.Refuse(http.StatusServiceUnavailable)(0, request, nil)
					}
				}
				return next.Do(request)
			})
			failures, changed := runDespiteErrors(w, pass())
			if failures < 3 || changed < n {
				t.Errorf("after %d failed queries, the pass changed %d items, want %d", failures, changed, n)
			}
			w.Wire.Inject(nil)
			if left, err := views.Run(w.Ctx(), pass()); err != nil || left != 0 {
				t.Errorf("another pass found %d items, error %v", left, err)
			}
		})
	}
}

// runDespiteErrors runs a pass to its end, and calls Next again after each error.
func runDespiteErrors(w *world, pass views.Pass) (failures, changed int) {
	for {
		page, done, err := pass.Next(w.Ctx())
		switch {
		case done:
			w.OK(err)
			return failures, changed
		case err != nil:
			failures++
		}
		for _, step := range page {
			n, _, err := step(w.Ctx())
			w.OK(err)
			changed += n
		}
	}
}
