package cli

import (
	"strings"
	"testing"
)

// The local key is in the data folder, so the command names one that is not the default.
func TestTokenCommand(t *testing.T) {
	for data, want := range map[string]string{
		"cosmosblog-data": " token --sub seed-1-2-0",
		"it's/here":       ` token --sub seed-1-2-0 --data 'it'\''s/here'`,
	} {
		if got := tokenCommand("seed-1-2-0", data); !strings.HasSuffix(got, want) {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
