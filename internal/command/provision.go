package command

import (
	"context"

	"cosmosblog/store"
)

var provisionText = text{
	short: "Make the database, its containers and its scripts",
	long: `Makes what is missing of the database, its containers, indexes, stored procedures and triggers, changes throughputs to the
numbers asked for, and says what it did. Where something is there and is not as it should be, it says so and changes nothing.
On an endpoint it needs the account's key: Entra ID may not. For accounts without keys, --print bicep writes the same
definitions as a template for Azure Resource Manager. The embedded engine's are made whenever it is opened.
`,
}

func provision(ctx context.Context, task Task) error {
	throughput, err := store.ParseThroughputs(task.Config.Throughput, task.Config.SharedThroughput)
	switch {
	case err != nil:
		return err
	case task.Config.Print != "":
		task.Printf("%s", store.Bicep(task.Config.Database, throughput))
		return nil
	case task.Config.Endpoint == "":
		return provisionFolder(ctx, task)
	}
	options, err := endpointOptions(ctx, task.Config)
	if err != nil {
		return err
	}
	options.Throughput = throughput
	done, err := store.Provision(ctx, options)
	for _, what := range done { // also where it then failed
		task.Printf("%s\n", what)
	}
	if err == nil && len(done) == 0 {
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
