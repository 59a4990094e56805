package cosmostest_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// TestIntegersKeepTheirDigits stores Unix times in nanoseconds, as Go programs do, in two items
// that differ by one. Reports of the service that it keeps them: Azure/azure-sdk-for-js#13645,
// Azure/azure-cosmos-dotnet-v3#4428.
func TestIntegersKeepTheirDigits(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	type purchase struct {
		ID       string `json:"id"`
		Customer string `json:"customer"`
		Placed   int64  `json:"placed"`
	}
	key, first := azcosmos.NewPartitionKeyString("ada"), time.Date(2026, 3, 4, 5, 6, 7, 891011121, time.UTC).UnixNano()
	for i := range 2 {
		text, err := json.Marshal(purchase{fmt.Sprint(i), "ada", first + int64(i)})
		s.must(err)
		_, err = s.orders.CreateItem(t.Context(), key, text, nil)
		s.must(err)
	}
	operations := azcosmos.PatchOperations{}
	operations.AppendIncrement("/placed", 2)
	_, err := s.orders.PatchItem(t.Context(), key, "1", operations, nil)
	s.must(err)
	read, err := s.orders.ReadItem(t.Context(), key, "1", nil)
	s.must(err)
	var got purchase
	s.must(json.Unmarshal(read.Value, &got))
	if got.Placed != first+3 {
		t.Errorf("%d is read as %d", first+3, got.Placed)
	}
	pages := s.orders.NewQueryItemsPager("SELECT VALUE c.placed FROM c WHERE c.placed > @first", key, &azcosmos.QueryOptions{
		PageSizeHint: 10, QueryParameters: []azcosmos.QueryParameter{{Name: "@first", Value: first}},
	})
	page, err := pages.NextPage(t.Context())
	s.must(err)
	if len(page.Items) != 1 || string(page.Items[0]) != fmt.Sprint(first+3) {
		t.Errorf("the query returns %s", page.Items)
	}
}
