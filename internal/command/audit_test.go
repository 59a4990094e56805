package command

import (
	"strings"
	"testing"

	"cosmosblog/internal/config"
	"cosmosblog/store"
)

// An audit succeeds only if everything was compared and nothing drifts any more.
func TestAuditResult(t *testing.T) {
	for _, c := range []struct {
		audited      store.Audited
		repair       bool
		stdout, fail string
	}{
		{store.Audited{}, false, "no drift found\n", ""},
		{store.Audited{Stalled: true}, true, "no drift found\n", ""},
		{store.Audited{Pending: 1}, false, "no drift found\n", ""},
		{store.Audited{Restless: 2}, false, "", "not everything could be compared: 2 partitions changed too fast"},
		{store.Audited{Restless: 2}, true, "", "not everything could be compared: 2 partitions changed too fast"},
		{store.Audited{Drifts: 3}, false, "", "3 drifts were found: run audit --repair"},
		{store.Audited{Drifts: 3, Restless: 1}, false, "", "3 drifts were found: run audit --repair"},
		{store.Audited{Drifts: 3, Mended: 3}, true, "3 drifts were repaired\n", ""},
		{store.Audited{Drifts: 3, Mended: 3, Restless: 1}, true, "3 drifts were repaired\n",
			"not everything could be compared: 1 partitions changed too fast"},
		{store.Audited{Drifts: 3, Mended: 1}, true, "", "2 of 3 drifts were not repaired"},
	} {
		var stdout, stderr strings.Builder
		task := Task{Environment: Environment{Stdout: &stdout, Stderr: &stderr}, Config: config.Config{Repair: c.repair}}
		err := auditResult(task, c.audited)
		if stdout.String() != c.stdout || (err == nil) != (c.fail == "") || err != nil && err.Error() != c.fail {
			t.Errorf("%+v: %q, %v", c.audited, stdout.String(), err)
		}
		if got := strings.Contains(stderr.String(), "could not be compared"); got != (c.audited.Restless > 0) {
			t.Errorf("%+v: %q", c.audited, stderr.String())
		}
		if got := strings.Contains(stderr.String(), "still in progress"); got != (c.audited.Pending > 0) {
			t.Errorf("%+v: %q", c.audited, stderr.String())
		}
	}
}
