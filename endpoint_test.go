package main

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cosmosblog/internal/config"
)

// engineProcess serves an embedded engine and gives the environment of those who use it.
func engineProcess(t *testing.T, data string, args ...string) (*process, []string) {
	t.Helper()
	p := start(t, nil, append([]string{"engine", "--addr", "127.0.0.1:0", "--data", data}, args...)...)
	return p, []string{"COSMOS_ENDPOINT=" + p.says(t, `serves (https?://\S+)$`), "COSMOS_KEY=" + config.EmulatorKey}
}

func provisioned(t *testing.T, environment []string) {
	t.Helper()
	p := start(t, environment, "provision")
	p.says(t, `^made the container posts$`)
	if code := p.wait(t, patience); code != 0 {
		t.Fatalf("provision ended with %d: %s", code, p.stderr.String())
	}
	again := start(t, environment, "provision")
	again.says(t, `^everything is there$`)
	again.wait(t, patience)
}

// TestProvisionSaysWhatItChanges holds that a database is made as it was asked for, that what is asked for anew is changed
// where that can be, and that nothing is changed otherwise.
func TestProvisionSaysWhatItChanges(t *testing.T) {
	engine, environment := engineProcess(t, t.TempDir())
	defer engine.terminate(t)
	start(t, environment, "provision", "--throughput", "manual:400,posts=autoscale:4000").
		says(t, `^made the container posts \(throughput: autoscale up to 4000 RU/s\)$`)
	again := start(t, append(environment, "COSMOS_THROUGHPUT=manual:400,posts=autoscale:8000"), "provision")
	again.says(t, `^changed the throughput of the container posts from autoscale up to 4000 RU/s to autoscale up to 8000 RU/s$`)
	if code := again.wait(t, patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	other := start(t, environment, "provision", "--throughput", "autoscale:1000", "--shared-throughput")
	if code := other.wait(t, patience); code != 1 {
		t.Errorf("exit code %d", code)
	}
	said := other.stderr.String()
	for _, part := range []string{"cosmosblog: database cosmosblog at http://127", "nothing was changed", "the throughput of the container users is manual, 400 RU/s and should be shared"} {
		if strings.Count(said, "\n") != 1 || !strings.Contains(said, part) {
			t.Errorf("it said %q", said)
		}
	}
}

// TestProvisionPrintsBicep holds that the template needs no account and makes no folder.
func TestProvisionPrintsBicep(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	printed, err := runOnce(t, nil, "provision", "--print", "bicep", "--throughput", "autoscale:3000", "--database", "blog", "--data", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"param databaseName string = 'blog'", "maxThroughput: 3000", "name: 'posts'", "function createComment(args) {"} {
		if !strings.Contains(printed, part) {
			t.Errorf("the template does not have %q", part)
		}
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("a data folder was made")
	}
}

// TestTwoServersOnOneEngine holds that neither likes nor retried comments count twice, whichever server they reach.
func TestTwoServersOnOneEngine(t *testing.T) {
	folder := t.TempDir()
	engine, environment := engineProcess(t, filepath.Join(folder, "engine"))
	defer engine.terminate(t)
	provisioned(t, environment)
	data := filepath.Join(folder, "servers") // the key of local tokens
	first, a := serving(t, environment, "--data", data)
	defer first.terminate(t)
	second, b := serving(t, environment, "--data", data)
	defer second.terminate(t)

	token := tokenFor(t, data, "anna")
	servers := []*api{a.as(token), b.as(token)}
	servers[0].createUser(t, "anna")
	postID := servers[1].createPost(t, "One engine", "Two servers.")
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			s := servers[i%2]
			s.retry(t, `mutation ($post: ID!) { createComment(input: {postId: $post, content: "once", idempotencyKey: "k"}) { comment { id } } }`, postID)
			if i < 50 {
				s.retry(t, `mutation ($post: ID!) { likePost(input: {postId: $post}) { like { id } } }`, postID)
			}
		})
	}
	all.Wait()
	var got struct {
		Post struct{ CommentCount, LikeCount int }
	}
	a.ask(t, `query ($post: ID!) { post(id: $post) { commentCount likeCount } }`, variables{"post": postID}, &got)
	if got.Post.CommentCount != 1 || got.Post.LikeCount != 1 {
		t.Errorf("got %+v", got)
	}
	eventually(t, "the other server's feed has the post", patience, func() bool { return allTitles(t, b, `feed { nodes { title } }`)["One engine"] })
}

// retry sends a mutation until it is not told to come again later.
func (a *api) retry(t *testing.T, document, postID string) {
	for range 20 {
		got, err := a.send(document, variables{"post": postID})
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
	t.Error("throttled for ever")
}

func TestServerSaysWhatAnEndpointLacks(t *testing.T) {
	engine, environment := engineProcess(t, t.TempDir())
	defer engine.terminate(t)
	server := start(t, environment, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir())
	if code := server.wait(t, patience); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if said := server.stderr.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "users, posts") || !strings.Contains(said, "provision") {
		t.Errorf("it said %q", said)
	}
}

