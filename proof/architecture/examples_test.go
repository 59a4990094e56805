package architecture

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const examples = moduleRoot + "/examples/"

// TestExamplesShareFiles checks that the files that do not depend on the client library are the
// same in all examples of web pages, and the documents in those that have files *.graphql.
func TestExamplesShareFiles(t *testing.T) {
	for _, name := range []string{
		"src/account.ts", "src/development.ts", "src/issuer.ts", "src/key.ts", "src/live.ts", "src/resumed.ts", "src/send.ts", "src/url.ts",
		"src/App.tsx", "src/SignIn.tsx", "src/style.css", "tsconfig.json",
	} {
		compareFiles(t, examples+"apollo/"+name, examples+"relay/"+name)
		compareFiles(t, examples+"apollo/"+name, examples+"urql/"+name)
	}
	compareFiles(t, examples+"apollo/codegen.ts", examples+"urql/codegen.ts")
	names := map[string]bool{}
	for _, example := range []string{"apollo", "urql"} {
		paths, err := filepath.Glob(examples + example + "/src/*.graphql")
		if err != nil || len(paths) == 0 {
			t.Errorf("found no documents of %s: %v", example, err)
		}
		for _, path := range paths {
			names[filepath.Base(path)] = true
		}
	}
	for name := range names {
		compareFiles(t, examples+"apollo/src/"+name, examples+"urql/src/"+name)
	}
}

// compareFiles reports two files with different bytes.
func compareFiles(t *testing.T, a, b string) {
	t.Helper()
	if readText(t, a) != readText(t, b) {
		t.Errorf("%s differs from %s", a, b)
	}
}

// TestVersionsOfGoClient checks that examples/README.md names the versions of examples/go-client.
func TestVersionsOfGoClient(t *testing.T) {
	versions := regexp.MustCompile(`([a-z]\S+)@(v[0-9]\S+)`).FindAllStringSubmatch(readText(t, examples+"README.md"), -1)
	if len(versions) == 0 {
		t.Error("found no versions")
	}
	required := readText(t, examples+"go-client/go.mod")
	for _, version := range versions {
		module := strings.TrimSuffix(version[1], "/graphql")
		if !strings.Contains(required, module+" "+version[2]) {
			t.Errorf("%sgo-client does not require %s", examples, version[0])
		}
	}
}
