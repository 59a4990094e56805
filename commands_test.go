package main

import (
	"cmp"
	"context"
	"flag"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cli"
	"cosmosblog/cli/config"
	"cosmosblog/engine"
	"cosmosblog/guard/auth"
	"cosmosblog/proof/apitest"
	"cosmosblog/store/views"
)

// Parts of the output of commands.
const (
	provisionIsClean = `^everything exists$`

	auditIsClean    = "no drift found\n"
	auditFails      = "1 drifts were found: run audit --repair"
	auditRepaired   = "1 drifts were repaired\n"
	auditOutcome    = "repaired: "
	rebuildCounts   = "1 posts, 1 users, 1 usernames and 2 lists"
	rebuildRepaired = "1 of them drifted and were repaired\n"
	rebuildIsClean  = "no drift found\n"
	rebuildFails    = "1 drifts could not be repaired"
	noDeadletters   = "there are no dead letters"
	checkIsClean    = `^no faults found: [1-9]\d* items$`

	copyBuiltViews = `^all views are built`
	copyResumes    = "run the same command to resume it"

	throughOwner       = "through process"
	noData             = "there is no data"
	noCredential       = "is not set, and no Entra ID credential was found"
	backupTargetExists = "exists: name a new folder"
	backupArguments    = "name one new folder"
	removeInvalidID    = "is not an id"
)

// faultCase is a command line that fails. In its arguments and its environment, NAME in braces
// stands for a path or an address of faultNames.
type faultCase struct {
	args        string
	environment map[string]string
	want        string // part of the error
}

var (
	httpEndpoint    = map[string]string{"COSMOS_ENDPOINT": "http://127.0.0.1:1"}
	endpointWithKey = map[string]string{"COSMOS_ENDPOINT": "http://127.0.0.1:1", "COSMOS_KEY": "a2V5"}
)

var faultCases = map[string]faultCase{
	"unknown command":      {args: "fly", want: `unknown command "fly"`},
	"unknown flag":         {args: "serve --fly", want: "unknown flag: --fly"},
	"unexpected argument":  {args: "token anna", want: `unknown command "anna"`},
	"port in use":          {args: "--data {folder} --addr {taken}", want: "another process listens on {taken}"},
	"engine's port in use": {args: "engine --data {folder}/engine --addr {taken}", want: "another process listens on {taken}"},
	"metrics' port in use": {
		args: "--data {folder}/metrics --addr 127.0.0.1:0 --metrics-addr {taken}",
		want: "choose another address with --metrics-addr",
	},
	"projector's port in use": {
		args: "projector --data {folder}/projector --addr {taken}",
		want: "another process listens on {taken}",
	},
	"empty source of a copy":   {args: "copy --from {open} --to {folder}", want: "there is no data in the folder {open}"},
	"copy without a target":    {args: "copy --from {folder}", want: "--to must name a data folder or an endpoint"},
	"copy without credentials": {args: "copy --from http://127.0.0.1:1 --to {folder}", want: "COPY_FROM_KEY " + noCredential},
	"export without a folder":  {args: "export --data {folder}", want: "--to must name a folder"},
	"export of nothing":        {args: "export --data {open} --to {folder}/export", want: "there is no data in the folder {open}"},
	"export at no throughput":  {args: "export --data {folder} --to {folder} --max-ru -1", want: "--max-ru"},
	"restore of nothing":       {args: "restored --data {open}", want: "there is no data in the folder {open}"},
	"backup of nothing":        {args: "backup {folder}/backup --data {open}", want: "there is no data in the folder {open}"},
	"backup without a target":  {args: "backup --data {folder}", want: backupArguments},
	"issuer without audience":  {args: "serve --issuer https://login.example.com", want: "--issuer needs an --audience"},
	"issuer over http": {
		args:        "serve --audience blog",
		environment: map[string]string{"COSMOSBLOG_ISSUER": "http://login.example.com"},
		want:        "http is allowed on loopback only",
	},
	"all interfaces":          {args: "--addr 0.0.0.0:0", want: "add --production"},
	"file as data folder":     {args: "serve --addr 127.0.0.1:0 --data {file}", want: "not a directory"},
	"readable key":            {args: "token --sub anna --data {open}", want: "other users can read"},
	"audit of nothing":        {args: "audit --data {open}", want: "there is no data in the folder {open}"},
	"check of nothing":        {args: "check --data {open}", want: "there is no data in the folder {open}"},
	"rebuild of nothing":      {args: "rebuild --data {open}", want: "there is no data in the folder {open}"},
	"dead letters of nothing": {args: "deadletters --data {open}", want: "there is no data in the folder {open}"},
	"top of nothing":          {args: "top --addr 127.0.0.1:1", want: "no server answers at 127.0.0.1:1"},
	"removal of nothing":      {args: "remove", want: "name one target"},
	"token without a subject": {args: "token --data {folder}", want: "--sub NAME"},
	"invalid endpoint": {
		args:        "provision",
		environment: map[string]string{"COSMOS_ENDPOINT": "localhost"},
		want:        "COSMOS_ENDPOINT must be a URL",
	},
	"unreachable endpoint": {args: "provision", environment: endpointWithKey, want: "connection refused"},
	"invalid throughput": {
		args: "provision --throughput fast", environment: endpointWithKey, want: `"fast" is not a throughput`,
	},
	"invalid number": {args: "seed --users many", want: `--users must be a number, not "many"`},
	"invalid boolean": {
		args: "serve", environment: map[string]string{"COSMOSBLOG_PRODUCTION": "perhaps"}, want: "COSMOSBLOG_PRODUCTION",
	},
	"no credentials": {
		args: "serve --addr 127.0.0.1:0 --data {folder}", environment: httpEndpoint, want: "COSMOS_KEY " + noCredential,
	},
}

