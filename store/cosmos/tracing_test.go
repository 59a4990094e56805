package cosmos_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// TestAzcosmosWritesNoDiagnostics checks that azcosmos writes no diagnostics of its own, and still
// returns everything else of an answer. Values of the caller must reach the transport, and so must
// the end of its context.
func TestAzcosmosWritesNoDiagnostics(t *testing.T) {
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "a value"))
	a := &account{answer: func(request *http.Request) *http.Response {
		if request.Context().Value(key{}) != "a value" || request.Context().Done() != ctx.Done() {
			t.Error("the transport got another context")
		}
		return answer(http.StatusOK, `{"id":"a"}`, "X-Ms-Request-Charge: 1.5", `Etag: "e"`, "X-Ms-Activity-Id: i", "X-Ms-Session-Token: 0:1")
	}}
	c, log := a.container(t)
	got, err := c.ReadItem(ctx, azcosmos.NewPartitionKeyString("a"), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.RequestCharge != 1.5 || got.ETag != `"e"` || got.ActivityID != "i" || *got.SessionToken != "0:1" || string(got.Value) != `{"id":"a"}` {
		t.Errorf("ReadItem returned %+v", got)
	}
	if text := got.Diagnostics.String(); text != "" {
		t.Errorf("azcosmos wrote %s", text)
	}
	cancel()
	if _, err := c.ReadItem(ctx, azcosmos.NewPartitionKeyString("a"), "a", nil); err == nil {
		t.Error("a read succeeded after its context had ended")
	}
	if len(log.requests) == 0 || log.requests[0].Charge != 1.5 {
		t.Errorf("recorded %+v", log.requests)
	}
}
