package conformance

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/engine"
	"cosmosblog/internal/proof/faultstest"
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
	t.Run("throttled", testThrottled)
}

func testFaultStatuses(t *testing.T) {
	a := openEngine(t, "the test injects failures", engine.Options{})
	for _, status := range []int{408, 429, 449, 503} {
		broken := &faultstest.Transport{Next: a.client, Chance: 1, Faults: []faultstest.Fault{{Status: status, RetryAfter: time.Millisecond}}}
		broken.Allow(1)
		c := a.azcosmos(broken)
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
	a := openEngine(t, "the test closes connections", engine.Options{})
	broken := &faultstest.Transport{Next: a.client, Chance: 1, Faults: []faultstest.Fault{{Done: true}}}
	broken.Allow(1)
	_, err := a.azcosmos(broken).CreateItem(a.t.Context(), azcosmos.NewPartitionKeyString("p"), []byte(`{"id":"one","pk":"p"}`), nil)
	if !errors.Is(err, faultstest.ErrCut) {
		t.Errorf("lost connection: %v", err)
	}
	a.must(200, engineOnly, a.send("GET", a.docs()+"/one", "", "pk", "p"))
}

func testThrottled(t *testing.T) {
	a := openEngine(t, "the test throttles", engine.Options{})
	budget := &faultstest.Budget{Next: a.client, PerSecond: 10, Now: a.clock.Now}
	c, key := a.azcosmos(budget), azcosmos.NewPartitionKeyString("p")
	statuses := map[int]int{}
	for range 20 {
		_, err := c.UpsertItem(a.t.Context(), key, []byte(`{"id":"one","pk":"p"}`), nil)
		refusal, ok := errors.AsType[*azcore.ResponseError](err)
		switch {
		case err == nil:
			statuses[http.StatusOK]++
		case ok:
			statuses[refusal.StatusCode]++
		default:
			t.Fatal(err)
		}
	}
	if statuses[http.StatusOK] == 0 || statuses[http.StatusOK] > 3 || statuses[http.StatusTooManyRequests] != 20-statuses[http.StatusOK] {
		t.Errorf("20 writes with 10 RU/s: %v", statuses)
	}
	a.clock.Advance(time.Minute)
	if _, err := c.UpsertItem(a.t.Context(), key, []byte(`{"id":"one","pk":"p"}`), nil); err != nil {
		t.Errorf("after a minute: %v", err)
	}
}
