package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// onFolder are the commands that open a data folder, with the arguments that name it.
func onFolder(t *testing.T, data string) map[string][]string {
	t.Helper()
	other := filepath.Join(t.TempDir(), "other")
	return map[string][]string{
		"serve":     {"serve", "--addr", "127.0.0.1:0", "--data", data},
		"projector": {"projector", "--data", data},
		"provision": {"provision", "--data", data},
		"engine":    {"engine", "--addr", "127.0.0.1:0", "--data", data},
		"seed":      {"seed", "--users", "1", "--data", data},
		"copy from": {"copy", "--from", data, "--to", other},
		"copy to":   {"copy", "--from", filepath.Join(filepath.Dir(data), "good"), "--to", data},
		"backup":    {"backup", other + "-backup", "--data", data},
		"check":     {"check", "--data", data},
	}
}

// inOneSentence holds a run that cannot go on to one sentence, that names the folder, and exit code 1.
func inOneSentence(t *testing.T, p *process, data, says string) {
	t.Helper()
	if code := p.wait(t, patience); code != 1 {
		t.Errorf("exit code %d", code)
	}
	var sentences []string
	for line := range strings.Lines(p.stderr.String()) {
		if strings.HasPrefix(line, "time=") {
			continue // the log
		}
		sentences = append(sentences, line)
	}
	if len(sentences) != 1 || !strings.HasPrefix(sentences[0], "cosmosblog: ") || !strings.Contains(sentences[0], data) || !strings.Contains(sentences[0], says) {
		t.Errorf("it says:\n%s", p.stderr.String())
	}
	if strings.Contains(p.stderr.String(), "goroutine") {
		t.Error("it shows a stack trace")
	}
}

func TestUnusableFolders(t *testing.T) {
	good := seeded(t, "1")
	for name, c := range map[string]struct {
		spoil func(t *testing.T, data string)
		says  string
	}{
		"newer format": {writtenByANewerVersion, "was written by a newer version of this program"},
		"cut table":    {func(t *testing.T, data string) { cut(t, data, "*.sst") }, "is damaged"},
		"cut manifest": {func(t *testing.T, data string) { cut(t, data, "MANIFEST-*") }, "is damaged"},
		"cut log":      {func(t *testing.T, data string) { cut(t, data, "*.log") }, "is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			data := filepath.Join(folder, "data")
			copyFolder(t, good, filepath.Join(folder, "good"))
			copyFolder(t, good, data)
			c.spoil(t, data)
			for name, args := range onFolder(t, data) {
				t.Run(name, func(t *testing.T) { inOneSentence(t, start(t, nil, args...), data, c.says) })
			}
		})
	}
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(to, "engine-key"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func cut(t *testing.T, data, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "engine", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, info.Size()/2); err != nil {
			t.Fatal(err)
		}
	}
}

func writtenByANewerVersion(t *testing.T, data string) {
	t.Helper()
	dir := filepath.Join(data, "engine")
	db, err := pebble.Open(dir, &pebble.Options{Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Set([]byte("mformat"), binary.BigEndian.AppendUint64(nil, 99), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "seal.json")); err != nil {
		t.Fatal(err)
	}
}

// silent is a log that nobody reads.
type silent struct{ pebble.Logger }

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}

// TestDamageThatIsReadLater flips one bit in a table, here and there, and asks a server for what may lie there. Some of it
// is read when the folder is opened, some when somebody asks, and some by nobody.
func TestDamageThatIsReadLater(t *testing.T) {
	good := seeded(t, "3")
	const document = `{ feed(first: 100) { nodes { content comments(first: 50) { nodes { content } } likes { nodes { id } } } } }`
	later := 0
	for tenth := 1; tenth < 10; tenth++ {
		data := filepath.Join(t.TempDir(), "data")
		copyFolder(t, good, data)
		flip(t, largestTable(t, data), tenth)
		p := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data, "--cost-limit", "0") // it asks for all at once
		url := ""
		for line := range p.lines {
			if rest, ok := strings.CutPrefix(line, "The GraphQL API is at "); ok {
				url = strings.TrimSuffix(rest, "/graphql")
				break
			}
		}
		if url == "" {
			inOneSentence(t, p, data, "is damaged")
			continue
		}
		for range 20 {
			if _, err := (&api{url: url}).send(document, nil); err != nil {
				inOneSentence(t, p, data, "is damaged")
				later++
				break
			}
		}
	}
	if later == 0 {
		t.Error("no damage was met by a request")
	}
}

