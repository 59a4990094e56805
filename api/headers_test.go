package api_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cosmosblog/proof/docsection"
)

// A page may send every header that docs/clients.md names, and read every one: the list of CORS is
// that of the document. Without a header in Access-Control-Allow-Headers, the browser does not send
// the request at all (Fetch, section 4.8, "CORS-preflight fetch", step 7).
func TestDocumentedHeaders(t *testing.T) {
	r := preflight(newServer(t, allowPage), page)
	if allowed, documented := listOf(r, "Access-Control-Allow-Headers"), documentedHeaders(t, "request-headers"); !slices.Equal(allowed, documented) {
		t.Errorf("pages may send\n%q, the document has\n%q", allowed, documented)
	}
	if exposed, documented := listOf(r, "Access-Control-Expose-Headers"), documentedHeaders(t, "answer-headers"); !slices.Equal(exposed, documented) {
		t.Errorf("pages may read\n%q, the document has\n%q", exposed, documented)
	}
}

func listOf(r reply, name string) []string {
	return slices.Sorted(strings.SplitSeq(r.Header().Get(name), ", "))
}

// documentedHeaders returns the names in the first column of a table of docs/clients.md.
func documentedHeaders(t *testing.T, section string) (names []string) {
	t.Helper()
	text, err := docsection.Read("../docs/clients.md", section)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) > 1 {
			for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				names = append(names, match[1])
			}
		}
	}
	slices.Sort(names)
	return names
}

// notOfPages are headers that the server reads and that no page has to send, with who sends them.
// Browsers set those of their own, which pages cannot (Fetch, section 2.2.2, "forbidden
// request-header").
var notOfPages = map[string]string{
	"Origin":                        "browsers",
	"Accept-Encoding":               "browsers",
	"Upgrade":                       "browsers",
	"Access-Control-Request-Method": "browsers",
	"Sec-Fetch-Mode":                "browsers",
	"Sec-Fetch-Site":                "browsers",
	"X-Forwarded-For":               "proxies",
	"X-Forwarded-Host":              "proxies",
	"Content-Encoding":              "nobody: it is rejected",
	"Range":                         "clients that read files, which are not part of the API",
}

var (
	headerRead   = regexp.MustCompile(`[hH]eader(?:\.Get\(|\.Values\(|\[)([A-Za-z"-]+)[)\]](.{0,3})`)
	headerOfName = map[string]string{"sessionHeader": "Cosmosblog-Session", "diagnosticsHeader": "X-Cosmos-Diagnostics"}
)

// Every header of a request that the server reads is in the list of CORS, or no page sends it.
func TestReadHeadersAreAllowed(t *testing.T) {
	allowed := listOf(preflight(newServer(t, allowPage), page), "Access-Control-Allow-Headers")
	read := map[string]bool{}
	for _, folder := range []string{".", "../guard/proxy", "../internal/loopback", "../internal/telemetry"} {
		paths, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range headerRead.FindAllStringSubmatch(string(source), -1) {
				if match[2] == " = " { // it is written
					continue
				}
				name := strings.Trim(match[1], `"`)
				if name == match[1] { // a constant or a variable
					name = headerOfName[name]
				}
				if name != "" {
					read[name] = true
				}
			}
		}
	}
	for name := range read {
		if notOfPages[name] == "" && !slices.Contains(allowed, name) {
			t.Errorf("the server reads %s, which pages may not send", name)
		}
	}
	if !read["Last-Event-ID"] || !read["Cosmosblog-Session"] || !read["Traceparent"] {
		t.Errorf("the test has found only %v", read)
	}
}
