package main

import (
	"bytes"
	"encoding/json"
	"errors"
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

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cli/config"
	"cosmosblog/engine"
	"cosmosblog/proof/apitest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// TestProvisionThroughput checks that provision sets the requested throughputs, changes them
// later if that is possible, and otherwise changes nothing.
func TestProvisionThroughput(t *testing.T) {
	t.Parallel()
	engine, environment := serveEngine(t, t.TempDir())
	defer engine.terminate(t)
	start(t, environment, "provision", "--throughput", "manual:400,posts=autoscale:4000").
		waitForLine(t, `^created the container posts \(throughput: autoscale up to 4000 RU/s\)$`)
	again := start(t, append(environment, "COSMOS_THROUGHPUT=manual:400,posts=autoscale:8000"), "provision")
	again.waitForLine(t, `^changed the throughput of the container posts from autoscale up to 4000 RU/s to autoscale up to 8000 RU/s$`)
	again.requireExitCode(t, 0)
	other := start(t, environment, "provision", "--throughput", "database=autoscale:1000")
	other.requireExitCode(t, 1)
	output := other.stderr.String()
	for _, part := range []string{
		"cosmosblog: database cosmosblog at http://127",
		"nothing was changed",
		"the throughput of the container users is manual, 400 RU/s and should be shared",
	} {
		if strings.Count(output, "\n") != 1 || !strings.Contains(output, part) {
			t.Errorf("got %q, want one line with %q", output, part)
		}
	}
}

// TestProvisionRecreatesScripts checks that provision --scripts recreate registers the scripts of a
// folder and of an account again, and that only recreate does.
func TestProvisionRecreatesScripts(t *testing.T) {
	t.Parallel()
	engine, environment := serveEngine(t, t.TempDir())
	defer engine.terminate(t)
	provisionWith(t, environment)
	folder := t.TempDir()
	for name, c := range map[string]struct {
		environment map[string]string
		args        []string
	}{"folder": {nil, []string{"--data", folder}}, "account": {clientsOf(environment), nil}, "kept": {clientsOf(environment), []string{"--scripts", "keep"}}} {
		args := append([]string{"provision"}, c.args...)
		printed, err := runOnce(t, c.environment, args...)
		if err != nil || strings.Contains(printed, "again") {
			t.Errorf("%s: %s %v", name, printed, err)
		}
		if name == "kept" {
			continue
		}
		printed, err = runOnce(t, c.environment, append(args, "--scripts", "recreate")...)
		if err != nil || strings.Count(printed, " again\n") != len(schema.Scripts) {
			t.Errorf("%s: %s %v", name, printed, err)
		}
	}
}

// TestProvisionPrintsBicep checks that the template needs no account, and creates no folder.
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
		t.Error("the command created a data folder")
	}
}

// TestUnprovisionedEndpoint checks that a server names the missing containers and the command
// provision.
func TestUnprovisionedEndpoint(t *testing.T) {
	t.Parallel()
	engine, environment := serveEngine(t, t.TempDir())
	defer engine.terminate(t)
	server := start(t, environment, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir())
	server.requireExitCode(t, 1)
	output := server.stderr.String()
	if strings.Count(output, "\n") != 1 || !strings.Contains(output, "users, posts") || !strings.Contains(output, "provision") {
		t.Errorf("got %q", output)
	}
}

// TestMissingIndex checks that a server does not start on a container without the composite index
// of its queries, and says so. The service would answer them with 400.
func TestMissingIndex(t *testing.T) {
	t.Parallel()
	engine, environment := serveEngine(t, t.TempDir())
	defer engine.terminate(t)
	provisionWith(t, environment)
	client := newClient(t, endpointOf(environment), config.EmulatorKey, nil)
	posts := containerOf(t, client, schema.Posts)
	response, err := posts.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.ContainerProperties.IndexingPolicy.CompositeIndexes = nil
	if _, err := posts.Replace(t.Context(), *response.ContainerProperties, nil); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"serve", "projector"} {
		server := start(t, environment, command, "--addr", "127.0.0.1:0")
		server.requireExitCode(t, 1)
		output := server.stderr.String()
		const want = "the container posts lacks the composite index (/type, /sortKey desc): change the indexing policy"
		if strings.Count(output, "\n") != 1 || !strings.Contains(output, want) {
			t.Errorf("%s: got %q", command, output)
		}
	}
}