func largestTable(t *testing.T, data string) (path string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(data, "engine", "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	largest := int64(0)
	for _, table := range tables {
		if info, err := os.Stat(table); err == nil && info.Size() > largest {
			path, largest = table, info.Size()
		}
	}
	return path
}

// flip changes a bit at so many tenths of a file.
func flip(t *testing.T, path string, tenths int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)*tenths/10] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFolderWithoutRights runs as somebody who may not use the folder, which root always may.
func TestFolderWithoutRights(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "cosmosblog-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	open := filepath.Join(folder, "cosmosblog") // where nobody can run it
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{os.Chmod(folder, 0o755), os.WriteFile(open, text, 0o755), os.Mkdir(filepath.Join(folder, "closed"), 0o500), os.Mkdir(filepath.Join(folder, "tmp"), 0o777)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	for name, data := range map[string]string{"closed": filepath.Join(folder, "closed"), "cannot be made": filepath.Join(folder, "closed", "new")} {
		args := onFolder(t, data)
		delete(args, "copy to") // there is no other folder to copy from
		delete(args, "backup")
		delete(args, "copy from")
		args["token"] = []string{"token", "--sub", "anna", "--data", data}
		for command, args := range args {
			t.Run(name+" "+command, func(t *testing.T) {
				p := startAs(t, open, userNobody, args...)
				inOneSentence(t, p, filepath.Join(folder, "closed"), "permission denied")
			})
		}
	}
}

// userNobody is a user who owns nothing.
const userNobody = 65534

func startAs(t *testing.T, path string, user uint32, args ...string) *process {
	t.Helper()
	return startProgram(t, path, nil, func(attributes *syscall.SysProcAttr) {
		if os.Geteuid() == 0 {
			attributes.Credential = &syscall.Credential{Uid: user, Gid: user}
		}
	}, args...)
}

// TestEveryCommandBesideAServer runs them all on the folder of a running server.
func TestEveryCommandBesideAServer(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	copyFolder(t, seeded(t, "1"), filepath.Join(folder, "good"))
	server, visitors := serving(t, nil, "--data", data)
	defer server.terminate(t)
	second, _ := serving(t, nil, "--data", data)
	second.terminate(t)
	commands := onFolder(t, data)
	for _, name := range []string{"seed", "provision", "copy to", "copy from", "backup"} { // copy to needs no other seed
		p := start(t, nil, commands[name]...)
		if code := p.wait(t, patience); code != 0 {
			t.Errorf("%s: exit code %d: %s", name, code, p.stderr.String())
		}
	}
	again := commands["backup"]
	inOneSentence(t, start(t, nil, again...), again[1], "is there already")
	inOneSentence(t, start(t, nil, "backup", filepath.Join(folder, "none", "backup"), "--data", data), folder, "could not be written: no such file or directory")
	projector := start(t, nil, "projector", "--data", data)
	projector.says(t, "through process")
	projector.terminate(t)
	engine := start(t, nil, commands["engine"]...)
	inOneSentence(t, engine, data, "owns the data folder")
	tokenFor(t, data, "anna")
	if titles := allTitles(t, visitors, `feed(first: 100) { nodes { title } }`); len(titles) < 5 {
		t.Errorf("the feed has %v", titles)
	}
}