func TestEngineWithTLS(t *testing.T) {
	data := t.TempDir()
	engine, environment := engineProcess(t, data, "--tls")
	defer engine.terminate(t)
	provisioned(t, append(environment, "SSL_CERT_FILE="+filepath.Join(data, "engine-tls.pem")))
	stranger := start(t, environment, "provision")
	if code := stranger.wait(t, patience); code != 1 || !strings.Contains(stranger.stderr.String(), "certificate") {
		t.Errorf("exit code %d: %s", code, stranger.stderr.String())
	}
}

// TestBesideAServer holds that commands work on a folder that a server owns.
func TestBesideAServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, nobody := serving(t, nil, "--data", data, "--projector=false")
	anna := nobody.as(tokenFor(t, data, "anna"))
	userID := anna.createUser(t, "anna")
	anna.createPost(t, "Early", "Before the projector came.")

	projector := start(t, nil, "projector", "--data", data, "--addr", "127.0.0.1:0")
	projector.says(t, fmt.Sprintf(`works on .*, through process %d`, server.command.Process.Pid))
	ready := projector.says(t, `readiness is at (\S+)$`)
	checkStatus(t, ready, http.StatusOK)
	has := func(a *api, title string) func() bool {
		return func() bool {
			return allTitles(t, a, `feed { nodes { title } }`)[title] &&
				allTitles(t, a, fmt.Sprintf(`user(id: %q) { posts { nodes { title } } }`, userID))[title]
		}
	}
	eventually(t, "the views have what was written before", patience, has(anna, "Early"))

	second, besides := serving(t, nil, "--data", data)
	besides.as(anna.token).createPost(t, "Late", "Through the other server.")
	eventually(t, "the views have what the second server wrote", patience, has(anna, "Late"))
	second.terminate(t)
	server.terminate(t)
	checkStatus(t, ready, http.StatusServiceUnavailable)
	projector.terminate(t)

	// Who comes now owns the folder.
	owner, nobody := serving(t, nil, "--data", data)
	if !has(nobody, "Late")() {
		t.Error("the views are gone")
	}
	owner.terminate(t)
}

func checkStatus(t *testing.T, url string, want int) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != want {
		t.Errorf("%s answers %s, want %d", url, response.Status, want)
	}
}

// TestProjectorSurvivesTheServer holds that a projector beside a server goes on when that was killed and started again.
func TestProjectorSurvivesTheServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, nobody := serving(t, nil, "--data", data, "--projector=false")
	token := tokenFor(t, data, "anna")
	nobody.as(token).createUser(t, "anna")
	projector := start(t, nil, "projector", "--data", data)
	projector.says(t, "works on")
	server.kill(t)
	server, nobody = serving(t, nil, "--data", data, "--projector=false")
	nobody.as(token).createPost(t, "After", "The server came back.")
	eventually(t, "the feed has the post", patience, func() bool { return allTitles(t, nobody, `feed { nodes { title } }`)["After"] })
	projector.terminate(t)
	server.terminate(t)
}

// TestStopsWhileItWorks holds that what was acknowledged before and after SIGTERM is there, and that nobody is told of a
// failure of ours.
func TestStopsWhileItWorks(t *testing.T) {
	data := t.TempDir()
	server, nobody := serving(t, nil, "--data", data)
	token := tokenFor(t, data, "anna")
	anna := nobody.as(token)
	anna.createUser(t, "anna")
	postID := anna.createPost(t, "Busy", "Until the end.")
	var acknowledged atomic.Int32
	busy := make(chan struct{})
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := 0; ; i++ {
				got, err := anna.send(`mutation ($post: ID!, $text: String!) { createComment(input: {postId: $post, content: $text}) { comment { id } } }`,
					variables{"post": postID, "text": fmt.Sprintf("%d-%d", w, i)})
				if err != nil {
					return // it listens no longer
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
	server, nobody = serving(t, nil, "--data", data)
	defer server.terminate(t)
	texts, counted := allComments(t, nobody, postID)
	if n := int(acknowledged.Load()); len(texts) < n || counted != len(texts) {
		t.Errorf("%d comments, counted as %d, of %d acknowledged", len(texts), counted, n)
	}
}

// TestStopsWhenTheDatabaseHangs stops the engine's process in its tracks, so that neither a request nor the giving back of
// leases is answered.
func TestStopsWhenTheDatabaseHangs(t *testing.T) {
	engine, environment := engineProcess(t, t.TempDir())
	provisioned(t, environment)
	data := t.TempDir()
	server, nobody := serving(t, environment, "--data", data)
	anna := nobody.as(tokenFor(t, data, "anna"))
	anna.createUser(t, "anna")
	anna.createPost(t, "There", "The projector is at work.")
	eventually(t, "the projector works", patience, func() bool { return allTitles(t, nobody, `feed { nodes { title } }`)["There"] })
	if err := engine.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer engine.command.Process.Signal(syscall.SIGCONT)
	sent, cut := make(chan struct{}), make(chan struct{})
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) },
	}), http.MethodGet, nobody.url+"/graphql?query={feed{nodes{id}}}", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(cut)
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
	}()
	<-sent
	began := time.Now()
	server.terminate(t)
	t.Logf("it ended within %v", time.Since(began))
	<-cut
}
