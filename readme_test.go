package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cosmosblog/proof/docsection"
)

const readmePath = "README.md"

func TestReadmeHasTheTestCommand(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	checks, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "\ngo test ./...\n") || !strings.Contains(string(checks), "\nstep test 'go test ./...'\n") {
		t.Error("README.md and .ci/run must have the same test command, go test ./...")
	}
}

// TestReadmeSession runs the README's first session and compares the output, except for ids,
// dates, session tokens and folders. With -update, it writes the session.
func TestReadmeSession(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
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
		line := p.waitForLine(t, `^(.*)$`)
		if at := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line); at != "" {
			address = at
		}
		text.WriteString(asInReadme(line, address, data) + "\n")
	}
	text.WriteString("```\n\nIn another terminal:\n\n```console\n")
	shell := newShell(t, strings.NewReplacer("127.0.0.1:8080", address, "go run .", p.command.Path, "--sub anna", "--sub anna --data "+data))
	readme, err := docsection.Read(readmePath, "session")
	if err != nil {
		t.Fatal(err)
	}
	shown := maskSession(readme)
	for _, typed := range session {
		output := shell.run(t, typed)
		for deadline := time.Now().Add(10 * time.Second); !strings.Contains(typed, "mutation") &&
			!strings.Contains(shown, maskSession(output)) && time.Now().Before(deadline); {
			output = shell.run(t, typed) // views follow their sources asynchronously
		}
		text.WriteString("$ " + typed + "\n" + output)
	}
	text.WriteString("```\n")
	if maskSession(text.String()) == shown {
		return
	}
	if !*update {
		t.Fatalf("the session of README.md is out of date: run go test . -run '^%s$' -update\n%s", t.Name(), text.String())
	}
	if err := docsection.Write(readmePath, "session", text.String()); err != nil {
		t.Fatal(err)
	}
}

// session is the input of the README's first session after `go run .`.
var session = []string{
	`TOKEN=$(go run . token --sub anna)`,
	`ask() { curl -s http://127.0.0.1:8080/graphql -H 'Content-Type: application/json' -H "Authorization: Bearer $TOKEN" "${@:2}" -d "{\"query\": \"$1\"}"; echo; }`,
	`ask 'mutation { createUser(input: {username: \"anna\"}) { user { username creationDate } } }'`,
	`POST=$(ask 'mutation { createPost(input: {title: \"Hello\", content: \"A list is one query in one partition.\"}) { post { id } } }' | cut -d'"' -f10)`,
	`ask 'mutation { likePost(input: {postId: \"'$POST'\"}) { post { likeCount } } }'`,
	`ask 'mutation { createComment(input: {postId: \"'$POST'\", content: \"Well said.\"}) { comment { content } post { commentCount } } }'`,
	`ask '{ post(id: \"'$POST'\") { title likeCount viewerHasLiked comments { nodes { content author { username } } } } }'`,
	`ask '{ feed(first: 1) { nodes { title excerpt author { username } } } }' -H 'X-Cosmos-Diagnostics: 1'`,
}

// asInReadme replaces the test's address, folder and program with those of a reader.
func asInReadme(line, address, data string) string {
	line = strings.ReplaceAll(line, address, "127.0.0.1:8080")
	line = regexp.MustCompile(`: \S*/cosmosblog token --sub anna.*`).ReplaceAllString(line, ": go run . token --sub anna")
	return strings.ReplaceAll(line, data, "/home/anna/cosmosblog/cosmosblog-data")
}

// maskSession removes dates, ids and session tokens, which differ between sessions.
func maskSession(text string) string {
	text = regexp.MustCompile(`"session":"[\w-]+"`).ReplaceAllString(text, "TOKEN")
	text = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`).ReplaceAllString(text, "DATE")
	return regexp.MustCompile(`"[pu]_[a-z2-7]{26}"`).ReplaceAllString(text, "ID")
}

// shell is a running bash.
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

// run runs a line and returns its output.
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
