package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cli/config"
	"cosmosblog/engine"
	"cosmosblog/proof/apitest"
	"cosmosblog/store/cosmos"
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
