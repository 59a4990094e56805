package command

import (
	"strings"
	"testing"
	"time"
)

// A copy learns on the way how much there is.
func TestProgressOfWhatGrows(t *testing.T) {
	var said strings.Builder
	now := time.Unix(0, 0)
	p := newProgress(&said, "changes", 100)
	p.now = func() time.Time { return now }
	p.begun, p.told = now, now
	p.reach(10, 100)
	now = now.Add(10 * time.Second)
	p.reach(50, 150)
	if want := "50 of 150 changes, 5 a second, 20s left\n"; said.String() != want {
		t.Errorf("it says %q, want %q", said.String(), want)
	}
}
