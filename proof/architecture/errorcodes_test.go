package architecture

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const clientsDocument = moduleRoot + "/docs/clients.md"

// TestErrorCodesAreInTheSchema fails if a code that the program can send is not a value of the
// schema's enum ErrorCode, or the reverse. docs/clients.md lists the same codes.
func TestErrorCodesAreInTheSchema(t *testing.T) {
	var codes []string
	for constant, code := range errorCodes(t) {
		codes = append(codes, code)
		if !isUsed(t, "blog."+constant) {
			t.Errorf("nothing returns %s", code)
		}
	}
	schema := readText(t, moduleRoot+"/schema.graphqls")
	_, enum, _ := strings.Cut(schema, "enum ErrorCode {")
	enum, _, _ = strings.Cut(enum, "\n}")
	var values []string
	for _, value := range regexp.MustCompile(`(?m)^  ([A-Z_]+)$`).FindAllStringSubmatch(enum, -1) {
		values = append(values, value[1])
	}
	missing(t, "the enum ErrorCode of schema.graphqls", codes, values)
	missing(t, "blog/error.go", values, codes)
	document := readText(t, clientsDocument)
	for _, code := range codes {
		if !strings.Contains(document, "`"+code+"`") {
			t.Errorf("%s lacks %s", clientsDocument, code)
		}
	}
}

// TestErrorCodesAreConstants fails if the program makes a code from anything but the constants of
// blog. The engine has the codes of its own protocol.
func TestErrorCodesAreConstants(t *testing.T) {
	for name, p := range packages(t) {
		for _, f := range p.files {
			if name != "blog" && !strings.HasPrefix(name+"/", "engine/") && !f.isGenerated && regexp.MustCompile(`blog\.Code\(|Code:\s+"|"code":\s+"`).Match(f.source) {
				t.Errorf("%s makes an error code from a text", f.path)
			}
		}
	}
}

// errorCodes returns the codes of blog by the names of their constants.
func errorCodes(t *testing.T) map[string]string {
	t.Helper()
	codes := map[string]string{}
	source := fileOf(t, "blog", "error.go").source
	for _, match := range regexp.MustCompile(`(?m)^\t(\w+) +Code = "(\w+)"`).FindAllSubmatch(source, -1) {
		codes[string(match[1])] = string(match[2])
	}
	if len(codes) == 0 {
		t.Fatal("found no codes")
	}
	return codes
}

// isUsed reports whether a file outside of blog, or another file of it, has a name.
func isUsed(t *testing.T, name string) bool {
	t.Helper()
	pattern := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	inside := regexp.MustCompile(`\b` + strings.TrimPrefix(name, "blog.") + `\b`)
	for folder, p := range packages(t) {
		if slices.ContainsFunc(p.files, func(f *goFile) bool {
			return folder != "blog" && pattern.Match(f.source) ||
				folder == "blog" && !strings.HasSuffix(f.path, "/error.go") && inside.Match(f.source)
		}) {
			return true
		}
	}
	return false
}

// missing reports the wanted names that a place lacks.
func missing(t *testing.T, place string, wanted, found []string) {
	t.Helper()
	for _, name := range wanted {
		if !slices.Contains(found, name) {
			t.Errorf("%s lacks %s", place, name)
		}
	}
}

func fileOf(t *testing.T, folder, name string) *goFile {
	t.Helper()
	for _, f := range packages(t)[folder].files {
		if strings.HasSuffix(f.path, "/"+name) {
			return f
		}
	}
	t.Fatalf("there is no file %s/%s", folder, name)
	return nil
}
