package cosmostest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/cosmostest"
)

func TestRefuse(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	for _, status := range []int{400, 403, 404, 408, 409, 410, 412, 413, 429, 500, 503} {
		s.Inject(cosmostest.First(1, cosmostest.Refuse(status, "x-ms-substatus:42", "X-Ms-Retry-After-Ms: 10")))
		response := refusal(t, s.tryPut("ada", fmt.Sprint(status)))
		if response.StatusCode != status || response.Header.Get("X-Ms-Substatus") != "42" || response.Header.Get("x-ms-retry-after-ms") != "10" {
			t.Errorf("%d: refused with %s %v", status, response.Status, response.Header)
		}
		var body struct{ Code, Message string }
		if err := json.NewDecoder(response.Body).Decode(&body); err != nil || body.Code != fmt.Sprint(status) || body.Message == "" {
			t.Errorf("%d: %+v %v", status, body, err)
		}
		if s.has("ada", fmt.Sprint(status)) {
			t.Errorf("%d: the request was executed", status)
		}
	}
}

func TestRespond(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.Inject(cosmostest.Respond(http.StatusOK, `{"id":"1","customer":"ada","made":"up"}`, `Etag: "7"`, "Content-Type: text/plain"))
	if s.property("ada", "1", "made") != "up" {
		t.Error("the answer is not the test's")
	}
	got := s.rest("GET", docs+"/1", "", of("ada"))
	if got.Status != "200 OK" || got.Header.Get("Etag") != `"7"` || got.Header.Get("Content-Type") != "text/plain" || got.ContentLength != int64(len(got.text)) {
		t.Errorf("%s, %d bytes, %v", got.Status, got.ContentLength, got.Header)
	}
	if s.Inject(nil); s.has("ada", "1") {
		t.Error("the account has the item")
	}
}

// TestCuts checks what the account has executed when a connection was closed.
func TestCuts(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	for _, test := range []struct {
		id       string
		fault    cosmostest.Fault
		executed bool
	}{
		{"before", cosmostest.CutBefore, false},
		{"after", cosmostest.CutAfter, true},
		{"executed", cosmostest.Executed(cosmostest.CutBefore), true},
	} {
		s.Inject(cosmostest.First(1, test.fault))
		if err := s.tryPut("ada", test.id); !errors.Is(err, cosmostest.ErrCut) {
			t.Errorf("%s: %v", test.id, err)
		}
		if s.has("ada", test.id) != test.executed {
			t.Errorf("%s: executed %t", test.id, !test.executed)
		}
	}
}

func TestExecuted(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.Inject(cosmostest.First(1, cosmostest.Executed(cosmostest.Refuse(http.StatusRequestTimeout))))
	wantStatus(t, "a timeout", s.add("ada", "1"), http.StatusRequestTimeout)
	wantStatus(t, "its repetition", s.add("ada", "1"), http.StatusConflict)
}

// TestExecutedOnce checks that a request is executed once and keeps its answer if the fault after
// it lets the request pass.
func TestExecutedOnce(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.Inject(cosmostest.Executed(cosmostest.Nth(2, cosmostest.Refuse(http.StatusRequestTimeout))))
	for i, want := range []int{http.StatusOK, http.StatusRequestTimeout, http.StatusOK} {
		wantStatus(t, fmt.Sprint("request ", i+1), s.add("ada", fmt.Sprint(i+1)), want)
	}
	if s.Inject(nil); s.ids("ada") != "1 2 3" {
		t.Errorf("the items are %s", s.ids("ada"))
	}
}

// TestExecutedErrors checks that a fault does not replace the error of a request that was not
// executed.
func TestExecutedErrors(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s := newShop(t, cosmostest.Options{})
	s.Inject(cosmostest.CutAfter)
	if _, err := s.Send(ended, "GET", docs, "", of("ada")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled request: %v", err)
	}
}

func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, cosmostest.Options{})
		s.Inject(cosmostest.First(1, cosmostest.Silence))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begun := time.Now()
		_, err := s.orders.UpsertItem(ctx, key("ada"), order("ada", "1"), nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Hour {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if s.has("ada", "1") {
			t.Error("the request was executed")
		}
	})
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, cosmostest.Options{})
		s.Inject(cosmostest.Delay(time.Minute))
		begun := time.Now()
		s.put("ada", "1")
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("waited for %v", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		_, err := s.orders.UpsertItem(ctx, key("ada"), order("ada", "2"), nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("cancelled after %v: %v", time.Since(begun), err)
		}
		if s.Inject(nil); s.has("ada", "2") {
			t.Error("a cancelled request was executed")
		}
	})
}

// TestDelayOfAnswer checks that Executed(Delay) executes a request at once, and delays its answer.
func TestDelayOfAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, cosmostest.Options{})
		other := newClient(t, s.NewTransport())
		s.Inject(cosmostest.Executed(cosmostest.Delay(time.Minute)))
		var answered error
		done := make(chan struct{})
		go func() { defer close(done); answered = s.add("ada", "1") }()
		synctest.Wait()
		if !other.has("ada", "1") {
			t.Error("the request was not executed before the delay")
		}
		select {
		case <-done:
			t.Error("the answer is not late")
		default:
		}
		<-done
		wantStatus(t, "the late answer", answered, http.StatusOK)
	})
}

