package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// session is what the README has a reader type after `go run .`, line by line.
var session = []string{
	`TOKEN=$(go run . token --sub anna)`,
	`ask() { curl -s http://127.0.0.1:8080/graphql -H 'Content-Type: application/json' -H "Authorization: Bearer $TOKEN" "${@:2}" -d "{\"query\": \"$1\"}"; echo; }`,
	`ask 'mutation { createUser(input: {username: \"anna\"}) { user { username creationDate } } }'`,
	`POST=$(ask 'mutation { createPost(input: {title: \"Hello\", content: \"All reads are one request to one partition.\"}) { post { id } } }' | cut -d'"' -f10)`,
	`ask 'mutation { likePost(input: {postId: \"'$POST'\"}) { post { likeCount } } }'`,
	`ask 'mutation { createComment(input: {postId: \"'$POST'\", content: \"Well said.\"}) { comment { content } post { commentCount } } }'`,
	`ask '{ post(id: \"'$POST'\") { title likeCount viewerHasLiked comments { nodes { content author { username } } } } }'`,
	`ask '{ feed(first: 1) { nodes { title excerpt author { username } } } }' -H 'X-Cosmos-Diagnostics: 1'`,
}

// TestReadmeSession holds that the README's first session gives what it shows, but for ids, dates and folders.
func TestReadmeSession(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the session needs %s", tool)
		}
	}
	folder := t.TempDir()
	data := filepath.Join(folder, "cosmosblog-data")
	p := start(t, nil, "--addr", "127.0.0.1:0", "--data", data)
	defer p.terminate(t)
	var text strings.Builder
	text.WriteString("```console\n$ go run .\n")
	address := ""
	for address == "" || !strings.Contains(text.String(), "token --sub") {
		line := p.says(t, `^(.*)$`)
		if at := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line); at != "" {
			address = at
		}
		text.WriteString(asInReadme(line, address, data) + "\n")
	}
	text.WriteString("```\n\nIn another terminal:\n\n```console\n")
	shell := newShell(t, strings.NewReplacer("127.0.0.1:8080", address, "go run .", p.command.Path, "--sub anna", "--sub anna --data "+data))
	shown := maskSession(readSection(t, "session"))
	for _, typed := range session {
		output := shell.run(t, typed)
		for deadline := time.Now().Add(time.Second); !strings.Contains(typed, "mutation") && !strings.Contains(shown, maskSession(output)) && time.Now().Before(deadline); {
			output = shell.run(t, typed) // a view follows its source in its own time
		}
		text.WriteString("$ " + typed + "\n" + output)
	}
	text.WriteString("```\n")
	if got := section(t, "session", text.String()); maskSession(got) != maskSession(text.String()) {
		t.Errorf("the README's session gives something else; go test -run %s -update writes it:\n%s", t.Name(), text.String())
	}
}

// asInReadme puts a reader's address, folder and program in the place of the test's.
func asInReadme(line, address, data string) string {
	line = strings.ReplaceAll(line, address, "127.0.0.1:8080")
	line = regexp.MustCompile(`: \S*/cosmosblog token --sub anna.*`).ReplaceAllString(line, ": go run . token --sub anna")
	return strings.ReplaceAll(line, data, "/home/anna/cosmosblog/cosmosblog-data")
}

// maskSession takes out what differs from session to session.
func maskSession(text string) string {
	text = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`).ReplaceAllString(text, "DATE")
	return regexp.MustCompile(`"[pu]_[a-z2-7]{26}"`).ReplaceAllString(text, "ID")
}

// shell is a bash that is typed into line by line.
type shell struct {
	replace *strings.Replacer
	stdin   io.Writer
	lines   *bufio.Scanner
}

func newShell(t *testing.T, replace *strings.Replacer) *shell {
	t.Helper()
	command := exec.Command("bash")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = command.Stdout
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		command.Wait()
	})
	return &shell{replace, stdin, bufio.NewScanner(stdout)}
}

// run types a line and gives what it prints.
func (s *shell) run(t *testing.T, line string) string {
	t.Helper()
	const end = "-- that was all --"
	if _, err := fmt.Fprintf(s.stdin, "%s\necho %s\n", s.replace.Replace(line), end); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	for s.lines.Scan() {
		if s.lines.Text() == end {
			return output.String()
		}
		output.WriteString(s.lines.Text() + "\n")
	}
	t.Fatalf("the shell ended: %v", s.lines.Err())
	return ""
}
