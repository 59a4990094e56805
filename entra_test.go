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

	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// newIdentity serves tokens as App Service and Container Apps do to what runs there, and gives the environment in which
// azidentity's default chain finds it ("How to use managed identities for App Service", REST endpoint reference).
func newIdentity(t *testing.T) map[string]string {
	t.Helper()
	const secret = "a-secret-header"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resource := r.URL.Query().Get("resource")
		if r.Header.Get("X-IDENTITY-HEADER") != secret || resource == "" {
			http.Error(w, "who asks?", http.StatusBadRequest)
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

// TestEntra holds that server and projector, as processes of their own, need no key where somebody who has it made the
// containers; and that provision says why it cannot do without.
func TestEntra(t *testing.T) {
	folder := t.TempDir()
	engine, withKey := engineProcess(t, folder, "--entra", "--tls")
	defer engine.terminate(t)
	trust := "SSL_CERT_FILE=" + filepath.Join(folder, "engine-tls.pem")
	withKey = append(withKey, trust)
	withToken := []string{withKey[0], trust}
	for name, value := range newIdentity(t) {
		withToken = append(withToken, name+"="+value)
	}

	refused := start(t, withToken, "provision")
	if code := refused.wait(t, patience); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if said := refused.stderr.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "403/5300") || !strings.Contains(said, "--print bicep") {
		t.Errorf("it said %q", said)
	}
	provisioned(t, withKey)

	data := t.TempDir()
	server, nobody := serving(t, withToken, "--data", data, "--projector=false")
	defer server.terminate(t)
	projector := start(t, withToken, "projector", "--addr", "127.0.0.1:0")
	defer projector.terminate(t)
	ready := projector.says(t, `readiness is at (\S+)$`)
	checkStatus(t, ready, http.StatusOK)

	anna := nobody.as(tokenFor(t, data, "anna"))
	anna.createUser(t, "anna")
	postID := anna.createPost(t, "Keyless", "Nobody here knows a key.")
	anna.createComment(t, postID, "True.")
	anna.likePost(t, postID)
	eventually(t, "the views have it all", patience, func() bool { return feedHas(t, anna, `"anna" 1 1`) })
	anna.ask(t, `mutation { updateUser(input: {username: "hannah"}) { user { id } } }`, nil, nil)
	eventually(t, "the views have the new name", patience, func() bool { return feedHas(t, anna, `"hannah" 1 1`) })
}

// feedHas tells whether the feed has a post whose author and counts are these.
func feedHas(t *testing.T, a *api, want string) bool {
	t.Helper()
	var got struct {
		Feed struct {
			Nodes []struct {
				Author                  struct{ Username string }
				CommentCount, LikeCount int
			}
		}
	}
	a.ask(t, `{ feed { nodes { author { username } commentCount likeCount } } }`, nil, &got)
	for _, post := range got.Feed.Nodes {
		if fmt.Sprintf("%q %d %d", post.Author.Username, post.CommentCount, post.LikeCount) == want {
			return true
		}
	}
	return false
}

// TestRoleIsWhatIsUsed holds that the role of the template grants what server and projector do, and nothing else.
func TestRoleIsWhatIsUsed(t *testing.T) {
	engine, err := embedded.Open(embedded.Options{Entra: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	used := &usedActions{engine: engine, actions: map[string]bool{}}
	account := httptest.NewServer(used)
	t.Cleanup(account.Close)
	if _, err := store.Provision(patient(t), store.Options{Endpoint: account.URL, Key: engine.Key()}); err != nil {
		t.Fatal(err)
	}
	for name, value := range newIdentity(t) {
		t.Setenv(name, value)
	}
	data := t.TempDir()
	nobody := serveInProcess(t, map[string]string{"COSMOS_ENDPOINT": account.URL}, "--data", data)
	useEverything(t, nobody.as(tokenFor(t, data, "anna")))
	damage(t, account.URL, engine.Key())

	granted := grantedActions(t, store.Bicep("", store.Throughputs{}))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("used\n%s\ngranted\n%s", strings.Join(used.list(), "\n"), strings.Join(granted, "\n"))
		}
	})
	eventually(t, "everything that is granted is used", patience, func() bool { return slices.Equal(used.list(), granted) })
	guide, err := os.ReadFile(guidePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range granted {
		if !strings.Contains(string(guide), `"`+action+`"`) {
			t.Errorf("%s does not grant %s", guidePath, action)
		}
	}
}

func useEverything(t *testing.T, anna *api) {
	t.Helper()
	userID := anna.createUser(t, "anna")
	first, second := anna.createPost(t, "One", "The first."), anna.createPost(t, "Two", "The second.")
	comment := anna.createComment(t, first, "Yes.")
	anna.likePost(t, first)
	ask := func(document string) { t.Helper(); anna.ask(t, document, nil, nil) }
	ask(fmt.Sprintf(`{ user(id: %q) { posts { nodes { id } } } post(id: %q) { comments { nodes { id } } likes { nodes { id } } } node(id: %q) { id } }`, userID, first, comment))
	eventually(t, "the feed has both posts", patience, func() bool { return allTitles(t, anna, `feed { nodes { title } }`)["Two"] })
	ask(`{ feed { nodes { content viewerHasLiked } } userByUsername(username: "anna") { id } viewer { id } }`)
	ask(fmt.Sprintf(`mutation { updatePost(input: {id: %q, title: "Uno"}) { post { id } } }`, first))
	ask(fmt.Sprintf(`mutation { unlikePost(input: {postId: %q}) { post { id } } }`, first))
	ask(fmt.Sprintf(`mutation { deleteComment(input: {id: %q}) { post { id } } }`, comment))
	ask(`mutation { updateUser(input: {username: "hannah"}) { user { id } } }`)
	anna.createComment(t, second, "To be deleted with its post.")
	ask(fmt.Sprintf(`mutation { deletePost(input: {id: %q}) { post { id } } }`, second))
	eventually(t, "the feed has the rest", patience, func() bool {
		titles := allTitles(t, anna, `feed { nodes { title } }`)
		return titles["Uno"] && !titles["Two"]
	})
}

// damage puts a post into the database that no projector can read, so that there is a dead letter.
func damage(t *testing.T, endpoint, key string) {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(endpoint, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	posts, err := client.NewContainer(store.DefaultDatabase, "posts")
	if err != nil {
		t.Fatal(err)
	}
	item := `{"id": "p_damaged", "postId": "p_damaged", "type": "post", "title": 5, "deleted": false, "revision": 1}`
	if _, err := posts.CreateItem(patient(t), azcosmos.NewPartitionKeyString("p_damaged"), []byte(item), nil); err != nil {
		t.Fatal(err)
	}
}

// grantedActions gives the data actions of a template's role, sorted.
func grantedActions(t *testing.T, template string) []string {
	t.Helper()
	_, actions, ok := strings.Cut(template, "dataActions: [")
	actions, _, _ = strings.Cut(actions, "]")
	granted := regexp.MustCompile(`'(Microsoft[^']+)'`).FindAllStringSubmatch(actions, -1)
	if !ok || len(granted) == 0 {
		t.Fatal("the template grants nothing")
	}
	var names []string
	for _, match := range granted {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return names
}

// usedActions notes which data actions the requests that bear a token need.
type usedActions struct {
	engine http.Handler

	mu      sync.Mutex
	actions map[string]bool
}

func (u *usedActions) list() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.actions))
}

func (u *usedActions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.Header.Get("Authorization"), "type=aad") && !strings.Contains(r.URL.Path, "/triggers/") { // triggers are asked for in vain
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

// neededActions tells which data actions a request needs. A transaction needs those of its operations. A patch counts as
// a replacement.
func neededActions(r *http.Request, body []byte) []string {
	const account = "Microsoft.DocumentDB/databaseAccounts/"
	const container = account + "sqlDatabases/containers/"
	switch operation := operationOf(r); operation {
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

func itemAction(operation string) string {
	if strings.EqualFold(operation, "patch") {
		operation = "replace"
	}
	return "items/" + strings.ToLower(operation)
}
