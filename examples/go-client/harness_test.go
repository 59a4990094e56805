package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// programs is the folder of the built server and client.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "go-client-"); err != nil {
		panic(err)
	}
	code := 1
	if build("../..", "cosmosblog") && build(".", "go-client") {
		code = m.Run()
	}
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

func build(folder, name string) bool {
	command := exec.Command("go", "build", "-o", filepath.Join(programs, name), ".")
	command.Dir, command.Stdout, command.Stderr = folder, os.Stdout, os.Stderr
	return command.Run() == nil
}

// site is a blog in a temporary folder, and the token that the client uses.
type site struct {
	t                         *testing.T
	data, address, url, token string
}

func newSite(t *testing.T) *site {
	t.Helper()
	return &site{t: t, data: filepath.Join(t.TempDir(), "data"), address: "127.0.0.1:0"}
}

// serve starts a server. It selects a free port, and after that has the same one each time.
func (s *site) serve() *process {
	s.t.Helper()
	server := s.start("cosmosblog", "serve", "--addr", s.address, "--data", s.data)
	line := server.waitFor("The GraphQL API is at ")
	s.url = strings.TrimPrefix(line, "The GraphQL API is at ")
	s.address = strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/graphql")
	return server
}

func (s *site) signIn(name string) {
	s.t.Helper()
	token, err := s.command("cosmosblog", "token", "--sub", name, "--data", s.data).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
}

// run runs the client until it ends.
func (s *site) run(args ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	command := s.command("go-client", append([]string{"-url", s.url}, args...)...)
	command.Stdout, command.Stderr = &out, &errs
	err = command.Run()
	return strings.TrimSpace(out.String()), strings.TrimSpace(errs.String()), err
}

// ask runs the client, which must succeed, and returns what it prints.
func (s *site) ask(args ...string) string {
	s.t.Helper()
	stdout, stderr, err := s.run(args...)
	if err != nil {
		s.t.Fatalf("%v: %v: %s", args, err, stderr)
	}
	return stdout
}

func (s *site) want(want string, args ...string) {
	s.t.Helper()
	if got := s.ask(args...); got != want {
		s.t.Errorf("%v prints %q, want %q", args, got, want)
	}
}

// wantError requires that the client fails, and that its last line begins with a text.
func (s *site) wantError(want string, args ...string) {
	s.t.Helper()
	_, stderr, err := s.run(args...)
	if last := stderr[strings.LastIndex(stderr, "\n")+1:]; err == nil || !strings.HasPrefix(last, want) {
		s.t.Errorf("%v prints the error %q (%v), want %q", args, last, err, want)
	}
}

// send sends a mutation without the client, as another client does.
func (s *site) send(mutation string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"query": mutation})
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if answer, err := io.ReadAll(response.Body); err != nil || strings.Contains(string(answer), `"errors"`) {
		s.t.Fatalf("%s: %s, %v", mutation, answer, err)
	}
}

func (s *site) comment(post, content string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`mutation { createComment(input: {postId: %q, content: %q}) { comment { id } } }`, post, content))
}

// command returns a command that has only the variables that a test sets.
func (s *site) command(program string, args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(programs, program), args...)
	command.Env = []string{"HOME=" + s.t.TempDir(), "TOKEN=" + s.token}
	return command
}

// process is a program that runs until it ends, or the test does.
type process struct {
	t       *testing.T
	command *exec.Cmd
	output  chan string // lines
	lines   []string    // those that waitFor has read
	ended   error       // after output is closed
}

func (s *site) start(program string, args ...string) *process {
	s.t.Helper()
	p := &process{t: s.t, command: s.command(program, args...), output: make(chan string, 1000)}
	reader, writer := io.Pipe()
	p.command.Stdout, p.command.Stderr = writer, writer
	if err := p.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		p.ended = p.command.Wait()
		_ = writer.Close()
	}()
	go func() {
		for scanner := bufio.NewScanner(reader); scanner.Scan(); {
			p.output <- scanner.Text()
		}
		close(p.output)
	}()
	s.t.Cleanup(func() { p.kill() })
	return p
}

// waitFor waits for a line with a text, and returns it.
func (p *process) waitFor(text string) string {
	p.t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case line, isOpen := <-p.output:
			if !isOpen {
				p.t.Fatalf("the process ended without %q: %q", text, p.lines)
			}
			p.lines = append(p.lines, line)
			if strings.Contains(line, text) {
				return line
			}
		case <-timeout:
			p.t.Fatalf("the process did not print %q: %q", text, p.lines)
		}
	}
}

// wait waits for the end of the process, and returns its error.
func (p *process) wait() error {
	for line := range p.output {
		p.lines = append(p.lines, line)
	}
	return p.ended
}

// kill ends the process as a crash does.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	_ = p.wait()
}

// stop ends the process as an update does.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.wait()
}
