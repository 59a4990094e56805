package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"cosmosblog/proof/apitest"
)

// TestMetricsAddress checks that metrics are at the API's address in development, and only at
// --metrics-addr in production.
func TestMetricsAddress(t *testing.T) {
	t.Parallel()
	const metric = `cosmosblog_projector_lag_seconds{container="posts",range="-FF"}`
	data := filepath.Join(t.TempDir(), "data")
	development, api := serving(t, nil, "--data", data)
	if text := get(t, api.URL+"/metrics"); !strings.Contains(text, metric) {
		t.Errorf("got %s", text)
	}
	development.terminate(t)

	production := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--production", "--data", data, "--metrics-addr", "127.0.0.1:0")
	own := production.waitForLine(t, `at (http://\S+)/metrics`)
	public := production.waitForLine(t, `at (http://\S+)/graphql`)
	if text := get(t, own+"/metrics"); !strings.Contains(text, metric) || !strings.Contains(text, "go_goroutines") {
		t.Errorf("got %s", text)
	}
	for _, url := range []string{own, public} {
		if text := get(t, url+"/readyz"); !strings.Contains(text, `"lag":[{"container":"posts","range":"-FF","changes":0,"seconds":0,`) {
			t.Errorf("%s: got %s", url, text)
		}
	}
	requireStatus(t, public+"/metrics", http.StatusNotFound)
	production.terminate(t)
}

// TestTraces checks that a collector receives each request with its operation and database
// requests, including the last ones before the end of the process. The spans contain no content
// of users.
func TestTraces(t *testing.T) {
	t.Parallel()
	received := &spans{}
	endpoint := httptest.NewServer(received)
	defer endpoint.Close()
	data := filepath.Join(t.TempDir(), "data")
	server, api := serving(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint.URL, "OTEL_SERVICE_NAME=blog-of-the-test"},
		"--data", data, "--cache-bytes", "0")
	anna, _ := signUp(t, api, data, "S3CRET")
	post := anna.CreatePost(t, "S3CRET", "S3CRET")
	anna.Ask(t, `mutation Like($post: ID!) { likePost(input: {postId: $post}) { like { id } } }`, apitest.Variables{"post": post}, nil)
	api.Ask(t, `query Names { a: userByUsername(username: "S3CRET") { id } }`, nil, nil)
	server.terminate(t)

	received.mu.Lock()
	defer received.mu.Unlock()
	tree := received.tree(t, nil)
	for _, want := range []string{
		"POST /graphql(mutation Like(execute posts, read users))",
		"POST /graphql(query Names(read usernames, read users))",
	} {
		if !strings.Contains(tree, want) {
			t.Errorf("the trace %s does not contain %s", tree, want)
		}
	}
	text := received.text.String()
	if strings.Contains(strings.ToUpper(text), "S3CRET") || strings.Contains(text, "userByUsername") {
		t.Errorf("the spans contain content of users: %s", text)
	}
	if !strings.Contains(text, "blog-of-the-test") {
		t.Error("the spans do not contain the service's name")
	}
}

// spans is a collector of traces by OTLP over HTTP.
type spans struct {
	mu   sync.Mutex
	all  []*trace.Span
	text strings.Builder // of all received exports
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var export collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &export) != nil {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(export.String())
	for _, resource := range export.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			s.all = append(s.all, scope.Spans...)
		}
	}
}

// children returns the spans whose parent is the given span. If parent is nil, it returns the
// spans whose parent was not received.
func (s *spans) children(parent *trace.Span) (children []*trace.Span) {
	for _, span := range s.all {
		isParent := func(p *trace.Span) bool { return bytes.Equal(p.SpanId, span.ParentSpanId) }
		if parent == nil && !slices.ContainsFunc(s.all, isParent) || parent != nil && isParent(parent) {
			children = append(children, span)
		}
	}
	return children
}

// attribute returns an attribute of a span, or nil if the span does not have it.
func attribute(span *trace.Span, name string) any {
	for _, a := range span.Attributes {
		if a.Key != name {
			continue
		}
		if text := a.Value.GetStringValue(); text != "" {
			return text
		}
		return a.Value.GetDoubleValue()
	}
	return nil
}

// tree returns the names of the spans below parent, with their operations, as a tree. It fails
// the test if a span of a database request has no charge.
func (s *spans) tree(t *testing.T, parent *trace.Span) string {
	t.Helper()
	var tree []string
	for _, span := range s.children(parent) {
		name := span.Name
		if operation, ok := attribute(span, "graphql.operation.name").(string); ok {
			name += " " + operation
		}
		if attribute(span, "db.system.name") != nil {
			if charge, _ := attribute(span, "azure.cosmosdb.operation.request_charge").(float64); charge <= 0 {
				t.Errorf("%s has no charge: %v", span.Name, span)
			}
		}
		if inner := s.tree(t, span); inner != "" {
			name += "(" + inner + ")"
		}
		tree = append(tree, name)
	}
	slices.Sort(tree)
	return strings.Join(slices.Compact(tree), ", ")
}
