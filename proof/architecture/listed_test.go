package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const dataModel = moduleRoot + "/docs/data-model.md"

// TestScriptsAreListed fails if a script file has no variable, if a variable is not in
// schema.Scripts, by which scripts are registered, or if docs/data-model.md does not name it.
func TestScriptsAreListed(t *testing.T) {
	source := string(fileOf(t, "store/schema", "scripts.go").source)
	_, list, _ := strings.Cut(source, "var Scripts = ")
	list, _, _ = strings.Cut(list, "\n}")
	document := readText(t, dataModel)

	var declared []string
	for _, variable := range regexp.MustCompile(`(\w+) += new(?:Script|Trigger)\("(\w+)"`).FindAllStringSubmatch(source, -1) {
		name := variable[2]
		declared = append(declared, name)
		if !regexp.MustCompile(`\b` + variable[1] + `\b`).MatchString(list) {
			t.Errorf("schema.Scripts lacks %s", variable[1])
		}
		if !strings.Contains(document, "`"+name+"`") {
			t.Errorf("%s lacks the script %s", dataModel, name)
		}
	}
	files, err := filepath.Glob(moduleRoot + "/store/schema/js/*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no scripts: %v", err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".js"); name != "prelude" && !slices.Contains(declared, name) {
			t.Errorf("store/schema/scripts.go has no variable for %s", file)
		}
	}
}

// TestDriftKindsAreDocumented fails if docs/data-model.md does not name a kind of drift.
func TestDriftKindsAreDocumented(t *testing.T) {
	source := string(fileOf(t, "store/audit", "drift.go").source)
	document := readText(t, dataModel)
	kinds := regexp.MustCompile(`DriftKind = "(\w+)"`).FindAllStringSubmatch(source, -1)
	if len(kinds) == 0 {
		t.Fatal("found no kinds of drift")
	}
	for _, kind := range kinds {
		if !strings.Contains(document, "`"+kind[1]+"`") {
			t.Errorf("%s lacks the kind of drift %s", dataModel, kind[1])
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