// TestSelections checks which requests First, Nth and From choose.
func TestSelections(t *testing.T) {
	refuse := cosmostest.Refuse(http.StatusServiceUnavailable)
	for name, test := range map[string]struct {
		fault   cosmostest.Fault
		refused []int
	}{
		"First(2)":            {cosmostest.First(2, refuse), []int{1, 2}},
		"First(0)":            {cosmostest.First(0, refuse), nil},
		"Nth(3)":              {cosmostest.Nth(3, refuse), []int{3}},
		"From(3)":             {cosmostest.From(3, refuse), []int{3, 4, 5}},
		"all":                 {refuse, []int{1, 2, 3, 4, 5}},
		"none":                {nil, nil},
		"From(2) of First(3)": {cosmostest.First(3, cosmostest.From(2, refuse)), []int{2, 3}},
	} {
		s := newShop(t, cosmostest.Options{})
		for range 2 { // Inject counts anew
			s.Inject(test.fault)
			var refused []int
			for n := 1; n <= 5; n++ {
				if s.tryPut("ada", fmt.Sprint(n)) != nil {
					refused = append(refused, n)
				}
			}
			if !slices.Equal(refused, test.refused) {
				t.Errorf("%s refused %v, want %v", name, refused, test.refused)
			}
		}
	}
}

// TestWritesCountsWrites checks that Writes counts writes alone.
func TestWritesCountsWrites(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.Inject(cosmostest.Writes(cosmostest.Nth(2, cosmostest.CutBefore)))
	s.has("ada", "0")
	s.put("ada", "1")
	s.ids("ada")
	if err := s.tryPut("ada", "2"); !errors.Is(err, cosmostest.ErrCut) {
		t.Errorf("the second write: %v", err)
	}
	s.put("ada", "3")
	if s.ids("ada") != "1 3" {
		t.Errorf("the items are %s", s.ids("ada"))
	}
}

// TestWritesOfSDKs checks which requests are writes, with the headers by which SDKs mark queries.
func TestWritesOfSDKs(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.put("ada", "1")
	s.register("nothing", "function () {}")
	const query = `{"query":"SELECT * FROM c"}`
	for _, test := range []struct {
		what, method, path, body string
		write                    bool
		headers                  []string
	}{
		{"a read", "GET", docs + "/1", "", false, nil},
		{"a list", "GET", docs, "", false, nil},
		{"a change feed", "GET", docs, "", false, []string{"A-IM: Incremental Feed"}},
		{"a query of azcosmos", "POST", docs, query, false, []string{"x-ms-documentdb-query: True", "Content-Type: application/query+json"}},
		{"a query of JavaScript", "POST", docs, query, false, []string{"x-ms-documentdb-isquery: true", "Content-Type: application/query+json"}},
		{"a query of Python", "POST", docs, query, false, []string{"x-ms-documentdb-isquery: True"}},
		{"a query by its type", "POST", docs, query, false, []string{"Content-Type: application/query+json; charset=utf-8"}},
		{"a create", "POST", docs, string(order("ada", "2")), true, []string{"Content-Type: application/json"}},
		{"an upsert", "POST", docs, string(order("ada", "2")), true, []string{"x-ms-documentdb-is-upsert: true", "x-ms-documentdb-isquery: false"}},
		{"a batch", "POST", docs, `[{"operationType":"Read","id":"1"}]`, true, []string{"x-ms-cosmos-is-batch-request: true", "x-ms-cosmos-batch-atomic: true"}},
		{"a replace", "PUT", docs + "/1", string(order("ada", "1")), true, nil},
		{"a patch", "PATCH", docs + "/1", `{"operations":[{"op":"add","path":"/n","value":1}]}`, true, nil},
		{"a delete", "DELETE", docs + "/2", "", true, nil},
		{"an execution", "POST", sprocs + "/nothing", "[]", true, nil},
		{"an execution sent as a query", "POST", sprocs + "/nothing", "[]", true, []string{"Content-Type: application/query+json"}},
		{"a patch sent as a query", "PATCH", docs + "/1", `{"operations":[{"op":"add","path":"/n","value":1}]}`, true, []string{"Content-Type: application/query+json"}},
	} {
		writes := 0
		s.Inject(cosmostest.Writes(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
			writes = n
			return next.Do(request)
		}))
		if got := s.rest(test.method, test.path, test.body, append(test.headers, of("ada"))...); got.StatusCode >= 400 {
			t.Errorf("%s: %d %s", test.what, got.StatusCode, got.text)
		}
		if (writes == 1) != test.write {
			t.Errorf("%s: a write: %t, want %t", test.what, writes == 1, test.write)
		}
	}
}

// TestBody checks that a fault can read the body of a request that is then executed, also again
// after a refusal that azcosmos repeats.
func TestBody(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	var read []string
	s.Inject(func(n int, request *http.Request, next policy.Transporter) (*http.Response, error) {
		read = append(read, string(cosmostest.Body(request)), string(cosmostest.Body(request)))
		if n == 1 {
			return cosmostest.Refuse(http.StatusTooManyRequests)(n, request, next)
		}
		return next.Do(request)
	})
	options := *patient
	options.Retry = policy.RetryOptions{MaxRetries: 1, RetryDelay: time.Microsecond}
	orders, err := s.Client(&options).NewContainer("shop", "orders")
	s.must(err)
	_, err = orders.CreateItem(t.Context(), key("ada"), order("ada", "1"), nil)
	s.must(err)
	if want := string(order("ada", "1")); !slices.Equal(read, []string{want, want, want, want}) {
		t.Errorf("read %q", read)
	}
	s.Inject(nil)
	if s.ids("ada") != "1" {
		t.Errorf("the items are %q", s.ids("ada"))
	}
	request := s.Requests()[0]
	request.Body = nil
	if cosmostest.Body(request) != nil {
		t.Error("a request without a body has one")
	}
	request.Body = io.NopCloser(strings.NewReader("text"))
	if string(cosmostest.Body(request))+string(cosmostest.Body(request)) != "texttext" {
		t.Error("a body cannot be read twice")
	}
}
