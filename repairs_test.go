//go:build ci

package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestAuditRepairs damages a copy at an endpoint that a server uses. An audit must list the
// damage and fail, a repair must repair it, and the next audit must find nothing.
func TestAuditRepairs(t *testing.T) {
	t.Parallel()
	w := serveAtEndpoint(t)
	post := storedID(t, w.anna.CreatePost(t, "First", "Some text."))
	waitForFeed(t, w.anna, "First")
	setProperty(t, w.endpoint, "users", w.userID, post, "/head/title", "A damaged\n title")

	row := regexp.MustCompile(`copy +users +` + w.userID + ` +` + post + ` +head.title +A damaged\\n title +(\w+: )?First\n`)
	for _, c := range []struct{ flag, outcome, last, want string }{
		{"--repair=false", "", "", auditFails},
		{"--repair", auditOutcome, auditRepaired, ""},
		{"--repair=false", "", auditIsClean, ""},
	} {
		output, err := runOnce(t, w.clients, "audit", c.flag)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want || !strings.HasSuffix(output, c.last) {
			t.Errorf("audit %s: %q, %v", c.flag, output, err)
		}
		found := row.FindStringSubmatch(output)
		if isListed := c.last != auditIsClean; (found != nil) != isListed || isListed && found[1] != c.outcome {
			t.Errorf("audit %s lists %q", c.flag, output)
		}
	}
}

// TestRebuild rebuilds the views at an endpoint that a server uses. It must correct a copy that
// is wrong but has the right revision.
func TestRebuild(t *testing.T) {
	t.Parallel()
	w := serveAtEndpoint(t)
	post := storedID(t, w.anna.CreatePost(t, "First", "Some text."))
	waitForFeed(t, w.anna, "First")
	setProperty(t, w.endpoint, "users", w.userID, post, "/head/title", "Another")
	for _, last := range []string{rebuildRepaired, rebuildIsClean} {
		output, err := runOnce(t, w.clients, "rebuild", "--max-ru", "10000")
		if err != nil || !strings.Contains(output, rebuildCounts+" were rebuilt for ") || !strings.HasSuffix(output, last) {
			t.Errorf("rebuild: %q, %v", output, err)
		}
	}
	if output, err := runOnce(t, w.clients, "audit"); err != nil {
		t.Errorf("audit: %q, %v", output, err)
	}
	setProperty(t, w.endpoint, "posts", post, post, "/version", "many")
	if output, err := runOnce(t, w.clients, "rebuild"); err == nil || err.Error() != rebuildFails || !strings.Contains(output, "unreadable") {
		t.Errorf("rebuild: %q, %v", output, err)
	}
}
