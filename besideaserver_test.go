//go:build ci

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"cosmosblog/proof/apitest"
)

// TestCommandsBesideAServer runs all commands on the folder of a running server.
func TestCommandsBesideAServer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	copyFolder(t, seeded(t, oneUser), filepath.Join(folder, "good"))
	server, anonymous := serving(t, nil, "--data", data)
	defer server.terminate(t)
	second, _ := serving(t, nil, "--data", data)
	second.terminate(t)
	commands := folderCommands(t, data)
	for _, name := range []string{"copy to", "seed", "provision", "copy from", "backup"} { // a copy needs an empty target
		p := start(t, nil, commands[name]...)
		if code := p.wait(t, waitTime); code != 0 {
			t.Errorf("%s: exit code %d: %s", name, code, p.stderr.String())
		}
	}
	again := commands["backup"]
	requireErrorLine(t, start(t, nil, again...), again[1], backupTargetExists)
	requireErrorLine(t, start(t, nil, "backup", filepath.Join(folder, "none", "backup"), "--data", data), folder, "could not be written: no such file or directory")
	projector := start(t, nil, "projector", "--data", data)
	projector.waitForLine(t, "through process")
	projector.terminate(t)
	engine := start(t, nil, commands["engine"]...)
	requireErrorLine(t, engine, data, "owns the data folder")
	tokenFor(t, data, "anna")
	if titles := feedTitles(t, anonymous); len(titles) < 5 {
		t.Errorf("the feed has only %v", titles)
	}
}

// TestProcessesBesideAServer runs a projector and a second server on the folder of a running
// server.
func TestProcessesBesideAServer(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server, anonymous := serving(t, nil, "--data", data, "--projector=false")
	anna, userID := signUp(t, anonymous, data, "anna")
	anna.CreatePost(t, "Early", "Before the projector came.")

	projector := start(t, nil, "projector", "--data", data, "--addr", "127.0.0.1:0")
	projector.waitForLine(t, fmt.Sprintf(`works on .*, through process %d`, server.command.Process.Pid))
	ready := projector.waitForLine(t, `readiness is at (\S+)$`)
	requireStatus(t, ready, http.StatusOK)
	has := func(client *apitest.Client, title string) func() bool {
		return func() bool {
			return feedTitles(t, client)[title] &&
				titlesOf(t, client, fmt.Sprintf(`user(id: %q) { posts { nodes { title } } }`, userID))[title]
		}
	}
	eventually(t, "the views contain the post from before", waitTime, has(anna, "Early"))

	second, client := serving(t, nil, "--data", data)
	client.WithToken(anna.Token).CreatePost(t, "Late", "Through the other server.")
	eventually(t, "the views contain the post of the second server", waitTime, has(anna, "Late"))
	second.terminate(t)
	server.terminate(t)
	eventually(t, "the projector is not ready", waitTime, func() bool { // the status may be a second old
		return statusOf(t, ready) == http.StatusServiceUnavailable
	})
	projector.terminate(t)

	// The next server owns the folder.
	owner, anonymous := serving(t, nil, "--data", data)
	if !has(anonymous, "Late")() {
		t.Error("the views lost a post")
	}
	owner.terminate(t)
}

// TestProjectorSurvivesTheServer checks that a projector alongside a server continues after the
// server was killed and restarted.
func TestProjectorSurvivesTheServer(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server, anonymous := serving(t, nil, "--data", data, "--projector=false")
	token := tokenFor(t, data, "anna")
	anonymous.WithToken(token).CreateUser(t, "anna")
	projector := start(t, nil, "projector", "--data", data)
	projector.waitForLine(t, "works on")
	server.kill(t)
	server, anonymous = serving(t, nil, "--data", data, "--projector=false")
	anonymous.WithToken(token).CreatePost(t, "After", "The server came back.")
	waitForFeed(t, anonymous, "After")
	projector.terminate(t)
	server.terminate(t)
}
