package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"cosmosblog/internal/config"
	"cosmosblog/internal/telemetry"
)

// Environment is what a command has of the world around the process.
type Environment struct {
	Stdout, Stderr io.Writer
	LookupEnv      func(name string) (string, bool)
}

// Task is one run of a command: its settings, checked, and where it may speak. Results go to Stdout, the log and
// everything else to Stderr.
type Task struct {
	Environment
	Config config.Config
	Args   []string // what stands on the command line beside flags
	Logger *slog.Logger
	// Traffic tells of the requests that the task answers and sends; nil where nobody can ask it.
	Traffic *telemetry.Traffic
}

// Body does what a command is for. It ends soon after ctx does, having given everything back; that is no error. Other
// errors are sentences for whoever gave the command.
type Body func(ctx context.Context, task Task) error

// New gives the command line. serve is handed in, because what it wires together stands above this package; it is also
// what runs where no command is named.
func New(environment Environment, serve Body) *cobra.Command {
	root := build(environment, config.Serve, serveText, serve)
	root.Use = "cosmosblog"
	root.Long = rootText + "\n" + root.Long
	root.Version = versionText(version, buildInfo())
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		build(environment, config.Serve, serveText, serve),
		build(environment, config.Projector, projectorText, runProjector),
		build(environment, config.Provision, provisionText, provision),
		build(environment, config.Engine, engineText, serveEngine),
		build(environment, config.Token, tokenText, token),
		build(environment, config.Seed, seedText, runSeed),
		build(environment, config.Copy, copyText, runCopy),
		build(environment, config.Audit, auditText, runAudit),
		build(environment, config.Rebuild, rebuildText, runRebuild),
		build(environment, config.Deadletters, deadlettersText, runDeadletters),
		takingFolder(build(environment, config.Backup, backupText, backup)),
		build(environment, config.Check, checkText, check),
		takingTarget(build(environment, config.Remove, removeText, runRemove)),
	)
	root.SetOut(environment.Stdout)
	root.SetErr(environment.Stderr)
	return root
}

const rootText = "cosmosblog is a GraphQL API for a blogging platform on Azure Cosmos DB. Without a command it serves.\n"

// text describes a command in the help.
type text struct{ short, long string }

func build(environment Environment, name string, about text, body Body) *cobra.Command {
	c := config.Default(name)
	command := &cobra.Command{
		Use:           name,
		Short:         about.short,
		Long:          about.long + environmentHelp(name),
		Args:          cobra.NoArgs,
		SilenceErrors: true, // main prints them, once
		SilenceUsage:  true,
	}
	addFlags(command, name, &c)
	command.RunE = func(command *cobra.Command, args []string) error {
		isGiven := func(flag string) bool { return command.Flags().Changed(flag) }
		if err := config.FromEnvironment(&c, name, environment.LookupEnv, isGiven); err != nil {
			return err
		}
		if err := c.Check(name); err != nil {
			return err
		}
		logger := telemetry.NewLogger(environment.Stderr, c.LogsForPeople(), c.Level())
		return soleCause(body(command.Context(), Task{Environment: environment, Config: c, Args: args, Logger: logger}))
	}
	return command
}

// soleCause leaves out what else went wrong because a data folder is damaged.
func soleCause(err error) error {
	if damage, ok := errors.AsType[*damageError](err); ok {
		return damage
	}
	return err
}

// Printf writes to the standard output.
func (t Task) Printf(format string, args ...any) { fmt.Fprintf(t.Stdout, format, args...) }
