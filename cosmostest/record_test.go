package cosmostest_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// A recorded request still has its body, which Body returns each time.
func TestRecordedBodies(t *testing.T) {
	account := cosmostest.New(t, cosmostest.Options{})
	orders := account.Container("shop", "orders", "/customer")
	account.Inject(nil)
	const order = `{"id": "1", "customer": "ada"}`
	if _, err := orders.CreateItem(t.Context(), azcosmos.NewPartitionKeyString("ada"), []byte(order), nil); err != nil {
		t.Fatal(err)
	}
	requests := account.Requests()
	for range 2 {
		if len(requests) != 1 || string(cosmostest.Body(requests[0])) != order {
			t.Fatalf("%d requests, body %q", len(requests), cosmostest.Body(requests[0]))
		}
	}
}
