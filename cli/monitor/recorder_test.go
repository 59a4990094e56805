package monitor

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

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/auth"
	"cosmosblog/internal/inprocess"
	"cosmosblog/internal/telemetry"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// postAPI returns the API over an engine in memory, with the traffic that counts its requests,
// and a query of its only post. transport returns the store's transport.
func postAPI(
	tb testing.TB, traffic *telemetry.Traffic, transport func(*cosmostest.Account) policy.Transporter,
) (handler http.Handler, request func() *http.Request) {
	tb.Helper()
	engine := cosmostest.New(tb, cosmostest.Options{})
	options := cosmos.Options{Recorder: Recorder(traffic), Transport: transport(engine)}
	db, err := provision.OpenEmbedded(context.Background(), engine, options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(db.Close)
	opened := store.New(db)
	user, err := opened.CreateUser(tb.Context(), blog.Account{Issuer: "test", Subject: "anna"}, "anna")
	if err != nil {
		tb.Fatal(err)
	}
	post, err := opened.CreatePost(tb.Context(), user, blog.CreatePostInput{Title: "S3CRET", Content: "S3CRET"})
	if err != nil {
		tb.Fatal(err)
	}
	handler = api.New(api.Options{
		Resolvers: resolvers.New(opened),
		Scope:     resolvers.NewScopeExtension(resolvers.ScopeOptions{}),
		Errors:    resolvers.NewErrorPresenter(discard),
		Verifier:  auth.NoIssuer{},
		Traffic:   traffic,
	})
	body := fmt.Sprintf(`{"query":"query Post($id: ID!) { post(id: $id) { title content author { username } } }",
		"variables":{"id":%q}}`, post.Ref().String())
	return handler, func() *http.Request {
		r := httptest.NewRequest("POST", "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return r
	}
}

func directly(engine *cosmostest.Account) policy.Transporter { return inprocess.To(engine) }

// throttling rejects every other point read with 429.
type throttling struct {
	next policy.Transporter
	odd  atomic.Bool
}

func (s *throttling) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && strings.Contains(request.URL.Path, "/docs/") && s.odd.CompareAndSwap(false, true) {
		header := http.Header{"X-Ms-Retry-After-Ms": {"1"}}
		return &http.Response{StatusCode: 429, Header: header, Body: http.NoBody, Request: request}, nil
	}
	s.odd.Store(false)
	return s.next.Do(request)
}

// loggedTraffic returns a traffic that writes the log as JSON.
func loggedTraffic(log io.Writer) *telemetry.Traffic {
	return telemetry.NewTraffic(telemetry.NewLogger(log, false, slog.LevelInfo), nil)
}

// The metrics and the operation's log line count the retries.
func TestRetriesAreCounted(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	traffic := loggedTraffic(&log)
	handler, request := postAPI(t, traffic, func(engine *cosmostest.Account) policy.Transporter {
		return &throttling{next: inprocess.To(engine)}
	})
	handler.ServeHTTP(httptest.NewRecorder(), request())
	if !strings.Contains(log.String(), `"status":200,`) ||
		!strings.Contains(log.String(), `"requests":2,"retries":1,`) {
		t.Errorf("got %s", log.String())
	}
	metrics := metricsOf(traffic)
	for _, want := range []string{
		`cosmosblog_cosmos_requests_total{container="posts",operation="read",priority="high",status="429"} 1`,
		`cosmosblog_cosmos_retries_total{container="posts",operation="read"} 1`,
	} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}

// metricsOf returns the metrics of a traffic as text.
func metricsOf(traffic *telemetry.Traffic) string {
	observer := telemetry.Observer{Metrics: telemetry.NewMetrics(), Logger: discard}
	observer.Metrics.AddTraffic(traffic)
	metrics := httptest.NewRecorder()
	observer.Handler().ServeHTTP(metrics, httptest.NewRequest("GET", "/metrics", nil))
	return metrics.Body.String()
}

// The metrics and the log attribute requests to the database to their operation. They contain no
// text of users.
func TestRequestsBelongToOperations(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	traffic := loggedTraffic(&log)
	handler, request := postAPI(t, traffic, directly)
	handler.ServeHTTP(httptest.NewRecorder(), request())
	var line struct {
		Operation, Type, Code string
		Status, Requests      int
		RU                    float64
	}
	err := json.Unmarshal([]byte(log.String()), &line)
	if err != nil || line.Operation != "Post" || line.Type != "query" ||
		line.Status != 200 || line.Requests != 1 || line.RU <= 0 || line.Code != "" {
		t.Errorf("%v: %s", err, log.String())
	}
	metrics := metricsOf(traffic)
	for _, want := range []string{
		fmt.Sprintf(`cosmosblog_request_charge_total{container="posts",operation="Post"} %v`, line.RU),
		`cosmosblog_cosmos_requests_total{container="posts",operation="read",priority="high",status="200"} 1`,
		`cosmosblog_operations_total{code="OK",operation="Post",type="query"} 1`,
		`cosmosblog_operation_duration_seconds_count{operation="Post"} 1`,
	} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(log.String()+metrics, "S3CRET") {
		t.Errorf("the telemetry contains a user's text: %s", log.String())
	}
}

// BenchmarkPost reads a post through the API: without telemetry, with metrics, and with metrics
// and log.
func BenchmarkPost(b *testing.B) {
	for _, c := range []struct {
		name    string
		traffic *telemetry.Traffic
	}{
		{"uncounted", nil},
		{"counted", telemetry.NewTraffic(nil, nil)},
		{"logged", loggedTraffic(io.Discard)},
	} {
		b.Run(c.name, func(b *testing.B) {
			handler, request := postAPI(b, c.traffic, directly)
			b.ReportAllocs()
			for b.Loop() {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, request())
				if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"title":"S3CRET"`) {
					b.Fatal(answer.Code, answer.Body)
				}
			}
		})
	}
}
