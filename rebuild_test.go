package main

import (
	"strings"
	"testing"

	"cosmosblog/internal/config"
)

// TestRebuild rebuilds an endpoint that a server uses: what is wrong in the right revision is right then.
func TestRebuild(t *testing.T) {
	engine, environment := engineProcess(t, t.TempDir())
	defer engine.terminate(t)
	provisioned(t, environment)
	data := t.TempDir()
	server, reader := serving(t, environment, "--data", data)
	defer server.terminate(t)
	anna := reader.as(tokenFor(t, data, "anna"))
	user := storedID(t, anna.createUser(t, "anna"))
	post := storedID(t, anna.createPost(t, "First", "Some text."))
	eventually(t, "the copies are there", patience, func() bool { return allTitles(t, reader, `feed { nodes { title } }`)["First"] })
	endpoint, _ := strings.CutPrefix(environment[0], "COSMOS_ENDPOINT=")
	settings := map[string]string{"COSMOS_ENDPOINT": endpoint, "COSMOS_KEY": config.EmulatorKey}
	plant(t, endpoint, "users", user, post, "/title", "Another")
	for _, says := range []string{"in 1 of them something was not right, and is now\n", "everything was right\n"} {
		said, err := runOnce(t, settings, "rebuild", "--max-ru", "10000")
		if err != nil || !strings.Contains(said, "1 posts, 1 users and 1 usernames were rebuilt for ") || !strings.HasSuffix(said, says) {
			t.Errorf("rebuild: %q, %v", said, err)
		}
	}
	if said, err := runOnce(t, settings, "audit"); err != nil {
		t.Errorf("audit: %q, %v", said, err)
	}
	plant(t, endpoint, "posts", post, post, "/likeCount", "many")
	if said, err := runOnce(t, settings, "rebuild"); err == nil || err.Error() != "1 things could not be made right" || !strings.Contains(said, "unreadable") {
		t.Errorf("rebuild: %q, %v", said, err)
	}
}

// TestRebuildOfAFolder rebuilds a folder beside its server, and again when nobody serves it.
func TestRebuildOfAFolder(t *testing.T) {
	data := t.TempDir()
	server, reader := serving(t, nil, "--data", data)
	anna := reader.as(tokenFor(t, data, "anna"))
	anna.createUser(t, "anna")
	anna.createPost(t, "First", "Some text.")
	for _, beside := range []bool{true, false} {
		if !beside {
			server.terminate(t)
		}
		said, err := runOnce(t, nil, "rebuild", "--data", data, "--from-start")
		if err != nil || !strings.Contains(said, "1 posts, 1 users and 1 usernames") || strings.Contains(said, "through process") != beside {
			t.Errorf("rebuild: %q, %v", said, err)
		}
	}
	if said, err := runOnce(t, nil, "rebuild", "--data", t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no data") {
		t.Errorf("of nothing: %q, %v", said, err)
	}
}
