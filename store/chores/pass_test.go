package chores_test

import (
	"context"
	"net/http"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
)

// testPace is a chores.Pace. It repeats what has failed, and counts the requests of each turn.
type testPace struct {
	*world
	turns, most int
	failures    int
	pauses      int
}

func (p *testPace) Retry(_ context.Context, attempt func() error) error {
	for range 10 {
		if err := attempt(); err == nil {
			return nil
		}
		p.failures++
	}
	return attempt()
}

func (p *testPace) Turn(ctx context.Context, execute func(context.Context) error) error {
	before := len(p.Wire.Requests())
	err := execute(ctx)
	p.turns++
	p.most = max(p.most, len(p.Wire.Requests())-before)
	return err
}

func (p *testPace) Pause(context.Context) error {
	p.pauses++
	return nil
}

// A step that needs several executions is executed until it has no more to do, with a pause after
// each one that changed nothing.
func TestStepsAreExecutedToTheirEnd(t *testing.T) {
	pace, executions := &testPace{world: newWorld(t)}, 0
	changed, err := chores.RunStep(t.Context(), pace, func(context.Context) (int, bool, error) {
		executions++
		return executions % 2, executions < 20, nil
	})
	if err != nil || changed != 10 || executions != 20 || pace.pauses != 9 || pace.turns != 20 {
		t.Errorf("%d items changed by %d executions, %d pauses, error %v", changed, executions, pace.pauses, err)
	}
}

// A step without progress fails for a reason of its items, after a limited number of executions.
func TestStepWithoutProgressFails(t *testing.T) {
	pace := &testPace{world: newWorld(t)}
	_, err := chores.RunStep(t.Context(), pace, func(context.Context) (int, bool, error) { return 0, true, nil })
	if !cosmos.IsItemError(err) || !cosmos.IsPermanent(err) || pace.pauses != chores.MaxIdleExecutions {
		t.Errorf("%d pauses, error %v", pace.pauses, err)
	}
}

// A pass whose query fails once at each page reads that page again. It does not take the failed
// query for one without further pages.
func TestPassReadsPageAgainAfterError(t *testing.T) {
	const n = 250 // more than two pages
	for name, open := range map[string]func(t *testing.T) (*world, chores.Pass){
		"sweep": func(t *testing.T) (*world, chores.Pass) {
			w, sweep := sweptWorld(t, n)
			return w, w.SweepPass(sweep)
		},
		"deletion": func(t *testing.T) (*world, chores.Pass) {
			w, sweep := sweptWorld(t, n)
			return w, w.DeletionPass(chores.Deletion{UserID: sweep.UserID, Revision: sweep.AuthorRevision})
		},
		"purge": func(t *testing.T) (*world, chores.Pass) {
			w := newWorld(t)
			post := commented(w, n/2)
			w.RemovePost(post)
			return w, w.PurgePass(post.ID)
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
			pace := &testPace{world: w}
			progress := &chores.Progress{Pace: pace, Parallel: 1}
			w.OK(pass(w.Ctx(), progress))
			if pace.failures < 3 || progress.Changed() < n {
				t.Errorf("after %d failures, the pass changed %d items, want %d", pace.failures, progress.Changed(), n)
			}
			w.Wire.Inject(nil)
			if left, err := chores.Run(w.Ctx(), pass); err != nil || left != 0 {
				t.Errorf("another pass found %d items, error %v", left, err)
			}
		})
	}
}
