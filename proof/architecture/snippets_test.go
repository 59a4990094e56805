package architecture

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const goClient = moduleRoot + "/examples/go-client/"

// TestSnippetsOfGoClient checks that the snippets of docs/clients.md in Go and YAML are parts of
// examples/go-client, and that its versions are those of that module.
func TestSnippetsOfGoClient(t *testing.T) {
	paths, err := filepath.Glob(goClient + "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, path := range append(paths, goClient+"genqlient.yaml") {
		sources.WriteString(strings.Replace(readText(t, path), "../../schema.graphqls", "schema.graphql", 1))
	}
	document := readText(t, clientsDocument)
	snippets := regexp.MustCompile("(?ms)^```(?:go|yaml)\n(.*?)^```").FindAllStringSubmatch(document, -1)
	if len(snippets) == 0 {
		t.Error("found no snippets")
	}
	for _, snippet := range snippets {
		if !strings.Contains(sources.String(), snippet[1]) {
			t.Errorf("%s does not contain\n%s", goClient, snippet[1])
		}
	}
	versions := regexp.MustCompile(`([a-z]\S+)@(v[0-9]\S+)`).FindAllStringSubmatch(document, -1)
	if len(versions) == 0 {
		t.Error("found no versions")
	}
	for _, version := range versions {
		module := strings.TrimSuffix(version[1], "/graphql")
		if !strings.Contains(readText(t, goClient+"go.mod"), module+" "+version[2]) {
			t.Errorf("%s does not require %s", goClient, version[0])
		}
	}
}
