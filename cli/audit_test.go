package cli

import (
	"strings"
	"testing"

	"cosmosblog/cli/config"
	"cosmosblog/store/audit"
)

// An audit succeeds only if everything was compared and nothing drifts any more.
func TestAuditResult(t *testing.T) {
	for _, c := range []struct {
		audited      audit.Result
		repair       bool
		stdout, fail string
	}{
		{audit.Result{}, false, "no drift found\n", ""},
		{audit.Result{Stalled: true}, true, "no drift found\n", ""},
		{audit.Result{Pending: 1}, false, "no drift found\n", ""},
		{audit.Result{Unstable: 2}, false, "", "not everything could be compared: 2 partitions changed too fast"},
		{audit.Result{Unstable: 2}, true, "", "not everything could be compared: 2 partitions changed too fast"},
		{audit.Result{Drifts: 3}, false, "", "3 drifts were found: run audit --repair"},
		{audit.Result{Drifts: 3, Unstable: 1}, false, "", "3 drifts were found: run audit --repair"},
		{audit.Result{Drifts: 3, Corrected: 3}, true, "3 drifts were repaired\n", ""},
		{audit.Result{Drifts: 3, Corrected: 3, Unstable: 1}, true, "3 drifts were repaired\n",
			"not everything could be compared: 1 partitions changed too fast"},
		{audit.Result{Drifts: 3, Corrected: 1}, true, "", "2 of 3 drifts were not repaired"},
	} {
		var stdout, stderr strings.Builder
		task := Task{Environment: Environment{Stdout: &stdout, Stderr: &stderr}, Config: config.Config{Repair: c.repair}}
		err := auditResult(task, c.audited)
		if stdout.String() != c.stdout || (err == nil) != (c.fail == "") || err != nil && err.Error() != c.fail {
			t.Errorf("%+v: %q, %v", c.audited, stdout.String(), err)
		}
		if got := strings.Contains(stderr.String(), "could not be compared"); got != (c.audited.Unstable > 0) {
			t.Errorf("%+v: %q", c.audited, stderr.String())
		}
		if got := strings.Contains(stderr.String(), "still in progress"); got != (c.audited.Pending > 0) {
			t.Errorf("%+v: %q", c.audited, stderr.String())
		}
	}
}
