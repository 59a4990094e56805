package store

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// A sweep from before users was made anew gives way to any rename since. In an account that was restored, where all containers are
// others, nobody is swept again.
func TestASweepOfOtherUsersGivesWay(t *testing.T) {
	w := newWorld(t)
	before := Sweep{UserID: "u_1", Username: "ada", AuthorRevision: 8, Last: true, ResourceID: "before"}
	for _, c := range []struct {
		what     string
		later    Sweep
		recorded bool
	}{
		{"an earlier rename", Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4, ResourceID: "before"}, false},
		{"a restored account", Sweep{UserID: "u_1", Username: "ada", AuthorRevision: 8, ResourceID: "now"}, false},
		{"a retry, which does not know", Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4}, false},
		{"users made anew", Sweep{UserID: "u_1", Username: "ben", AuthorRevision: 4, ResourceID: "now"}, true},
	} {
		w.ok(w.RecordSweep(w.ctx(), before))
		sweeps, err := w.Sweeps(w.ctx())
		w.ok(err)
		w.ok(w.FinishPass(w.ctx(), sweeps[0]))
		w.ok(w.RecordSweep(w.ctx(), c.later))
		sweeps, err = w.Sweeps(w.ctx())
		if w.ok(err); (len(sweeps) == 1) != c.recorded {
			t.Errorf("%s: pending are %+v", c.what, sweeps)
		}
		_, err = w.containers[leasesContainer].DeleteItem(w.ctx(), azcosmos.NewPartitionKeyString(sweepID("u_1")), sweepID("u_1"), nil)
		w.ok(err)
	}
}
