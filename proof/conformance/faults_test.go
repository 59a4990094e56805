//go:build ci

package conformance

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

func idOf(t *testing.T, item []byte) string {
	t.Helper()
	var v struct{ ID string }
	if err := json.Unmarshal(item, &v); err != nil {
		t.Fatal(err)
	}
	return v.ID
}

// TestFaults injects faults between azcosmos and the engine, and checks the results of azcosmos.
func TestFaults(t *testing.T) {
	t.Run("statuses", testFaultStatuses)
	t.Run("connection lost after the commit", testLostConnection)
	t.Run("throttled client", testThrottledClient)
	t.Run("throttled account", testThrottledAccount)
}

func testFaultStatuses(t *testing.T) {
	a := openEngine(t, "the test injects failures", cosmostest.Options{})
	for _, status := range []int{408, 429, 503} {
		a.engine.Inject(cosmostest.First(1, cosmostest.Refuse(status, "x-ms-retry-after-ms: 1")))
		c := a.azcosmos(a.engine)
		_, err := c.CreateItem(a.t.Context(), azcosmos.NewPartitionKeyString("p"), []byte(`{"id":"one","pk":"p"}`), nil)
		refusal, ok := errors.AsType[*azcore.ResponseError](err)
		if !ok || refusal.StatusCode != status {
			t.Errorf("%d: %v", status, err)
		}
		if status == 429 && refusal.RawResponse.Header.Get("x-ms-retry-after-ms") != "1" {
			t.Error("429 without the time to wait")
		}
		a.must(404, engineOnly, a.send("GET", a.docs()+"/one", "", "pk", "p"))
	}
}

func testLostConnection(t *testing.T) {
	a := openEngine(t, "the test closes connections", cosmostest.Options{})
	a.engine.Inject(cosmostest.Nth(1, cosmostest.CutAfter))
	_, err := a.azcosmos(a.engine).CreateItem(a.t.Context(), azcosmos.NewPartitionKeyString("p"), []byte(`{"id":"one","pk":"p"}`), nil)
	if !errors.Is(err, cosmostest.ErrCut) {
		t.Errorf("lost connection: %v", err)
	}
	a.must(200, engineOnly, a.send("GET", a.docs()+"/one", "", "pk", "p"))
}

func testThrottledClient(t *testing.T) {
	a := openEngine(t, "the test throttles", cosmostest.Options{})
	a.engine.Inject(cosmostest.Budget(10, a.clock.Now))
	testThrottling(a, a.engine)
}

func testThrottledAccount(t *testing.T) {
	a := openEngine(t, "the test throttles", cosmostest.Options{Throughput: 10})
	testThrottling(a, nil)
}

// testThrottling sends writes to a container with 10 RU/s.
func testThrottling(a *account, transport policy.Transporter) {
	t := a.t
	t.Helper()
	c, key := a.azcosmos(transport), azcosmos.NewPartitionKeyString("p")
	statuses := map[int]int{}
	for range 20 {
		_, err := c.UpsertItem(t.Context(), key, []byte(`{"id":"one","pk":"p"}`), nil)
		refusal, ok := errors.AsType[*azcore.ResponseError](err)
		switch {
		case err == nil:
			statuses[http.StatusOK]++
		case ok:
			statuses[refusal.StatusCode]++
			if wait := refusal.RawResponse.Header.Get("x-ms-retry-after-ms"); wait != "1000" && wait != "2000" {
				t.Errorf("the time to wait is %q ms", wait)
			}
			if substatus := refusal.RawResponse.Header.Get("x-ms-substatus"); substatus != "3200" {
				t.Errorf("the substatus is %q", substatus)
			}
		default:
			t.Fatal(err)
		}
	}
	if statuses[http.StatusOK] == 0 || statuses[http.StatusOK] > 3 || statuses[http.StatusTooManyRequests] != 20-statuses[http.StatusOK] {
		t.Errorf("20 writes with 10 RU/s: %v", statuses)
	}
	a.clock.Advance(time.Minute)
	if _, err := c.UpsertItem(t.Context(), key, []byte(`{"id":"one","pk":"p"}`), nil); err != nil {
		t.Errorf("after a minute: %v", err)
	}
}
