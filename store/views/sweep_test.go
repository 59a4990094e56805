package views_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// A sweep from before users was made anew gives way to any rename since. In an account that was restored, where all containers are
// others, nobody is swept again.
func TestASweepOfOtherUsersGivesWay(t *testing.T) {
	w := newWorld(t)
	before := views.Sweep{UserID: "u_1", Username: "ada", AuthorRevision: 8, Last: true, ResourceID: "before"}
	for _, c := range []struct {
		what     string
		later    views.Sweep
		recorded bool
	}{
		{"an earlier rename", views.Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4, ResourceID: "before"}, false},
		{"a restored account", views.Sweep{UserID: "u_1", Username: "ada", AuthorRevision: 8, ResourceID: "now"}, false},
		{"a retry, which does not know", views.Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4}, false},
		{"users made anew", views.Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4, ResourceID: "now"}, true},
	} {
		w.OK(w.RecordSweep(w.Ctx(), before))
		sweeps, err := w.Sweeps(w.Ctx())
		w.OK(err)
		w.OK(w.FinishPass(w.Ctx(), sweeps[0]))
		w.OK(w.RecordSweep(w.Ctx(), c.later))
		sweeps, err = w.Sweeps(w.Ctx())
		if w.OK(err); (len(sweeps) == 1) != c.recorded {
			t.Errorf("%s: pending are %+v", c.what, sweeps)
		}
		_, err = w.Container(schema.Leases).DeleteItem(w.Ctx(), azcosmos.NewPartitionKeyString(views.SweepID("u_1")), views.SweepID("u_1"), nil)
		w.OK(err)
	}
}
