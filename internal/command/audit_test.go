package command

import (
	"strings"
	"testing"

	"cosmosblog/internal/config"
	"cosmosblog/store"
)

// Only where all was compared and is right now does an audit end well.
func TestAuditVerdict(t *testing.T) {
	for _, c := range []struct {
		audited     store.Audited
		repair      bool
		says, fails string
	}{
		{store.Audited{}, false, "nothing drifts\n", ""},
		{store.Audited{Stalled: true}, true, "nothing drifts\n", ""},
		{store.Audited{Pending: 1}, false, "nothing drifts\n", ""},
		{store.Audited{Restless: 2}, false, "", "not everything could be compared: 2 partitions changed too fast"},
		{store.Audited{Restless: 2}, true, "", "not everything could be compared: 2 partitions changed too fast"},
		{store.Audited{Drifts: 3}, false, "", "3 drifts were found; audit --repair mends what it can"},
		{store.Audited{Drifts: 3, Restless: 1}, false, "", "3 drifts were found; audit --repair mends what it can"},
		{store.Audited{Drifts: 3, Mended: 3}, true, "3 drifts were mended\n", ""},
		{store.Audited{Drifts: 3, Mended: 3, Restless: 1}, true, "3 drifts were mended\n", "not everything could be compared: 1 partitions changed too fast"},
		{store.Audited{Drifts: 3, Mended: 1}, true, "", "2 of 3 drifts were not mended"},
	} {
		var said, aside strings.Builder
		task := Task{Environment: Environment{Stdout: &said, Stderr: &aside}, Config: config.Config{Repair: c.repair}}
		err := auditVerdict(task, c.audited)
		if said.String() != c.says || (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails {
			t.Errorf("%+v: %q, %v", c.audited, said.String(), err)
		}
		if tells := strings.Contains(aside.String(), "nothing is known"); tells != (c.audited.Restless > 0) {
			t.Errorf("%+v: %q", c.audited, aside.String())
		}
		if tells := strings.Contains(aside.String(), "not done yet"); tells != (c.audited.Pending > 0) {
			t.Errorf("%+v: %q", c.audited, aside.String())
		}
	}
}
