package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/graph/model"
	"cosmosblog/internal/auth"
	"cosmosblog/internal/blog"
	"cosmosblog/internal/httpapi"
	"cosmosblog/internal/telemetry"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// postAPI gives the API over an engine in memory as a task wires it, and a request for the one post that is there.
// The database is behind a transport.
func postAPI(tb testing.TB, task Task, over func(*embedded.Engine) policy.Transporter) (api http.Handler, request func() *http.Request) {
	tb.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	opened, err := store.OpenEmbedded(context.Background(), engine, store.Options{Recorder: task.recorder(), Transport: over(engine)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { opened.Close(); engine.Close() })
	user, err := opened.CreateUser(tb.Context(), blog.Account{Issuer: "test", Subject: "anna"}, "anna")
	if err != nil {
		tb.Fatal(err)
	}
	post, err := opened.CreatePost(tb.Context(), user, blog.PostInput{Title: "S3CRET", Content: "S3CRET"})
	if err != nil {
		tb.Fatal(err)
	}
	api = httpapi.New(httpapi.Options{Resolvers: resolvers.New(opened, resolvers.Options{Logger: task.Logger}), Verifier: auth.NoIssuer{}, Traffic: task.Traffic})
	body := `{"query":"query Post($id: ID!) { post(id: $id) { title content author { username } } }","variables":{"id":"` + model.EncodeID(post.Ref()) + `"}}`
	return api, func() *http.Request {
		r := httptest.NewRequest("POST", "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return r
	}
}

func directly(engine *embedded.Engine) policy.Transporter { return store.InProcess(engine) }

// throttling refuses every other read.
type throttling struct {
	next policy.Transporter
	odd  atomic.Bool
}

func (s *throttling) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && strings.Contains(request.URL.Path, "/docs/") && s.odd.CompareAndSwap(false, true) {
		return &http.Response{StatusCode: 429, Header: http.Header{"X-Ms-Retry-After-Ms": {"1"}}, Body: http.NoBody, Request: request}, nil
	}
	s.odd.Store(false)
	return s.next.Do(request)
}

// What was sent again is told by the metrics, and in the line of the operation that had to wait for it.
func TestRetriesAreTold(t *testing.T) {
	var log strings.Builder
	logger := telemetry.NewLogger(&log, true, slog.LevelInfo)
	task := Task{Logger: logger, Traffic: telemetry.NewTraffic(telemetry.TrafficOptions{Logger: logger})}
	api, request := postAPI(t, task, func(engine *embedded.Engine) policy.Transporter {
		return &throttling{next: store.InProcess(engine)}
	})
	api.ServeHTTP(httptest.NewRecorder(), request())
	if !strings.Contains(log.String(), " status=200 ") || !strings.Contains(log.String(), " requests=2 retries=1 ") {
		t.Errorf("got %s", log.String())
	}
	told := tell(task)
	for _, want := range []string{
		`cosmosblog_cosmos_requests_total{container="posts",operation="read",status="429"} 1`,
		`cosmosblog_cosmos_retries_total{container="posts",operation="read"} 1`,
	} {
		if !strings.Contains(told, "\n"+want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}

// tell gives the metrics of a task's traffic.
func tell(task Task) string {
	observer := telemetry.Observer{Metrics: telemetry.NewMetrics(), Logger: task.Logger}
	observer.Metrics.AddTraffic(task.Traffic)
	metrics := httptest.NewRecorder()
	observer.Handler().ServeHTTP(metrics, httptest.NewRequest("GET", "/metrics", nil))
	return metrics.Body.String()
}

// What an operation sends to the database is told as its own, in the metrics and in the line of the log, and nothing that
// users wrote.
func TestRequestsAreToldAsTheirOperations(t *testing.T) {
	var log strings.Builder
	logger := telemetry.NewLogger(&log, false, slog.LevelInfo)
	task := Task{Logger: logger, Traffic: telemetry.NewTraffic(telemetry.TrafficOptions{Logger: logger})}
	api, request := postAPI(t, task, directly)
	api.ServeHTTP(httptest.NewRecorder(), request())
	var line struct {
		Operation, Type, Code string
		Status, Requests      int
		RU                    float64
	}
	if err := json.Unmarshal([]byte(log.String()), &line); err != nil || line.Operation != "Post" || line.Type != "query" ||
		line.Status != 200 || line.Requests != 1 || line.RU <= 0 || line.Code != "" {
		t.Errorf("%v: %s", err, log.String())
	}
	metrics := tell(task)
	for _, want := range []string{
		fmt.Sprintf(`cosmosblog_request_charge_total{container="posts",operation="Post"} %v`, line.RU),
		`cosmosblog_cosmos_requests_total{container="posts",operation="read",status="200"} 1`,
		`cosmosblog_operations_total{code="OK",operation="Post",type="query"} 1`,
		`cosmosblog_operation_duration_seconds_count{operation="Post"} 1`,
	} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(log.String()+metrics, "S3CRET") {
		t.Errorf("what users wrote is told: %s", log.String())
	}
}

// BenchmarkPost reads a post through the API: where nobody is told of it, where it is counted, and where it is logged too.
func BenchmarkPost(b *testing.B) {
	logger := telemetry.NewLogger(io.Discard, false, slog.LevelInfo)
	for _, told := range []struct {
		name    string
		traffic *telemetry.Traffic
	}{
		{"untold", nil},
		{"counted", telemetry.NewTraffic(telemetry.TrafficOptions{})},
		{"logged", telemetry.NewTraffic(telemetry.TrafficOptions{Logger: logger})},
	} {
		b.Run(told.name, func(b *testing.B) {
			api, request := postAPI(b, Task{Logger: logger, Traffic: told.traffic}, directly)
			b.ReportAllocs()
			for b.Loop() {
				answer := httptest.NewRecorder()
				api.ServeHTTP(answer, request())
				if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"title":"S3CRET"`) {
					b.Fatal(answer.Code, answer.Body)
				}
			}
		})
	}
}
