package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/config"
)

// TestAudit audits a folder beside its server, and again when nobody serves it.
func TestAudit(t *testing.T) {
	data := t.TempDir()
	server, reader := serving(t, nil, "--data", data)
	anna := reader.as(tokenFor(t, data, "anna"))
	anna.createUser(t, "anna")
	post := anna.createPost(t, "First", "Some text.")
	anna.createComment(t, post, "One.")
	for _, beside := range []bool{true, false} {
		if !beside {
			server.terminate(t)
		}
		for _, flags := range [][]string{nil, {"--repair"}, {"--max-ru", "100000"}} {
			said, err := runOnce(t, nil, append([]string{"audit", "--data", data}, flags...)...)
			if err != nil || !strings.Contains(said, "1 posts, 1 users and 1 usernames") || !strings.HasSuffix(said, "nothing drifts\n") {
				t.Errorf("audit %v: %q, %v", flags, said, err)
			}
			if strings.Contains(said, "through process") != beside {
				t.Errorf("audit %v: %q", flags, said)
			}
		}
	}
	if said, err := runOnce(t, nil, "audit", "--data", t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no data") {
		t.Errorf("of nothing: %q, %v", said, err)
	}
}

// TestAuditRepairs plants damage at an endpoint that a server uses: the audit prints it and ends with 1, a repair mends
// it, and then nothing drifts.
func TestAuditRepairs(t *testing.T) {
	engine, environment := engineProcess(t, t.TempDir())
	defer engine.terminate(t)
	provisioned(t, environment)
	data := t.TempDir()
	server, reader := serving(t, environment, "--data", data)
	defer server.terminate(t)
	anna := reader.as(tokenFor(t, data, "anna"))
	user := storedID(t, anna.createUser(t, "anna"))
	post := storedID(t, anna.createPost(t, "First", "Some text."))
	eventually(t, "the copies are there", patience, func() bool { return allTitles(t, reader, `feed { nodes { title } }`)["First"] })
	endpoint, _ := strings.CutPrefix(environment[0], "COSMOS_ENDPOINT=")
	plant(t, endpoint, "users", user, post, "/title", "A title that\n nobody gave")

	settings := map[string]string{"COSMOS_ENDPOINT": endpoint, "COSMOS_KEY": config.EmulatorKey}
	row := regexp.MustCompile(`copy +users +` + user + ` +` + post + ` +title +A title that\\n nobody gave +(\w+: )?First\n`)
	for _, c := range []struct{ flag, outcome, last, fails string }{
		{"--repair=false", "", "", "1 drifts were found; audit --repair mends what it can"},
		{"--repair", "mended: ", "1 drifts were mended\n", ""},
		{"--repair=false", "", "nothing drifts\n", ""},
	} {
		said, err := runOnce(t, settings, "audit", c.flag)
		if (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails || !strings.HasSuffix(said, c.last) {
			t.Errorf("audit %s: %q, %v", c.flag, said, err)
		}
		found := row.FindStringSubmatch(said)
		if isListed := c.last != "nothing drifts\n"; (found != nil) != isListed || isListed && found[1] != c.outcome {
			t.Errorf("audit %s lists %q", c.flag, said)
		}
	}
}

// plant sets a property of an item, behind the back of everybody.
func plant(t *testing.T, endpoint, container, partition, id, path string, value any) {
	t.Helper()
	key, err := azcosmos.NewKeyCredential(config.EmulatorKey)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(endpoint, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := client.NewContainer("cosmosblog", container)
	if err != nil {
		t.Fatal(err)
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet(path, value)
	if _, err := c.PatchItem(t.Context(), azcosmos.NewPartitionKeyString(partition), id, changes, nil); err != nil {
		t.Fatal(err)
	}
}
