//go:build ci

package projector_test

import (
	"slices"
	"testing"
)

// An audit finds each kind of damage and nothing else. A repair fixes it, and then an audit is
// clean. Unless -stride is 1, each run tests a random selection.
func TestAuditFindsAndRepairs(t *testing.T) {
	shared := newScene(t, manyPosts) // each repair restores it
	var few, many []string           // names of damages, by the posts that they need
	for name, damage := range damages {
		if damage.posts == 0 {
			few = append(few, name)
		} else {
			many = append(many, name)
		}
	}
	for _, name := range slices.Concat(someOf(t, few, 5), someOf(t, many, 2)) {
		damage := damages[name]
		t.Run(name, func(t *testing.T) {
			s := shared
			if damage.posts == manyPosts {
				s.TB = t
			} else {
				s = newScene(t, damage.posts)
			}
			damage.plant(s)
			want := damage.found(s)
			slices.Sort(want)
			if drifts, audited := s.audit(); !slices.Equal(drifts, want) || audited.Corrected != 0 {
				t.Errorf("found %v, want %v", drifts, want)
			}
			_, audited := s.audit(func(a *auditing) { a.Repair = true })
			if audited.Drifts == 0 || audited.Corrected != audited.Drifts || audited.Unstable != 0 {
				t.Errorf("repair: %+v", audited)
			}
			s.wantNoDrift()
			s.wantViewsEqualSource()
		})
	}
}