// TestKeyRotation rotates the account's key beside a server that reads it from a mounted secret,
// whose files Kubernetes replaces by renaming a symbolic link
// (kubernetes.io/docs/concepts/configuration/ secret, "Mounted Secrets are updated automatically").
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	account, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer account.Close()
	endpoint := httptest.NewServer(account)
	defer endpoint.Close()
	folder := t.TempDir()
	generation := 0
	mount := func(key string) {
		t.Helper()
		generation++
		name := fmt.Sprintf("..%d", generation)
		next := filepath.Join(folder, "..next")
		err := errors.Join(os.Mkdir(filepath.Join(folder, name), 0o755),
			os.WriteFile(filepath.Join(folder, name, "key"), []byte(key+"\n"), 0o644),
			os.Symlink(name, next), os.Rename(next, filepath.Join(folder, "..data")))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join("..data", "key"), filepath.Join(folder, "key")); err != nil {
		t.Fatal(err)
	}
	environment := []string{"COSMOS_ENDPOINT=" + endpoint.URL, "COSMOS_KEY_FILE=" + filepath.Join(folder, "key")}

	absent := start(t, environment, "serve", "--addr", "127.0.0.1:0")
	absent.requireExitCode(t, 1)
	mount("C2y6yDjf5")
	wrong := start(t, environment, "serve", "--addr", "127.0.0.1:0")
	wrong.requireExitCode(t, 1)
	mount(config.EmulatorKey)
	foreign := start(t, environment, "serve", "--addr", "127.0.0.1:0")
	foreign.requireExitCode(t, 1)
	for p, want := range map[*process]string{
		absent:  "COSMOS_KEY_FILE cannot be read",
		wrong:   "does not hold a key of an account, which is base64",
		foreign: "rejected the key or token (401): check COSMOS_KEY, the file that COSMOS_KEY_FILE names",
	} {
		if output := p.stderr.String(); strings.Count(output, "\n") != 1 || !strings.Contains(output, want) {
			t.Errorf("got %q, want one line with %q", output, want)
		}
	}

	mount(account.Key())
	provisionWith(t, environment)
	data := t.TempDir()
	server, anonymous := serving(t, environment, "--data", data)
	defer server.terminate(t)
	anna, _ := signUp(t, anonymous, data, "anna")
	post := anna.CreatePost(t, "First", "With the first key.")
	second := strings.ReplaceAll(config.EmulatorKey, "C2y6", "D3z7")
	mount(second) // the account has two valid keys meanwhile
	anna.LikePost(t, post)
	if err := account.SetKey(second); err != nil {
		t.Fatal(err)
	}
	anna.CreateComment(t, post, "With the second key.")
	anna.CreatePost(t, "Second", "Still the same process.")
	eventually(t, "the views contain both posts", waitTime, func() bool {
		titles := titlesOf(t, anonymous, `feed(first: 10) { nodes { title } }`)
		return titles["First"] && titles["Second"]
	})
}

// TestRareTags publishes posts with tags of rare characters and of five scripts, on an engine in
// another process, and finds them in the lists of their tags.
func TestRareTags(t *testing.T) {
	t.Parallel()
	engine, environment := serveEngine(t, t.TempDir())
	defer engine.terminate(t)
	provisionWith(t, environment)
	data := t.TempDir()
	server, anonymous := serving(t, environment, "--data", data)
	defer server.terminate(t)
	ada, _ := signUp(t, anonymous, data, "ada")
	for title, tags := range map[string][]string{
		"Rare":    {"𠮷野家", "𐌰𐌱𐌲", "𝔞𝕓𝒸"},
		"Scripts": {"привет", "ελλάδα", "한국어", "हिन्दी", "العربية"},
	} {
		ada.Ask(t, `mutation($tags: [String!], $title: String!) {
			createPost(input: {title: $title, content: "About these.", tags: $tags}) { post { id } }
		}`, apitest.Variables{"title": title, "tags": tags}, nil)
		for _, tag := range tags {
			eventually(t, title+" is in the list of "+tag, waitTime, func() bool {
				return titlesOf(t, anonymous, fmt.Sprintf(`tag(name: %q) { posts(first: 10) { nodes { title } } }`, tag))[title]
			})
		}
	}
}

func TestEngineWithTLS(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	engine, environment := serveEngine(t, data, "--tls")
	defer engine.terminate(t)
	provisionWith(t, append(environment, "SSL_CERT_FILE="+filepath.Join(data, "engine-tls.pem")))
	stranger := start(t, environment, "provision")
	if code := stranger.wait(t, waitTime); code != 1 || !strings.Contains(stranger.stderr.String(), "certificate") {
		t.Errorf("exit code %d: %s", code, stranger.stderr.String())
	}
}

// TestThrottlingEngine checks that engine --throughput rejects requests beyond it.
func TestThrottlingEngine(t *testing.T) {
	t.Parallel()
	engine, environment := serveEngine(t, t.TempDir(), "--throughput", "1")
	defer engine.terminate(t)
	account := map[string]string{}
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		account[name] = value
	}
	client := newClient(t, account["COSMOS_ENDPOINT"], account["COSMOS_KEY"], nil)
	database := azcosmos.DatabaseProperties{ID: cosmos.DefaultDatabase}
	if _, err := client.CreateDatabase(t.Context(), database, nil); err != nil {
		t.Fatal(err)
	}
	db, err := client.NewDatabase(database.ID)
	if err != nil {
		t.Fatal(err)
	}
	container := azcosmos.ContainerProperties{ID: "items", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
		Paths: []string{"/id"}, Kind: azcosmos.PartitionKeyKindHash, Version: 2}}
	if _, err := db.CreateContainer(t.Context(), container, nil); err != nil {
		t.Fatal(err)
	}
	ctx := policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: -1})
	for range 5 { // each costs the throughput of several seconds
		if _, err = containerOf(t, client, "items").UpsertItem(ctx, azcosmos.NewPartitionKeyString("a"), []byte(`{"id":"a"}`), nil); err != nil {
			break
		}
	}
	refusal, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || refusal.StatusCode != http.StatusTooManyRequests || refusal.RawResponse.Header.Get("x-ms-retry-after-ms") == "" {
		t.Errorf("five writes with 1 RU/s: %v", err)
	}
}

const azurePath = "docs/azure.md"

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
	item := `{"id": "p_damaged", "postId": "p_damaged", "type": "post", "title": 5, "deleted": false, "revision": 1}`
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
