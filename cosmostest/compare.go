package cosmostest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// compare returns an error unless leader and follower hold the same items, with their etags and
// times.
func compare(ctx context.Context, leader, follower *Transport) error {
	want, err := itemsOf(ctx, leader)
	got, err2 := itemsOf(ctx, follower)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	if slices.Equal(got, want) {
		return nil
	}
	extra := func(item string) bool { return slices.Contains(want, item) }
	missing := func(item string) bool { return slices.Contains(got, item) }
	return fmt.Errorf("the follower lacks\n%s\nand has instead\n%s",
		strings.Join(slices.DeleteFunc(slices.Clone(want), missing), "\n"),
		strings.Join(slices.DeleteFunc(slices.Clone(got), extra), "\n"))
}

// itemsOf returns all items of an account, sorted.
func itemsOf(ctx context.Context, account *Transport) (items []string, err error) {
	client := account.Client(nil)
	defer client.Close()
	databases := client.NewQueryDatabasesPager("SELECT * FROM c", nil)
	for databases.More() {
		page, err := databases.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, database := range page.Databases {
			more, err := itemsOfDatabase(ctx, client, database.ID)
			if err != nil {
				return nil, err
			}
			items = append(items, more...)
		}
	}
	slices.Sort(items)
	return items, nil
}

func itemsOfDatabase(ctx context.Context, client *azcosmos.Client, name string) (items []string, err error) {
	database, err := client.NewDatabase(name)
	if err != nil {
		return nil, err
	}
	containers := database.NewQueryContainersPager("SELECT * FROM c", nil)
	for containers.More() {
		page, err := containers.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, properties := range page.Containers {
			container, err := client.NewContainer(name, properties.ID)
			if err != nil {
				return nil, err
			}
			pager := container.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), nil)
			for pager.More() {
				page, err := pager.NextPage(ctx)
				if err != nil {
					return nil, err
				}
				for _, item := range page.Items {
					items = append(items, name+"/"+properties.ID+": "+string(item))
				}
			}
		}
	}
	return items, nil
}
