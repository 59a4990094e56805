package main

import (
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
)

// spans is a collector of traces, as OTLP over HTTP has them.
type spans struct {
	mu   sync.Mutex
	all  []*trace.Span
	text strings.Builder // of all that came
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

// within gives the spans within one; those within none of ours for nil.
func (s *spans) within(parent *trace.Span) (within []*trace.Span) {
	for _, span := range s.all {
		if isRoot := !slices.ContainsFunc(s.all, func(p *trace.Span) bool { return string(p.SpanId) == string(span.ParentSpanId) }); parent == nil && isRoot ||
			parent != nil && string(span.ParentSpanId) == string(parent.SpanId) {
			within = append(within, span)
		}
	}
	return within
}

// attribute gives an attribute of a span, nil where it has none.
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

// tree writes spans within one another, each with what tells it apart. It fails where one of a request has no charge.
func (s *spans) tree(t *testing.T, parent *trace.Span) string {
	t.Helper()
	var tree []string
	for _, span := range s.within(parent) {
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

// A collector that is configured gets every request with its operation and what that sent, also those of the last moment,
// and nothing that users wrote.
func TestTraces(t *testing.T) {
	received := &spans{}
	endpoint := httptest.NewServer(received)
	defer endpoint.Close()
	data := filepath.Join(t.TempDir(), "data")
	server, api := serving(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint.URL, "OTEL_SERVICE_NAME=blog-of-the-test"}, "--data", data)
	token, err := runOnce(t, nil, "token", "--sub", "S3CRET", "--data", data)
	if err != nil {
		t.Fatal(err)
	}
	anna := api.as(strings.TrimSpace(token))
	anna.createUser(t, "S3CRET")
	post := anna.createPost(t, "S3CRET", "S3CRET")
	anna.ask(t, `mutation Like($post: ID!) { likePost(input: {postId: $post}) { like { id } } }`, variables{"post": post}, nil)
	api.ask(t, `query Names { a: userByUsername(username: "S3CRET") { id } }`, nil, nil)
	server.terminate(t)

	received.mu.Lock()
	defer received.mu.Unlock()
	tree := received.tree(t, nil)
	for _, want := range []string{
		"POST /graphql(mutation Like(execute posts, read users))",
		"POST /graphql(query Names(read usernames, read users))",
	} {
		if !strings.Contains(tree, want) {
			t.Errorf("there is no %s in %s", want, tree)
		}
	}
	text := received.text.String()
	if strings.Contains(strings.ToUpper(text), "S3CRET") || strings.Contains(text, "userByUsername") {
		t.Errorf("the spans tell what users wrote: %s", text)
	}
	if !strings.Contains(text, "blog-of-the-test") {
		t.Error("the service has not its name")
	}
}

// A collector that is away, or that does not answer, keeps nobody from answering, or from ending well.
func TestTracesToNobody(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // or the server does not notice that the client has gone
		<-r.Context().Done()
	}))
	defer silent.Close()
	for _, endpoint := range []string{"http://127.0.0.1:1", silent.URL} {
		server, api := serving(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint}, "--data", filepath.Join(t.TempDir(), "data"))
		api.ask(t, `{ feed { nodes { id } } }`, nil, nil)
		server.terminate(t)
		if log := server.stderr.String(); !strings.Contains(log, "spans were not sent") {
			t.Errorf("the log does not tell: %s", log)
		}
	}
}
