package cosmostest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// The account answers a number of reads of definitions in five minutes. Requests to items go on.
func TestMetadataReads(t *testing.T) {
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	account := cosmostest.New(t, cosmostest.Options{MetadataReads: 50, Now: func() time.Time { return now }})
	container := account.NewTransport().Container("shop", "orders", "/customer")
	create := func(id string) error {
		_, err := container.CreateItem(t.Context(), azcosmos.NewPartitionKeyString("ada"), []byte(`{"id":"`+id+`","customer":"ada"}`), nil)
		return err
	}
	if err := create("1"); err != nil {
		t.Fatal(err)
	}
	n := 0
	for status := 0; status != http.StatusTooManyRequests; n++ {
		_, err := container.Read(t.Context(), nil)
		if status = statusOf(err); n > 50 {
			t.Fatalf("after %d reads: %v", n, err)
		}
		now = now.Add(time.Second)
	}
	if err := create("2"); err != nil {
		t.Error(err)
	}
	now = now.Add(5 * time.Minute)
	if _, err := container.Read(t.Context(), nil); err != nil {
		t.Errorf("after five minutes: %v", err)
	}
}
