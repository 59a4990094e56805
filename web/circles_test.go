package web_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// relativeImport finds what a file imports by a relative path: statically, as types, or late.
var relativeImport = regexp.MustCompile("\\b(?:from|import)\\s*\\(?\\s*['\"`](\\.[^'\"`?]*)")

// TestNoCircles checks that no file of the web pages imports itself by way of others.
func TestNoCircles(t *testing.T) {
	imports := importsOf(t)
	followed := map[string]bool{}
	var follow func(name string, way []string)
	follow = func(name string, way []string) {
		if i := slices.Index(way, name); i >= 0 {
			t.Errorf("a circle of imports: %s", strings.Join(append(way[i:], name), " → "))
			return
		}
		if followed[name] {
			return
		}
		for _, imported := range imports[name] {
			follow(imported, append(way, name))
		}
		followed[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		follow(name, nil)
	}
}

// importsOf returns the files that each file of the web pages imports. Tests are among both.
func importsOf(t *testing.T) map[string][]string {
	imports, count := map[string][]string{}, 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if name == "dist" || name == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || !slices.Contains([]string{".ts", ".tsx", ".mjs"}, path.Ext(name)) {
			return err
		}
		text, err := os.ReadFile(name)
		for _, match := range relativeImport.FindAllStringSubmatch(string(text), -1) {
			imported := path.Join(path.Dir(name), match[1])
			endings := slices.DeleteFunc([]string{"", ".ts", ".tsx"}, func(ending string) bool {
				info, err := os.Stat(imported + ending)
				return err != nil || info.IsDir()
			})
			if len(endings) != 1 {
				t.Errorf("%s imports %s, which is %d files", name, match[1], len(endings))
				continue
			}
			imports[name] = append(imports[name], imported+endings[0])
			count++
		}
		return err
	})
	if err != nil || count < 200 {
		t.Errorf("the web pages have %d imports (%v)", count, err)
	}
	return imports
}
