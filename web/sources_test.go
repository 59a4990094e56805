package web_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestDistIsBuilt checks that dist was built from the current sources. sources.mjs computes the
// same hash: that of a list of all files that the build reads, with their hashes.
func TestDistIsBuilt(t *testing.T) {
	files := []string{"../schema.graphqls"}
	beside, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range beside {
		if !entry.IsDir() && path.Ext(entry.Name()) != ".go" {
			files = append(files, entry.Name())
		}
	}
	for _, folder := range []string{"app", "graphiql", "shared"} {
		err := fs.WalkDir(os.DirFS("."), folder, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	list := sha256.New()
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(list, "%x  %s\n", sha256.Sum256(content), name)
	}
	built, err := os.ReadFile("dist/sources.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x\n", list.Sum(nil)); string(built) != want {
		t.Errorf("web/dist is out of date: run `npm ci && npm run build` in web, and commit the result")
	}
}

// TestPackages checks the rules for packages. Their versions are exact, they have hashes, they name
// no registry, and none runs a script when it is installed.
func TestPackages(t *testing.T) {
	text, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Version, Integrity, Resolved  string
			HasInstallScript              bool
			Dependencies, DevDependencies map[string]string
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 100 {
		t.Errorf("the lock file has %d packages", len(lock.Packages))
	}
	for name, p := range lock.Packages {
		if name == "" {
			for dependency, version := range p.DevDependencies {
				p.Dependencies[dependency] = version
			}
			for dependency, version := range p.Dependencies {
				if strings.Trim(version, "0123456789.") != "" {
					t.Errorf("%s has the version %s, which is not exact", dependency, version)
				}
			}
			continue
		}
		if p.HasInstallScript || p.Resolved != "" || !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%s: install script %v, resolved %q, integrity %q", name, p.HasInstallScript, p.Resolved, p.Integrity)
		}
	}
	if settings, err := os.ReadFile(".npmrc"); err != nil || !strings.Contains(string(settings), "ignore-scripts=true\n") {
		t.Errorf(".npmrc: %q, %v", settings, err)
	}
}
