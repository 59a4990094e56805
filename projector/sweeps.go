package projector

import (
	"context"

	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// sweepTasks lists the sweeps, which write new usernames to the items of renamed users, in two
// passes. The first pass starts at once, unless the user rests from an earlier sweep. The last pass
// starts after all commands that may have read the former name have ended. Retrying the dead letter
// of a sweep records the sweep again.
func sweepTasks(v *views.Views) func(context.Context) ([]task, error) {
	return tasksOf(v.Sweeps, func(sweep views.Sweep) task {
		return task{
			id:        sweep.UserID,
			etag:      sweep.ETag,
			last:      sweep.Last,
			change:    userChange(sweep.UserID),
			isPending: isPending(v, schema.SweepID(sweep.UserID), sweep.ETag),
			open:      func() views.Pass { return v.SweepPass(sweep) },
			finish: func(ctx context.Context, ended *run) error {
				return v.FinishSweepPass(ctx, sweep, ended.meter.Charged())
			},
			forget: func(ctx context.Context) error { return v.ForgetSweep(ctx, sweep) },
		}
	})
}
