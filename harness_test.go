package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/cockroachdb/pebble/v2"

	"cosmosblog/cli"
	"cosmosblog/cli/config"
	"cosmosblog/engine"
	"cosmosblog/graph/model"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/apitest"
	"cosmosblog/store/cosmos"
)

// update makes the tests that compare the README with the program write it instead.
var update = flag.Bool("update", false, "write the generated sections of README.md")

// waitTime is the maximum wait of a test for an event that normally follows immediately.
const waitTime = 60 * time.Second

// programName is the name of the program under test. It is a link to the test binary, which runs
// main under this name: a separate build would take seconds.
const programName = "cosmosblog"

// collectionPercent is GOGC of the tests and of the processes that they start. Their heaps are
// small, so the default value collects many times a second.
const collectionPercent = 400

// sharedFolder contains the files that tests share: the program and the seeded data folders.
var sharedFolder string

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		go reportLiveMemory()
		main()
		return
	}
	// Most tests wait for processes, so more of them run in parallel than there are processors.
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	flag.Parse()
	debug.SetGCPercent(collectionPercent)
	os.Exit(runTests(m))
}

// reportLiveMemory makes a program under test write its live memory to standard output whenever it
// receives SIGUSR1.
func reportLiveMemory() {
	wanted := make(chan os.Signal, 1)
	signal.Notify(wanted, syscall.SIGUSR1)
	for range wanted {
		for range 3 { // a pool drops its buffers in the second collection
			runtime.GC()
		}
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		fmt.Println("live memory:", stats.HeapAlloc)
	}
}

func runTests(m *testing.M) int {
	var err error
	if sharedFolder, err = os.MkdirTemp("", "cosmosblog-test-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(sharedFolder)
	binary, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if err := os.Symlink(binary, programPath()); err != nil {
		panic(err)
	}
	return m.Run()
}

func programPath() string { return filepath.Join(sharedFolder, programName) }

// deadline returns a context that ends after waitTime.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTime)
	t.Cleanup(cancel)
	return ctx
}

// lookupIn returns a replacement for os.LookupEnv.
func lookupIn(environment map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { text, ok := environment[name]; return text, ok }
}

// runOnce runs the program in this process until it ends.
func runOnce(t *testing.T, environment map[string]string, args ...string) (stdout string, err error) {
	t.Helper()
	var out, log safeBuffer
	err = run(deadline(t), args, cli.Environment{Stdout: &out, Stderr: &log, LookupEnv: lookupIn(environment)})
	return out.String(), err
}

// serveInProcess runs serve in this process until the end of the test, and returns its API.
func serveInProcess(t *testing.T, environment map[string]string, args ...string) *apitest.Client {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	stdout, stderr := &announcement{url: make(chan string, 1)}, &safeBuffer{}
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), cli.Environment{
			Stdout: stdout, Stderr: stderr, LookupEnv: lookupIn(environment),
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v\n%s", err, stderr.String())
		}
	})
	select {
	case url := <-stdout.url:
		return &apitest.Client{URL: url}
	case err := <-ended:
		ended <- nil
		t.Fatalf("serve: %v\n%s", err, stderr.String())
	case <-deadline(t).Done():
		t.Fatal("serve did not start")
	}
	return nil
}

// announcement is the standard output of a server. It sends the server's first URL to url.
type announcement struct {
	url    chan string
	isSent bool
}

func (a *announcement) Write(line []byte) (int, error) {
	if _, rest, ok := strings.Cut(string(line), " at http://"); ok && !a.isSent {
		a.isSent = true
		a.url <- "http://" + strings.TrimSuffix(strings.TrimSpace(rest), "/graphql")
	}
	return len(line), nil
}

// process is a running program.
type process struct {
	command *exec.Cmd
	lines   chan string // of its standard output
	stderr  *safeBuffer
	exited  chan error
}

// start runs the program with only the given environment.
func start(t *testing.T, environment []string, args ...string) *process {
	t.Helper()
	return startProgram(t, programPath(), environment, &syscall.SysProcAttr{}, args...)
}