// faultNames returns the replacements for the names in fault cases.
func faultNames(t *testing.T) *strings.Replacer {
	t.Helper()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	folder := t.TempDir()
	file, open := filepath.Join(folder, "file"), filepath.Join(folder, "open")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(open, auth.LocalKeyFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("{taken}", taken.Addr().String(), "{folder}", folder, "{file}", file, "{open}", open)
}

// TestFaultsAreSentences checks that each fault is reported in one line that helps the
// operator.
func TestFaultsAreSentences(t *testing.T) {
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential") // azidentity tries only this one, and fails
	names := faultNames(t)
	for _, command := range commandNames() {
		if !hasFault(command) && command != config.Schema { // which has none
			t.Errorf("%s has no fault here", command)
		}
	}
	for name, c := range faultCases {
		_, err := runOnce(t, c.environment, strings.Fields(names.Replace(c.args))...)
		if err == nil || !strings.Contains(err.Error(), names.Replace(c.want)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func commandNames() (names []string) {
	for _, command := range cli.New(cli.Environment{}, nil).Commands() {
		names = append(names, command.Name())
	}
	return names
}

// hasFault reports whether a fault case runs a command.
func hasFault(command string) bool {
	for _, c := range faultCases {
		if strings.HasPrefix(c.args+" ", command+" ") {
			return true
		}
	}
	return false
}

// TestHelpListsSettings checks that the help of each command has its settings.
func TestHelpListsSettings(t *testing.T) {
	for _, command := range commandNames() {
		help, err := runOnce(t, nil, command, "--help")
		if err != nil {
			t.Errorf("%s --help: %v", command, err)
		}
		for _, setting := range config.Of(command) {
			want := "--" + setting.Flag + " "
			if setting.Flag == "" {
				want = setting.Env
			}
			if !strings.Contains(help, want) {
				t.Errorf("%s --help does not contain %s", command, want)
			}
		}
	}
}

func TestSchemaPrintsOnlyTheSchema(t *testing.T) {
	want, err := os.ReadFile("schema.graphqls")
	if err != nil {
		t.Fatal(err)
	}
	if printed, err := runOnce(t, nil, "schema"); err != nil || printed != string(want) {
		t.Errorf("printed %d bytes, want the %d bytes of schema.graphqls: %v", len(printed), len(want), err)
	}
}

func TestTokenPrintsOnlyTheToken(t *testing.T) {
	data := filepath.Join(t.TempDir(), "new", "folder")
	printed, err := runOnce(t, nil, "token", "--sub", "anna", "--data", data)
	if err != nil {
		t.Fatal(err)
	}
	key, err := auth.OpenLocalKey(data)
	if err != nil {
		t.Fatal(err)
	}
	account, err := key.Verify(context.Background(), strings.TrimSuffix(printed, "\n"))
	if err != nil || account.Subject != "anna" {
		t.Errorf("%q is a token of %v, %v", printed, account, err)
	}
}

// endpointWorld is a server at the endpoint of an engine, with a user.
type endpointWorld struct {
	endpoint string
	clients  map[string]string // environment of commands
	anna     *apitest.Client
	userID   string // stored id
}

// serveAtEndpoint starts an engine and a server that uses its endpoint. Both end with the test.
func serveAtEndpoint(t *testing.T) endpointWorld {
	t.Helper()
	engine, environment := serveEngine(t, t.TempDir())
	t.Cleanup(func() { engine.terminate(t) })
	provisionWith(t, environment)
	data := t.TempDir()
	server, anonymous := serving(t, environment, "--data", data)
	t.Cleanup(func() { server.terminate(t) })
	anna, id := signUp(t, anonymous, data, "anna")
	return endpointWorld{endpointOf(environment), clientsOf(environment), anna, storedID(t, id)}
}

// TestAudit audits a folder alongside its server, and after the server ended.
func TestAudit(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server, reader := serving(t, nil, "--data", data)
	anna, _ := signUp(t, reader, data, "anna")
	post := anna.CreatePost(t, "First", "Some text.")
	anna.CreateComment(t, post, "One.")
	for _, beside := range []bool{true, false} {
		if !beside {
			server.terminate(t)
		}
		for _, flags := range [][]string{nil, {"--repair"}, {"--max-ru", "100000"}} {
			output, err := runOnce(t, nil, append([]string{"audit", "--data", data}, flags...)...)
			if err != nil || !strings.Contains(output, rebuildCounts) || !strings.HasSuffix(output, auditIsClean) {
				t.Errorf("audit %v: %q, %v", flags, output, err)
			}
			if strings.Contains(output, throughOwner) != beside {
				t.Errorf("audit %v: %q", flags, output)
			}
		}
	}
	if output, err := runOnce(t, nil, "audit", "--data", t.TempDir()); err == nil || !strings.Contains(err.Error(), noData) {
		t.Errorf("without data: %q, %v", output, err)
	}
}

// TestRebuildOfAFolder rebuilds a folder alongside its server, and after the server ended.
func TestRebuildOfAFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server, reader := serving(t, nil, "--data", data)
	anna, _ := signUp(t, reader, data, "anna")
	anna.CreatePost(t, "First", "Some text.")
	for _, beside := range []bool{true, false} {
		if !beside {
			server.terminate(t)
		}
		output, err := runOnce(t, nil, "rebuild", "--data", data, "--from-start")
		if err != nil || !strings.Contains(output, rebuildCounts) || strings.Contains(output, throughOwner) != beside {
			t.Errorf("rebuild: %q, %v", output, err)
		}
	}
	if output, err := runOnce(t, nil, "rebuild", "--data", t.TempDir()); err == nil || !strings.Contains(err.Error(), noData) {
		t.Errorf("without data: %q, %v", output, err)
	}
}

// TestDeadletters lists and retries the dead letters of a server at an endpoint, before and
// after the item was corrected.
func TestDeadletters(t *testing.T) {
	t.Parallel()
	w := serveAtEndpoint(t)
	post := storedID(t, w.anna.CreatePost(t, "First", "Some text."))
	run := func(flag, want string) string {
		t.Helper()
		output, err := runOnce(t, w.clients, "deadletters", flag)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("deadletters %s: %q, %v", flag, output, err)
		}
		return output
	}
	none := func() bool { return strings.HasPrefix(run("--retry", ""), noDeadletters) }
	if !none() {
		t.Error("there are dead letters")
	}
	setProperty(t, w.endpoint, "posts", post, post, "/likeCount", "many")
	listed := regexp.MustCompile(`posts +` + post + ` +` + post + ` +- +(\d+) .*? (changefeed: decoding an item of posts: .+|left: .*|done)\n`)
	eventually(t, "the post is a dead letter", waitTime, func() bool { return listed.MatchString(run("--retry=false", "")) })
	if output := listed.FindStringSubmatch(run("--retry", "0 of 1 dead letters are done, and 1 are left")); output == nil || !strings.HasPrefix(output[2], "left: ") {
		t.Errorf("retried without correction: %q", output)
	}
	setProperty(t, w.endpoint, "posts", post, post, "/likeCount", 0)
	if output := listed.FindStringSubmatch(run("--retry", "")); output == nil || output[1] == "1" || output[2] != "done" {
		t.Errorf("retried: %q", output)
	}
	if !none() {
		t.Error("the dead letter is still in the list")
	}
}

// TestNoDeadletters lists the dead letters of a folder alongside its server, and after the server
// ended.
func TestNoDeadletters(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server, _ := serving(t, nil, "--data", data)
	for _, beside := range []bool{true, false} {
		if !beside {
			server.terminate(t)
		}
		output, err := runOnce(t, nil, "deadletters", "--data", data)
		if err != nil || !strings.HasPrefix(output, noDeadletters) || strings.Contains(output, throughOwner) != beside {
			t.Errorf("%q, %v", output, err)
		}
	}
	if output, err := runOnce(t, nil, "deadletters", "--data", t.TempDir()); err == nil || !strings.Contains(err.Error(), noData) {
		t.Errorf("without data: %q, %v", output, err)
	}
}

// TestRemove removes comments, a post and users alongside a running server, by both kinds of id.
func TestRemove(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server, reader := serving(t, nil, "--data", data)
	defer server.terminate(t)
	anna, annaID := signUp(t, reader, data, "anna")
	ben, benID := signUp(t, reader, data, "ben")
	posts := []string{anna.CreatePost(t, "First", "Some text."), anna.CreatePost(t, "Second", "Some text.")}
	comments := []string{ben.CreateComment(t, posts[0], "One."), ben.CreateComment(t, posts[0], "Two."), ben.CreateComment(t, posts[0], "Three.")}
	for _, c := range []struct{ kind, id, argument, want string }{
		{"comment", comments[0], comments[0], "of ben on the post " + storedID(t, posts[0])},
		{"comment", comments[1], storedID(t, comments[1]), "of ben on the post " + storedID(t, posts[0])},
		{"post", posts[1], storedID(t, posts[1]), `of anna, "Second", with 0 comments`},
		{"user", benID, benID, "ben"},
		{"user", annaID, storedID(t, annaID), "anna"},
	} {
		output, err := runOnce(t, nil, "remove", c.kind, c.argument, "--data", data)
		if err != nil || !strings.Contains(output, c.want) || !strings.Contains(output, throughOwner) {
			t.Errorf("remove %s %s: %q, %v", c.kind, c.argument, output, err)
		}
		if nodeExists(t, reader, c.id) {
			t.Errorf("the %s %s still exists", c.kind, c.argument)
		}
		if output, err := runOnce(t, nil, "remove", c.kind, c.argument, "--data", data); err == nil || !strings.Contains(err.Error(), "Nothing was removed") {
			t.Errorf("remove %s %s again: %q, %v", c.kind, c.argument, output, err)
		}
	}
	eventually(t, "the posts and comments of the users are deleted", waitTime, func() bool { // by the server's projector
		return !nodeExists(t, reader, comments[2]) && !nodeExists(t, reader, posts[0])
	})
}

// TestRemoveArguments checks the errors for invalid arguments of remove.
func TestRemoveArguments(t *testing.T) {
	post := blog.IDSource{}.NewPostID("", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "name one target"},
		{[]string{"post"}, "name one target"},
		{[]string{"feed", post}, "name one target"},
		{[]string{"post", post, post}, "name one target"},
		{[]string{"comment", post}, "the id of a Post, not of a Comment"},
		{[]string{"user", "an na"}, removeInvalidID},
		{[]string{"post", post, "--data", t.TempDir()}, noData},
	} {
		_, err := runOnce(t, nil, append([]string{"remove"}, c.args...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", c.args, err)
		}
	}
}

// nodeExists reports whether the API returns the node with a global id.
func nodeExists(t *testing.T, client *apitest.Client, id string) bool {
	t.Helper()
	var got struct{ Node *struct{ ID string } }
	client.Ask(t, `query ($id: ID!) { node(id: $id) { id } }`, apitest.Variables{"id": id}, &got)
	return got.Node != nil
}

// seedUsers is the number of users in TestSeed. The default set has more posts than the feed
// holds. .ci/run uses a larger set.
var seedUsers = flag.Int("seed-users", views.FeedCapacity/40, "number of users in TestSeed")

// TestSeed seeds a folder, and compares all views and counts with their sources.
func TestSeed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	runSeed(t, nil, "--users", strconv.Itoa(*seedUsers), "--seed", "920", "--data", data)
	engine, err := engine.Open(engine.Options{Dir: filepath.Join(data, "engine")})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if posts := requireConsistency(t, engine, *seedUsers); posts <= views.FeedCapacity {
		t.Errorf("%d posts do not fill the feed: it needs more -seed-users", posts)
	}
}

// runSeed runs seed without a deadline.
func runSeed(t *testing.T, environment map[string]string, args ...string) {
	t.Helper()
	var stdout, stderr safeBuffer
	err := run(t.Context(), append([]string{"seed"}, args...), cli.Environment{Stdout: &stdout, Stderr: &stderr,
		LookupEnv: lookupIn(environment)})
	if err != nil || !strings.Contains(stdout.String(), " items in all, are in ") {
		t.Fatalf("seed: %v\n%s%s", err, stdout.String(), stderr.String())
	}
}

// storedItem has the compared properties of items of all types.
type storedItem struct {
	ID, PostID, UserID, Type string
	Username, UserUsername   string
	Title, Excerpt           string
	CommentCount, LikeCount  int
	PostCount                int
	CreationDate             string
	Version, Revision        int
}

// requireConsistency compares all counts of posts with their comments and likes, all names with
// the users, all copies with the posts, and the feed with the newest posts. It returns the number
// of posts.
func requireConsistency(t *testing.T, engine *engine.Engine, users int) (number int) {
	t.Helper()
	names, claimed := map[string]string{}, map[string]string{}
	posts, copies, feed := map[string]storedItem{}, map[string]storedItem{}, map[string]storedItem{}
	comments, likes, written, listed := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	eachItem(t, engine, "users", func(i storedItem) {
		if i.Type == "user" {
			names[i.UserID], listed[i.UserID] = i.Username, i.PostCount
		} else {
			copies[i.ID] = i
		}
	})
	eachItem(t, engine, "usernames", func(i storedItem) { claimed[i.UserID] = i.ID })
	eachItem(t, engine, "feed", func(i storedItem) { feed[i.ID] = i })
	eachItem(t, engine, "posts", func(i storedItem) {
		switch i.Type {
		case "post":
			posts[i.ID] = i
			written[i.UserID]++
		case "comment":
			comments[i.PostID]++
		case "like":
			likes[i.PostID]++
		}
		if i.UserUsername != names[i.UserID] {
			t.Errorf("%s %s has the username %s of the user %s", i.Type, i.ID, i.UserUsername, names[i.UserID])
		}
	})
	if len(names) != users || len(claimed) != users || len(posts) < 5*users {
		t.Errorf("%d users, %d usernames, %d posts", len(names), len(claimed), len(posts))
	}
	for id, name := range names {
		if claimed[id] != strings.ToLower(name) || listed[id] != written[id] {
			t.Errorf("the user %s has the username %s and a postCount of %d, with %d posts", name, claimed[id], listed[id], written[id])
		}
	}
	for id, post := range posts {
		if post.CommentCount != comments[id] || post.LikeCount != likes[id] || post.Revision != 1+comments[id]+likes[id] {
			t.Errorf("the counts of %s are %d of %d comments and %d of %d likes", id, post.CommentCount, comments[id], post.LikeCount, likes[id])
		}
	}
	requireCopies(t, "users", copies, posts)
	requireFeed(t, feed, posts)
	return len(posts)
}

// requireCopies compares the copies in a container with the posts.
func requireCopies(t *testing.T, where string, copies, posts map[string]storedItem) {
	t.Helper()
	if len(copies) != len(posts) {
		t.Errorf("%s has %d copies, want %d", where, len(copies), len(posts))
	}
	for id, post := range posts {
		if copies[id] != post {
			t.Errorf("%s has %+v, want %+v", where, copies[id], post)
		}
	}
}

// requireFeed compares the feed above the horizon with the newest posts, and the horizon with the
// next one.
func requireFeed(t *testing.T, feed, posts map[string]storedItem) {
	t.Helper()
	newest := make([]storedItem, 0, len(posts))
	for _, post := range posts {
		newest = append(newest, post)
	}
	slices.SortFunc(newest, func(a, b storedItem) int {
		return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
	})
	if len(newest) > views.FeedCapacity {
		if next, horizon := newest[views.FeedCapacity], feed["horizon"]; horizon.PostID != next.ID || horizon.CreationDate != next.CreationDate {
			t.Errorf("the horizon is %+v, want that of %s", horizon, next.ID)
		}
		delete(feed, newest[views.FeedCapacity].ID) // it may stay
		newest = newest[:views.FeedCapacity]
	}
	delete(feed, "horizon")
	want := make(map[string]storedItem, len(newest))
	for _, post := range newest {
		want[post.ID] = post
	}
	requireCopies(t, "feed", feed, want)
}
