package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cosmosblog/proof/apitest"
)

// TestShutdownDrains checks that a server completes the running requests after SIGTERM,
// accepts no new ones, and is not ready.
func TestShutdownDrains(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--metrics-addr", "127.0.0.1:0")
	operator := p.waitForLine(t, `at (http://\S+)/metrics`)
	api, err := url.Parse(p.waitForLine(t, `at (http://\S+)/graphql`))
	if err != nil {
		t.Fatal(err)
	}
	requireStatus(t, operator+"/readyz", http.StatusOK)
	finish := beginRequest(t, api.Host)
	eventually(t, "the request is in flight", waitTime, func() bool {
		return strings.Contains(get(t, operator+"/metrics"), "\ncosmosblog_requests_in_flight 1\n")
	})
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server accepts no more connections", waitTime, func() bool {
		connection, err := net.Dial("tcp", api.Host)
		if err == nil {
			connection.Close()
		}
		return err != nil
	})
	requireStatus(t, operator+"/readyz", http.StatusServiceUnavailable)
	answer := finish()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != `{"data":{"feed":{"nodes":[]}}}` {
		t.Errorf("got %s %s %v", answer.Status, text, err)
	}
	if code := p.wait(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
	if log := p.stderr.String(); !strings.Contains(log, "cause.process=") {
		t.Errorf("the log has no reason for not being ready: %s", log)
	}
}

// beginRequest sends a request without its end. finish sends the end and returns the response.
func beginRequest(t *testing.T, address string) (finish func() *http.Response) {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	const body = `{"query":"{ feed { nodes { id } } }"}`
	fmt.Fprintf(connection, "POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		address, len(body), body[:10])
	return func() *http.Response {
		t.Helper()
		io.WriteString(connection, body[10:])
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

// TestAcknowledgedWritesSurviveAKill kills a server while clients write. After a restart, the
// sources must have all acknowledged writes at once, and the views within a second.
func TestAcknowledgedWritesSurviveAKill(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, anonymous := serving(t, nil, "--data", data)
	anna, userID := signUp(t, anonymous, data, "anna")
	postID := anna.CreatePost(t, "The first", "It was there before.")
	acknowledged := &acknowledgements{posts: []string{"The first"}, enough: make(chan struct{})}
	var writing sync.WaitGroup
	for w := range 8 {
		writing.Go(func() { acknowledged.write(t, anna, fmt.Sprint(w), postID) })
	}
	select {
	case <-acknowledged.enough:
	case <-deadline(t).Done():
		t.Fatal("the clients wrote too little")
	}
	server.kill(t)
	writing.Wait()

	server, anonymous = serving(t, nil, "--data", data)
	defer server.terminate(t)
	comments, count := allComments(t, anonymous, postID)
	for _, text := range acknowledged.comments {
		if !comments[text] {
			t.Errorf("the comment %s is lost", text)
		}
	}
	if count != len(comments) {
		t.Errorf("the post has %d comments, but a commentCount of %d", len(comments), count)
	}
	eventually(t, "the author's list and the feed contain every post", time.Second, func() bool {
		listed := titlesOf(t, anonymous, fmt.Sprintf(`user(id: %q) { posts(first: 100) { nodes { title } } }`, userID))
		recent := feedTitles(t, anonymous)
		return !slices.ContainsFunc(acknowledged.posts, func(title string) bool { return !listed[title] || !recent[title] })
	})
}

// acknowledgements are the acknowledged writes of several clients.
type acknowledgements struct {
	mu              sync.Mutex
	comments, posts []string      // contents and titles
	enough          chan struct{} // closed after 300 writes
}

func (a *acknowledgements) note(list *[]string, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*list = append(*list, text)
	if len(a.comments)+len(a.posts) == 300 {
		close(a.enough)
	}
}

// write creates comments on a post, and some posts, until the server does not respond.
func (a *acknowledgements) write(t *testing.T, client *apitest.Client, name, postID string) {
	for i := 0; ; i++ {
		text := fmt.Sprintf("%s-%d", name, i)
		list, document := &a.comments, commentMutation
		variables := apitest.Variables{"text": text, "post": postID}
		if i%8 == 7 {
			list = &a.posts
			document = `mutation ($text: String!) { createPost(input: {title: $text, content: $text}) { post { id } } }`
			delete(variables, "post")
		}
		got, err := client.Send(document, variables)
		if err != nil {
			return
		}
		if len(got.Errors) > 0 {
			t.Errorf("%s: %+v", text, got.Errors)
			return
		}
		a.note(list, text)
	}
}

const commentMutation = `mutation ($text: String!, $post: ID!) {
	createComment(input: {postId: $post, content: $text}) { post { id } } }`

// TestStopUnderLoad sends SIGTERM while clients write. All acknowledged writes must survive,
// and no client may get an error in an answer.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server, anonymous := serving(t, nil, "--data", data)
	anna, _ := signUp(t, anonymous, data, "anna")
	postID := anna.CreatePost(t, "Busy", "Until the end.")
	var acknowledged atomic.Int32
	busy := make(chan struct{})
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := 0; ; i++ {
				got, err := anna.Send(commentMutation, apitest.Variables{"post": postID, "text": fmt.Sprintf("%d-%d", w, i)})
				if err != nil {
					return // the server no longer listens
				}
				if len(got.Errors) > 0 {
					t.Errorf("%+v", got.Errors)
					return
				}
				if acknowledged.Add(1) == 20 {
					close(busy)
				}
			}
		})
	}
	<-busy
	server.terminate(t)
	all.Wait()
	server, anonymous = serving(t, nil, "--data", data)
	defer server.terminate(t)
	comments, count := allComments(t, anonymous, postID)
	if n := int(acknowledged.Load()); len(comments) < n || count != len(comments) {
		t.Errorf("%d comments with a commentCount of %d, and %d were acknowledged", len(comments), count, n)
	}
}

