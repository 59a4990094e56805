package main

import (
	"regexp"
	"strings"
	"testing"

	"cosmosblog/internal/config"
)

// TestDeadletters lists and retries what a server at an endpoint has set aside, before and after it was mended.
func TestDeadletters(t *testing.T) {
	engine, environment := engineProcess(t, t.TempDir())
	defer engine.terminate(t)
	provisioned(t, environment)
	data := t.TempDir()
	server, reader := serving(t, environment, "--data", data)
	defer server.terminate(t)
	anna := reader.as(tokenFor(t, data, "anna"))
	anna.createUser(t, "anna")
	post := storedID(t, anna.createPost(t, "First", "Some text."))
	endpoint, _ := strings.CutPrefix(environment[0], "COSMOS_ENDPOINT=")
	settings := map[string]string{"COSMOS_ENDPOINT": endpoint, "COSMOS_KEY": config.EmulatorKey}
	run := func(flag, fails string) string {
		t.Helper()
		said, err := runOnce(t, settings, "deadletters", flag)
		if (err == nil) != (fails == "") || err != nil && err.Error() != fails {
			t.Errorf("deadletters %s: %q, %v", flag, said, err)
		}
		return said
	}
	none := func() bool { return strings.HasPrefix(run("--retry", ""), "there are no dead letters") }
	if !none() {
		t.Error("there are dead letters")
	}
	plant(t, endpoint, "posts", post, post, "/likeCount", "many")
	listed := regexp.MustCompile(`posts +` + post + ` +` + post + ` +- +(\d+) .*? (store: an item of posts that cannot be read: .+|left: .*|done)\n`)
	eventually(t, "the post is set aside", patience, func() bool { return listed.MatchString(run("--retry=false", "")) })
	if said := listed.FindStringSubmatch(run("--retry", "0 of 1 dead letters are done, and 1 are left")); said == nil || !strings.HasPrefix(said[2], "left: ") {
		t.Errorf("retried in vain: %q", said)
	}
	plant(t, endpoint, "posts", post, post, "/likeCount", 0)
	if said := listed.FindStringSubmatch(run("--retry", "")); said == nil || said[1] == "1" || said[2] != "done" {
		t.Errorf("retried: %q", said)
	}
	if !none() {
		t.Error("there still are dead letters")
	}
}

// TestNoDeadletters looks into a folder beside its server, and when nobody serves it.
func TestNoDeadletters(t *testing.T) {
	data := t.TempDir()
	server, _ := serving(t, nil, "--data", data)
	for _, beside := range []bool{true, false} {
		if !beside {
			server.terminate(t)
		}
		said, err := runOnce(t, nil, "deadletters", "--data", data)
		if err != nil || !strings.HasPrefix(said, "there are no dead letters") || strings.Contains(said, "through process") != beside {
			t.Errorf("%q, %v", said, err)
		}
	}
	if said, err := runOnce(t, nil, "deadletters", "--data", t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no data") {
		t.Errorf("of nothing: %q, %v", said, err)
	}
}
