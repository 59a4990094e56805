package resolvers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
	"cosmosblog/store/cosmos"
)

// itemsOf returns all items of all containers of an engine, sorted, each as "container: JSON". It
// omits _ts. Every write to the engine changes the result.
func itemsOf(t *testing.T, engine *cosmostest.Account) []string {
	t.Helper()
	ctx := t.Context()
	client := engine.Client(nil)
	database, err := client.NewDatabase(cosmos.DefaultDatabase)
	if err != nil {
		t.Fatal(err)
	}
	var items []string
	containers := database.NewQueryContainersPager("SELECT * FROM c", nil)
	for containers.More() {
		page, err := containers.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, properties := range page.Containers {
			container, err := client.NewContainer(cosmos.DefaultDatabase, properties.ID)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, itemsOfContainer(ctx, t, container)...)
		}
	}
	slices.Sort(items)
	return items
}

func itemsOfContainer(ctx context.Context, t *testing.T, container *azcosmos.ContainerClient) (items []string) {
	t.Helper()
	pager := container.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range page.Items {
			var item map[string]any
			if err := json.Unmarshal(text, &item); err != nil {
				t.Fatal(err)
			}
			delete(item, "_ts")
			text, err = json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, fmt.Sprint(container.ID(), ": ", string(text)))
		}
	}
	return items
}