// startProgram runs the program at path. At the end of the test, it is killed.
func startProgram(
	t *testing.T, path string, environment []string, attributes *syscall.SysProcAttr, args ...string,
) *process {
	t.Helper()
	p := &process{
		command: exec.Command(path, args...),
		lines:   make(chan string, 100),
		stderr:  &safeBuffer{},
		exited:  make(chan error, 1),
	}
	p.command.Env = append([]string{
		"HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir(), fmt.Sprint("GOGC=", collectionPercent),
	}, environment...)
	p.command.SysProcAttr = attributes
	p.command.Stderr = p.stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go p.readOutput(stdout)
	t.Cleanup(func() {
		p.command.Process.Kill()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", strings.Join(args, " "), p.stderr.String())
		}
	})
	return p
}

func (p *process) readOutput(stdout io.Reader) {
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		p.lines <- scanner.Text()
	}
	close(p.lines)
	p.exited <- p.command.Wait()
}

// waitForLine waits for a line of the standard output that matches pattern. It returns the last
// group, or the match if there is no group.
func (p *process) waitForLine(t *testing.T, pattern string) string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	timeout := time.After(waitTime)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("the process ended without the line %s: %s", pattern, p.stderr.String())
			}
			if match := expression.FindStringSubmatch(line); match != nil {
				return match[len(match)-1]
			}
		case <-timeout:
			t.Fatalf("the process did not write the line %s: %s", pattern, p.stderr.String())
		}
	}
}

// waitForLog waits until the log contains all texts. The process writes it beside its answers.
func (p *process) waitForLog(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		eventually(t, fmt.Sprintf("the log contains %q", text), waitTime, func() bool {
			return strings.Contains(p.stderr.String(), text)
		})
	}
}

// wait waits for the end of the process, and returns its exit code, or -1 after a signal.
func (p *process) wait(t *testing.T, atMost time.Duration) int {
	t.Helper()
	timeout := time.After(atMost)
	for {
		select {
		case <-p.lines: // a full channel would block the process
		case err := <-p.exited:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return exit.ExitCode()
			}
			if err != nil {
				t.Fatal(err)
			}
			return 0
		case <-timeout:
			t.Fatalf("the process did not end within %v", atMost)
		}
	}
}

// requireExitCode waits for the end of the process and checks its exit code.
func (p *process) requireExitCode(t *testing.T, want int) {
	t.Helper()
	if code := p.wait(t, waitTime); code != want {
		t.Errorf("exit code %d, want %d: %s", code, want, p.stderr.String())
	}
}

// kill ends the process without a chance to clean up, as a crash does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait(t, waitTime)
}

// terminate sends SIGTERM, and requires that the process ends with exit code 0. It checks no time,
// because a busy machine takes longer.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t, waitTime); code != 0 {
		t.Errorf("exit code %d after SIGTERM: %s", code, p.stderr.String())
	}
}

