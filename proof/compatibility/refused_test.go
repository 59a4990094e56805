//go:build ci

package compatibility

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// TestRefusedFunctions calls the functions of the service that the engine does not have.
func TestRefusedFunctions(t *testing.T) {
	items := cosmostest.New(t, cosmostest.Options{}).Container("d", "c", "/pk")
	names := named(t, "functions")
	if len(names) == 0 {
		t.Error("no function is refused")
	}
	for name := range names {
		query := items.NewQueryItemsPager("SELECT VALUE "+name+"(c.a, c.b) FROM c", azcosmos.NewPartitionKeyString("p"), nil)
		_, err := query.NextPage(t.Context())
		refusal, _ := errors.AsType[*azcore.ResponseError](err)
		if refusal == nil || refusal.StatusCode != http.StatusBadRequest || !strings.Contains(err.Error(), "The function "+name+" is not supported") {
			t.Errorf("%s: %v, want 400, because it is not supported", name, err)
		}
	}
}
