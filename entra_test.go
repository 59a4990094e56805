//go:build ci

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/engine"
	"cosmosblog/proof/apitest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// TestEntra checks that a server and a projector in separate processes need no key if the
// containers exist, and that provision explains why it needs the key.
func TestEntra(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	engine, withKey := serveEngine(t, folder, "--tls")
	defer engine.terminate(t)
	trust := "SSL_CERT_FILE=" + filepath.Join(folder, "engine-tls.pem")
	withKey = append(withKey, trust)
	withToken := []string{withKey[0], trust}
	for name, value := range newIdentity(t) {
		withToken = append(withToken, name+"="+value)
	}

	rejected := start(t, withToken, "provision")
	rejected.requireExitCode(t, 1)
	output := rejected.stderr.String()
	if strings.Count(output, "\n") != 1 || !strings.Contains(output, "403/5300") || !strings.Contains(output, "--print bicep") {
		t.Errorf("got %q", output)
	}
	provisionWith(t, withKey)

	data := t.TempDir()
	server, anonymous := serving(t, withToken, "--data", data, "--projector=false")
	defer server.terminate(t)
	projector := start(t, withToken, "projector", "--addr", "127.0.0.1:0")
	defer projector.terminate(t)
	ready := projector.waitForLine(t, `readiness is at (\S+)$`)
	requireStatus(t, ready, http.StatusOK)

	anna, _ := signUp(t, anonymous, data, "anna")
	postID := anna.CreatePost(t, "Keyless", "Nobody here knows a key.")
	anna.CreateComment(t, postID, "True.")
	anna.LikePost(t, postID)
	eventually(t, "the views contain the post with its counts", waitTime, func() bool { return feedHas(t, anna, `"anna" 1 1`) })
	anna.Ask(t, `mutation { updateUser(input: {username: "hannah"}) { user { id } } }`, nil, nil)
	eventually(t, "the views contain the new username", waitTime, func() bool { return feedHas(t, anna, `"hannah" 1 1`) })
}

// An engine accepts tokens of Entra ID, which it does not verify, only with the emulators' key.
func TestEntraNeedsTheEmulatorsKey(t *testing.T) {
	t.Parallel()
	const ownKey = "COSMOSBLOG_ENGINE_KEY=b25seSB0aGUgb3BlcmF0b3Iga25vd3MgdGhpcyBrZXkuLi4="
	for _, c := range []struct {
		environment []string
		status      int
	}{{nil, http.StatusNotFound}, {[]string{ownKey}, http.StatusUnauthorized}} {
		engine := start(t, c.environment, "engine", "--addr", "127.0.0.1:0", "--data", t.TempDir())
		defer engine.terminate(t)
		request, err := http.NewRequest(http.MethodGet, engine.waitForLine(t, `serves (http://\S+)$`)+"/dbs/missing", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "type%3Daad%26ver%3D1.0%26sig%3Da.b.c")
		request.Header.Set("x-ms-version", "2018-12-31")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("with the environment %q: status %s, want %d", c.environment, response.Status, c.status)
		}
	}
}

// newIdentity serves tokens like the identity endpoint of App Service and Container Apps ("How
// to use managed identities for App Service", REST endpoint reference). It returns the
// environment in which azidentity's default chain finds the endpoint.
func newIdentity(t *testing.T) map[string]string {
	t.Helper()
	const secret = "a-secret-header"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resource := r.URL.Query().Get("resource")
		if r.Header.Get("X-IDENTITY-HEADER") != secret || resource == "" {
			http.Error(w, "missing secret or resource", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{
			"access_token": "aGVhZGVy.Y2xhaW1z.c2lnbmF0dXJl",
			"expires_on":   fmt.Sprint(time.Now().Add(time.Hour).Unix()),
			"resource":     resource,
			"token_type":   "Bearer",
		})
	}))
	t.Cleanup(server.Close)
	return map[string]string{"IDENTITY_ENDPOINT": server.URL, "IDENTITY_HEADER": secret}
}