// safeBuffer is a buffer for concurrent use.
type safeBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// serving starts a server and returns its API.
func serving(t *testing.T, environment []string, args ...string) (*process, *apitest.Client) {
	t.Helper()
	p := start(t, environment, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	return p, &apitest.Client{URL: p.waitForLine(t, `at (http://\S+)/graphql`)}
}

// serveEngine starts an embedded engine, and returns the environment of its clients.
func serveEngine(t *testing.T, data string, args ...string) (*process, []string) {
	t.Helper()
	p := start(t, nil, append([]string{"engine", "--addr", "127.0.0.1:0", "--data", data}, args...)...)
	return p, []string{"COSMOS_ENDPOINT=" + p.waitForLine(t, `serves (https?://\S+)$`), "COSMOS_KEY=" + config.EmulatorKey}
}

// endpointOf returns the endpoint in the environment of an engine's clients.
func endpointOf(environment []string) string {
	return strings.TrimPrefix(environment[0], "COSMOS_ENDPOINT=")
}

// clientsOf returns the environment of an engine's clients for runOnce.
func clientsOf(environment []string) map[string]string {
	return map[string]string{"COSMOS_ENDPOINT": endpointOf(environment), "COSMOS_KEY": config.EmulatorKey}
}

// provisionWith runs the command provision, and requires that a second run finds nothing to do.
func provisionWith(t *testing.T, environment []string) {
	t.Helper()
	p := start(t, environment, "provision")
	p.waitForLine(t, `^created the container posts$`)
	if code := p.wait(t, waitTime); code != 0 {
		t.Fatalf("provision ended with %d: %s", code, p.stderr.String())
	}
	again := start(t, environment, "provision")
	again.waitForLine(t, provisionIsClean)
	again.wait(t, waitTime)
}

// tokenFor returns a token from the command token.
func tokenFor(t *testing.T, data, subject string) string {
	t.Helper()
	token, err := runOnce(t, nil, "token", "--data", data, "--sub", subject)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(token)
}

// signUp creates a user with a local token and the subject as the username. It returns the user's
// client and global id.
func signUp(t *testing.T, anonymous *apitest.Client, data, subject string) (user *apitest.Client, id string) {
	t.Helper()
	user = anonymous.WithToken(tokenFor(t, data, subject))
	return user, user.CreateUser(t, subject)
}

// eventually calls is repeatedly until it returns true, because other processes run
// asynchronously.
func eventually(t *testing.T, what string, atMost time.Duration, is func() bool) {
	t.Helper()
	timeout := time.After(atMost)
	for ticker := time.NewTicker(5 * time.Millisecond); !is(); {
		select {
		case <-ticker.C:
		case <-timeout:
			t.Fatalf("not within %v: %s", atMost, what)
		}
	}
}

// waitForFeed waits until the feed contains a post with the title.
func waitForFeed(t *testing.T, client *apitest.Client, title string) {
	t.Helper()
	eventually(t, "the feed contains "+title, waitTime, func() bool { return feedTitles(t, client)[title] })
}

// feedTitles returns the titles of the newest posts in the feed.
func feedTitles(t *testing.T, client *apitest.Client) map[string]bool {
	t.Helper()
	return titlesOf(t, client, `feed(first: 100) { nodes { title } }`)
}

// titlesOf returns the titles of all posts in a field.
func titlesOf(t *testing.T, client *apitest.Client, field string) map[string]bool {
	t.Helper()
	var found any
	client.Ask(t, `{ `+field+` }`, nil, &found)
	titles := map[string]bool{}
	collectTitles(found, titles)
	return titles
}

func collectTitles(found any, titles map[string]bool) {
	switch found := found.(type) {
	case map[string]any:
		for name, value := range found {
			if title, ok := value.(string); ok && name == "title" {
				titles[title] = true
			}
			collectTitles(value, titles)
		}
	case []any:
		for _, value := range found {
			collectTitles(value, titles)
		}
	}
}

// allComments returns the contents of all comments of a post, and the post's commentCount.
func allComments(t *testing.T, client *apitest.Client, postID string) (contents map[string]bool, count int) {
	t.Helper()
	contents = map[string]bool{}
	variables := apitest.Variables{"post": postID}
	for {
		var page struct {
			Post struct {
				CommentCount int
				Comments     struct {
					Nodes    []struct{ Content string }
					PageInfo struct {
						HasNextPage bool
						EndCursor   string
					}
				}
			}
		}
		client.Ask(t, `query ($post: ID!, $after: String) { post(id: $post) { commentCount
			comments(first: 100, after: $after) { nodes { content } pageInfo { hasNextPage endCursor } } } }`, variables, &page)
		for _, comment := range page.Post.Comments.Nodes {
			if contents[comment.Content] {
				t.Errorf("the comment %s is in the list twice", comment.Content)
			}
			contents[comment.Content] = true
		}
		if !page.Post.Comments.PageInfo.HasNextPage {
			return contents, page.Post.CommentCount
		}
		variables["after"] = page.Post.Comments.PageInfo.EndCursor
	}
}

// get returns the body of a successful response.
func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s returns %s %v\n%s", url, response.Status, err, text)
	}
	return string(text)
}

// requireStatus checks the status of a GET request.
func requireStatus(t *testing.T, url string, want int) {
	t.Helper()
	if status := statusOf(t, url); status != want {
		t.Errorf("%s returns %d, want %d", url, status, want)
	}
}

