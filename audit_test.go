package main

import (
	"strings"
	"testing"
)

// TestAudit audits a folder beside its server, and again when nobody serves it.
func TestAudit(t *testing.T) {
	data := t.TempDir()
	server, reader := serving(t, nil, "--data", data)
	anna := reader.as(tokenFor(t, data, "anna"))
	anna.createUser(t, "anna")
	post := anna.createPost(t, "First", "Some text.")
	anna.createComment(t, post, "One.")
	for _, beside := range []bool{true, false} {
		if !beside {
			server.terminate(t)
		}
		for _, flags := range [][]string{nil, {"--repair"}, {"--max-ru", "100000"}} {
			said, err := runOnce(t, nil, append([]string{"audit", "--data", data}, flags...)...)
			if err != nil || !strings.Contains(said, "1 posts, 1 users and 1 usernames") || !strings.HasSuffix(said, "nothing drifts\n") {
				t.Errorf("audit %v: %q, %v", flags, said, err)
			}
			if strings.Contains(said, "through process") != beside {
				t.Errorf("audit %v: %q", flags, said)
			}
		}
	}
	if said, err := runOnce(t, nil, "audit", "--data", t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no data") {
		t.Errorf("of nothing: %q, %v", said, err)
	}
}
