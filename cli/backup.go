package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"cosmosblog/cli/datafolder"
)

var backupText = text{
	short: "Backs up a data folder, also while a server uses it",
	long: `Writes a consistent snapshot of a data folder to a new folder DIR. serve --data DIR serves the
backup. On the same file system a backup is quick and takes little space at first, because files
that no longer change are linked.

`,
}

// withFolderArgument adds the argument DIR to a command.
func withFolderArgument(command *cobra.Command) *cobra.Command {
	command.Use += " DIR"
	command.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return errors.New("name one new folder: backup DIR")
		}
		return nil
	}
	return command
}

func runBackup(ctx context.Context, task Task) error {
	to, err := filepath.Abs(task.Args[0])
	if err != nil {
		return err
	}
	if err := datafolder.BackUp(ctx, task.Config.Data, to); err != nil {
		return err
	}
	task.Printf("the backup is in %s\n", to)
	return nil
}