// statusOf returns the status of a GET request.
func statusOf(t *testing.T, url string) int {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// storedID returns the stored id in a global id.
func storedID(t *testing.T, id string) string {
	t.Helper()
	ref, err := model.UnmarshalID(id)
	if err != nil {
		t.Fatal(err)
	}
	return ref.ID
}

// dataSet is a data set of the command seed.
type dataSet struct{ users, seed string }

// These data sets are small for their number of users, because tests read and write all items.
var (
	oneUser    = dataSet{"1", "11"} // 12 posts, 200 items
	threeUsers = dataSet{"3", "5"}  // 73 posts, 1364 items
)

// args returns the arguments of the command seed for a data folder.
func (s dataSet) args(data string) []string {
	return []string{"seed", "--users", s.users, "--seed", s.seed, "--data", data}
}

var (
	seededMutex   sync.Mutex
	seededFolders = map[dataSet]string{}
)

// seeded returns a data folder with a data set. It seeds each set only once, and returns copies.
func seeded(t *testing.T, set dataSet) (data string) {
	t.Helper()
	seededMutex.Lock()
	defer seededMutex.Unlock()
	if seededFolders[set] == "" {
		folder := filepath.Join(sharedFolder, "seeded-"+set.users+"-"+set.seed)
		if _, err := runOnce(t, nil, set.args(folder)...); err != nil {
			t.Fatal(err)
		}
		seededFolders[set] = folder
	}
	data = filepath.Join(t.TempDir(), "seeded")
	copyFolder(t, seededFolders[set], data)
	return data
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

// newClient opens an azcosmos client. If engine is not nil, the client reaches it in process.
func newClient(t *testing.T, endpoint, key string, engine *engine.Engine) *azcosmos.Client {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		t.Fatal(err)
	}
	options := &azcosmos.ClientOptions{}
	if engine != nil {
		options.Transport = inprocess.To(engine)
	}
	client, err := azcosmos.NewClientWithKey(endpoint, credential, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// containerOf returns a container of the default database.
func containerOf(t *testing.T, client *azcosmos.Client, name string) *azcosmos.ContainerClient {
	t.Helper()
	container, err := client.NewContainer(cosmos.DefaultDatabase, name)
	if err != nil {
		t.Fatal(err)
	}
	return container
}

// eachItem decodes all items of a container, read without package store.
func eachItem[T any](t *testing.T, engine *engine.Engine, container string, do func(T)) {
	t.Helper()
	c := containerOf(t, newClient(t, inprocess.NewEndpoint(), engine.Key(), engine), container)
	options := &azcosmos.QueryOptions{PageSizeHint: 1000}
	for pager := c.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), options); pager.More(); {
		page, err := pager.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range page.Items {
			var item T
			if err := json.Unmarshal(text, &item); err != nil {
				t.Fatal(fmt.Errorf("%s: %w", text, err))
			}
			do(item)
		}
	}
}

// setProperty sets a property of an item with an azcosmos client.
func setProperty(t *testing.T, endpoint, container, partition, id, path string, value any) {
	t.Helper()
	var changes azcosmos.PatchOperations
	changes.AppendSet(path, value)
	c := containerOf(t, newClient(t, endpoint, config.EmulatorKey, nil), container)
	if _, err := c.PatchItem(t.Context(), azcosmos.NewPartitionKeyString(partition), id, changes, nil); err != nil {
		t.Fatal(err)
	}
}

// discardLogger is a pebble logger that discards its messages.
type discardLogger struct{ pebble.Logger }

func (discardLogger) Infof(string, ...any)  {}
func (discardLogger) Errorf(string, ...any) {}

// openPebble opens the engine's database in a data folder.
func openPebble(t *testing.T, dir string) *pebble.DB {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{Logger: discardLogger{}})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// closeWithoutSeal closes the engine's database and removes its seal, which lists the files as
// written by the engine.
func closeWithoutSeal(t *testing.T, db *pebble.DB, dir string) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "seal.json")); err != nil {
		t.Fatal(err)
	}
}
