package cli

import (
	"context"

	"cosmosblog/cli/config"
	"cosmosblog/cli/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/provision"
)

var provisionText = text{
	short: "Creates the database, its containers and its scripts",
	long: `Creates the database, its containers, indexes, stored procedures and triggers if they are
missing. Changes throughputs to the given ones, and prints each change. If an existing resource
differs from its definition, it prints the difference and changes nothing. Deletes former versions
of scripts, after which two others were registered more than 30 days ago.

On an account it needs the key, because Entra ID tokens cannot write definitions. For accounts
without keys, --print bicep prints the same definitions as a template for Azure Resource Manager,
and --scripts recreate prints the commands and the template that create the scripts again.
The embedded engine is provisioned whenever it is opened.
`,
}

func runProvision(ctx context.Context, task Task) error {
	throughput, err := provision.ParseThroughputs(task.Config.Throughput)
	switch {
	case err != nil:
		return err
	case task.Config.Print != "":
		task.Printf("%s", provision.Bicep(task.Config.Database, throughput))
		return nil
	case task.Config.Endpoint == "":
		return provisionFolder(ctx, task)
	case task.Config.Scripts == config.RecreateScripts && task.Config.Key == "" && task.Config.KeyFile == "":
		task.Printf("%s", provision.ScriptsBicep(task.Config.Database))
		return nil
	}
	done, err := datafolder.ProvisionAccount(ctx, task.database(), provision.Options{
		Throughputs:     throughput,
		RecreateScripts: task.Config.Scripts == config.RecreateScripts,
		KeepScripts:     task.Config.Scripts == config.KeepScripts,
	})
	task.printProvisioned(done, err)
	return err
}

// printProvisioned prints what provision.Run returned.
func (task Task) printProvisioned(done []string, err error) {
	for _, line := range done { // even if a later step failed
		task.Printf("%s\n", line)
	}
	if err == nil && len(done) == 0 {
		task.Printf("everything exists\n")
	}
}

func provisionFolder(ctx context.Context, task Task) error {
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		database, err := OpenDatabase(r, task)
		switch {
		case err != nil:
			return err
		case task.Config.Scripts == config.RecreateScripts:
			done, err := provision.Run(ctx, database.DB, provision.Options{RecreateScripts: true})
			task.printProvisioned(done, err)
			return err
		}
		task.Printf("everything exists, in %s\n", database.Place)
		return nil
	})
}