// TestTwoServersOnOneEngine checks that repeated likes and retried comments count once, on
// whichever server they arrive.
func TestTwoServersOnOneEngine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	engine, environment := serveEngine(t, filepath.Join(folder, "engine"))
	defer engine.terminate(t)
	provisionWith(t, environment)
	data := filepath.Join(folder, "servers") // for the key of local tokens
	first, a := serving(t, environment, "--data", data)
	defer first.terminate(t)
	second, b := serving(t, environment, "--data", data)
	defer second.terminate(t)

	token := tokenFor(t, data, "anna")
	servers := []*apitest.Client{a.WithToken(token), b.WithToken(token)}
	servers[0].CreateUser(t, "anna")
	postID := servers[1].CreatePost(t, "One engine", "Two servers.")
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			retry(t, servers[i%2], `mutation ($post: ID!) {
				createComment(input: {postId: $post, content: "once", idempotencyKey: "k"}) { comment { id } } }`, postID)
			if i < 20 {
				retry(t, servers[i%2], `mutation ($post: ID!) { likePost(input: {postId: $post}) { like { id } } }`, postID)
			}
		})
	}
	all.Wait()
	var got struct {
		Post struct{ CommentCount, LikeCount int }
	}
	a.Ask(t, `query ($post: ID!) { post(id: $post) { commentCount likeCount } }`, apitest.Variables{"post": postID}, &got)
	if got.Post.CommentCount != 1 || got.Post.LikeCount != 1 {
		t.Errorf("got %+v", got)
	}
	waitForFeed(t, b, "One engine")
}

// retry sends a mutation until it is not throttled.
func retry(t *testing.T, client *apitest.Client, document, postID string) {
	for range 20 {
		got, err := client.Send(document, apitest.Variables{"post": postID})
		if err != nil {
			t.Error(err)
			return
		}
		if len(got.Errors) == 0 {
			return
		}
		if got.Errors[0].Extensions.Code != "THROTTLED" {
			t.Errorf("%+v", got.Errors)
			return
		}
	}
	t.Error("the mutation was throttled 20 times")
}

func TestProductionHasNoDevelopmentFeatures(t *testing.T) {
	data := t.TempDir()
	token, err := runOnce(t, nil, "token", "--sub", "anna", "--data", data)
	if err != nil {
		t.Fatal(err)
	}
	a := serveInProcess(t, nil, "--production", "--data", data)
	if got := a.Ask(t, `{ feed { nodes { id } } }`, nil, nil); len(got.Extensions.Cosmos.Requests) > 0 {
		t.Error("production returns diagnostics")
	}
	for document, code := range map[string]string{
		`{ __schema { types { name } } }`: "GRAPHQL_VALIDATION_FAILED",
		`{ fed { nodes { id } } }`:        "GRAPHQL_VALIDATION_FAILED",
		`mutation { likePost(input: {postId: "p_aaaaaaaaaaaaaaaaaaaaaaaaaa"}) { post { id } } }`: "UNAUTHENTICATED",
	} {
		got, err := a.Send(document, nil)
		if err != nil || len(got.Errors) == 0 || got.Errors[0].Extensions.Code != code || strings.Contains(got.Errors[0].Message, "Did you mean") {
			t.Errorf("%s: got %+v, %v", document, got, err)
		}
	}
	if got, err := a.WithToken(strings.TrimSpace(token)).Send(`{ viewer { id } }`, nil); err != nil || len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "UNAUTHENTICATED" {
		t.Errorf("a local token: got %+v, %v", got, err)
	}
	requireStatus(t, a.URL+"/playground", http.StatusNotFound)
}

// TestCostLimitOfAServer sets the limit by the environment and by the flag, which takes
// precedence.
func TestCostLimitOfAServer(t *testing.T) {
	const query = `{ feed(first: 1) { nodes { id } } }`
	limited := serveInProcess(t, map[string]string{"COSMOSBLOG_COST_LIMIT": "2"}, "--data", t.TempDir())
	got, err := limited.Send(query, nil)
	if err != nil || len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "COST_LIMIT_EXCEEDED" {
		t.Errorf("a limit of 2 RU: %+v, %v", got, err)
	}
	withFlag := serveInProcess(t, map[string]string{"COSMOSBLOG_COST_LIMIT": "2"}, "--data", t.TempDir(), "--cost-limit", "4")
	withFlag.Ask(t, query, nil, nil)
}

// TestPublicMaxAgeOfAServer reads who may keep the answer of a server that allows sharing.
func TestPublicMaxAgeOfAServer(t *testing.T) {
	client := serveInProcess(t, nil, "--data", t.TempDir(), "--public-max-age", "1m30s")
	response, err := http.Get(client.URL + "/graphql?query={__typename}")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := response.Header.Get("Cache-Control"); got != "public, max-age=90" {
		t.Errorf("Cache-Control is %q", got)
	}
}