// feedHas reports whether the feed contains a post with an author, a commentCount and a
// likeCount.
func feedHas(t *testing.T, client *apitest.Client, want string) bool {
	t.Helper()
	var got struct {
		Feed struct {
			Nodes []struct {
				Author                  struct{ Username string }
				CommentCount, LikeCount int
			}
		}
	}
	client.Ask(t, `{ feed { nodes { author { username } commentCount likeCount } } }`, nil, &got)
	for _, post := range got.Feed.Nodes {
		if fmt.Sprintf("%q %d %d", post.Author.Username, post.CommentCount, post.LikeCount) == want {
			return true
		}
	}
	return false
}

// TestRoleMatchesUsage checks that the template's role grants exactly the actions of a server
// and a projector.
func TestRoleMatchesUsage(t *testing.T) {
	engine, used, account := newRecordedAccount(t)
	db, err := cosmos.New(cosmos.Options{Endpoint: account.URL, Key: engine.Key()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if _, err := provision.Run(deadline(t), db, provision.Options{}); err != nil {
		t.Fatal(err)
	}
	for name, value := range newIdentity(t) {
		t.Setenv(name, value)
	}
	data := t.TempDir()
	anonymous := serveInProcess(t, map[string]string{"COSMOS_ENDPOINT": account.URL}, "--data", data)
	useAllFeatures(t, anonymous.WithToken(tokenFor(t, data, "anna")))
	createInvalidPost(t, account.URL, engine.Key())

	granted := grantedActions(t, provision.Bicep("", provision.Throughputs{}))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("used\n%s\ngranted\n%s", strings.Join(used.list(), "\n"), strings.Join(granted, "\n"))
		}
	})
	eventually(t, "all granted actions are used", waitTime, func() bool { return slices.Equal(used.list(), granted) })
	guide, err := os.ReadFile(azurePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range granted {
		if !strings.Contains(string(guide), `"`+action+`"`) {
			t.Errorf("%s does not list the action %s", azurePath, action)
		}
	}
}

