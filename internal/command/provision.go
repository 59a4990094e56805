package command

import (
	"context"

	"cosmosblog/store"
)

var provisionText = text{
	short: "Make the database, its containers and its scripts",
	long: `Makes what is missing of the database, its containers, indexes, stored procedures and triggers, and says what it made. What
is there stays as it is. On an endpoint it needs the account's key: Entra ID may not. The embedded engine's are made whenever
it is opened.
`,
}

func provision(ctx context.Context, task Task) error {
	if task.Config.Endpoint == "" {
		return provisionFolder(ctx, task)
	}
	options, err := endpointOptions(ctx, task.Config)
	if err != nil {
		return err
	}
	made, err := store.Provision(ctx, options)
	for _, what := range made { // also where it then failed
		task.Printf("made the %s\n", what)
	}
	if err == nil && len(made) == 0 {
		task.Printf("everything is there\n")
	}
	return endpointError(task.Config, err)
}

func provisionFolder(ctx context.Context, task Task) error {
	database, _, err := OpenDatabase(ctx, task)
	if err != nil {
		return err
	}
	task.Printf("everything is there, in %s\n", database.Place)
	return database.Close()
}