// TestExportNeedsOnlyToRead checks that an export needs no action on an account that the built-in
// role of readers does not have.
func TestExportNeedsOnlyToRead(t *testing.T) {
	engine, used, account := newRecordedAccount(t)
	environment := map[string]string{"COSMOS_ENDPOINT": account.URL, "COSMOS_KEY": engine.Key()}
	seed := []string{"seed", "--users", threeUsers.users, "--seed", threeUsers.seed}
	for _, command := range [][]string{{"provision"}, seed} {
		if _, err := runOnce(t, environment, command...); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range newIdentity(t) {
		t.Setenv(name, value)
	}
	delete(environment, "COSMOS_KEY")
	to := filepath.Join(t.TempDir(), "export")
	if _, err := runOnce(t, environment, "export", "--to", to, "--max-ru", "1000000"); err != nil {
		t.Fatal(err)
	}
	const prefix = "Microsoft.DocumentDB/databaseAccounts/"
	want := []string{
		prefix + "readMetadata",
		prefix + "sqlDatabases/containers/executeQuery",
		prefix + "sqlDatabases/containers/items/read",
		prefix + "sqlDatabases/containers/readChangeFeed",
	}
	if got := used.list(); !slices.Equal(got, want) {
		t.Errorf("an export needs\n%s", strings.Join(got, "\n"))
	}
}

// newRecordedAccount serves an engine that accepts tokens, and records the data actions that they
// use.
func newRecordedAccount(t *testing.T) (*engine.Engine, *usedActions, *httptest.Server) {
	t.Helper()
	engine, err := engine.Open(engine.Options{Entra: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	used := &usedActions{engine: engine, actions: map[string]bool{}}
	account := httptest.NewServer(used)
	t.Cleanup(account.Close)
	return engine, used, account
}

// useAllFeatures sends all kinds of commands and queries.
func useAllFeatures(t *testing.T, anna *apitest.Client) {
	t.Helper()
	userID := anna.CreateUser(t, "anna")
	first, second := anna.CreatePost(t, "One", "The first."), anna.CreatePost(t, "Two", "The second.")
	comment := anna.CreateComment(t, first, "Yes.")
	anna.LikePost(t, first)
	ask := func(document string) { t.Helper(); anna.Ask(t, document, nil, nil) }
	ask(fmt.Sprintf(`{ user(id: %q) { posts { nodes { id } } } post(id: %q) { comments { nodes { id } } likes { nodes { id } } } node(id: %q) { id } }`, userID, first, comment))
	eventually(t, "the feed contains both posts", waitTime, func() bool { return titlesOf(t, anna, `feed { nodes { title } }`)["Two"] })
	ask(`{ feed { nodes { content viewerHasLiked } } userByUsername(username: "anna") { id } viewer { id } }`)
	ask(fmt.Sprintf(`mutation { updatePost(input: {id: %q, title: "Uno"}) { post { id } } }`, first))
	ask(fmt.Sprintf(`mutation { unlikePost(input: {postId: %q}) { post { id } } }`, first))
	ask(fmt.Sprintf(`mutation { deleteComment(input: {id: %q}) { post { id } } }`, comment))
	ask(`mutation { updateUser(input: {username: "hannah"}) { user { id } } }`)
	anna.CreateComment(t, second, "To be deleted with its post.")
	ask(fmt.Sprintf(`mutation { deletePost(input: {id: %q}) { post { id } } }`, second))
	eventually(t, "the feed contains only the first post", waitTime, func() bool {
		titles := titlesOf(t, anna, `feed { nodes { title } }`)
		return titles["Uno"] && !titles["Two"]
	})
}

// createInvalidPost writes a post that no projector can parse, so that there is a dead letter.
func createInvalidPost(t *testing.T, endpoint, key string) {
	t.Helper()
	posts := containerOf(t, newClient(t, endpoint, key, nil), "posts")
	item := `{"id": "p_damaged", "postId": "p_damaged", "type": "post", "head": 5, "deleted": false, "revision": 1}`
	if _, err := posts.CreateItem(deadline(t), azcosmos.NewPartitionKeyString("p_damaged"), []byte(item), nil); err != nil {
		t.Fatal(err)
	}
}

// grantedActions returns the data actions of a template's role, sorted.
func grantedActions(t *testing.T, template string) []string {
	t.Helper()
	_, actions, ok := strings.Cut(template, "dataActions: [")
	actions, _, _ = strings.Cut(actions, "]")
	granted := regexp.MustCompile(`'(Microsoft[^']+)'`).FindAllStringSubmatch(actions, -1)
	if !ok || len(granted) == 0 {
		t.Fatal("the template has no data actions")
	}
	var names []string
	for _, match := range granted {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return names
}

// usedActions is a handler that records the data actions that requests with a token need.
type usedActions struct {
	engine http.Handler

	mu      sync.Mutex
	actions map[string]bool
}

// neededActions returns the data actions that a request needs. A transaction needs the actions
// of its operations. A patch needs the action of a replacement.
func neededActions(r *http.Request, body []byte) []string {
	const account = "Microsoft.DocumentDB/databaseAccounts/"
	const container = account + "sqlDatabases/containers/"
	switch operation := apitest.Operation(r); operation {
	case "":
		return []string{account + "readMetadata"}
	case "execute":
		return []string{container + "executeStoredProcedure"}
	case "query", "readMany":
		return []string{container + "executeQuery"}
	case "changeFeed":
		return []string{container + "readChangeFeed"}
	case "batch":
		var needed []string
		for _, match := range regexp.MustCompile(`"operationType":"(\w+)"`).FindAllSubmatch(body, -1) {
			needed = append(needed, container+itemAction(string(match[1])))
		}
		return needed
	default:
		return []string{container + itemAction(operation)}
	}
}

// itemAction returns the data action of an operation on items.
func itemAction(operation string) string {
	if strings.EqualFold(operation, "patch") {
		operation = "replace"
	}
	return "items/" + strings.ToLower(operation)
}

func (u *usedActions) list() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.actions))
}

func (u *usedActions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.Header.Get("Authorization"), "type=aad") && !strings.Contains(r.URL.Path, "/triggers/") { // no role allows reading triggers
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		needed := neededActions(r, body)
		u.mu.Lock()
		for _, action := range needed {
			u.actions[action] = true
		}
		u.mu.Unlock()
	}
	u.engine.ServeHTTP(w, r)
}
