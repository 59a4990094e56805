package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"cosmosblog/cli/config"
	"cosmosblog/cli/datafolder"
	"cosmosblog/cli/monitor"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/internal/telemetry"
	"cosmosblog/store/cosmos"
)

// Environment is the part of the process's environment that commands use.
type Environment struct {
	Stdout, Stderr io.Writer
	LookupEnv      func(name string) (string, bool)
}

// Task is one run of a command. It writes results to Stdout, and the log and everything else to
// Stderr.
type Task struct {
	Environment
	Config config.Config // checked
	Args   []string      // of the command line, without flags
	Logger *slog.Logger
	// Traffic counts the requests that the task receives and sends; nil if the task publishes no
	// metrics.
	Traffic *telemetry.Traffic
}

// Body runs a command. When ctx ends, it closes everything and returns soon; the end of ctx is
// not an error. Errors are sentences for the person who runs the command.
type Body func(ctx context.Context, task Task) error

// New returns the command line. It runs serve if no command is named. The caller provides serve,
// because it uses packages that this one does not import.
func New(environment Environment, serve Body) *cobra.Command {
	root := build(environment, config.Serve, serveText, serve)
	root.Use = "cosmosblog"
	root.Long = rootText + "\n" + root.Long
	root.Version = versionText(version, buildInfo())
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		build(environment, config.Serve, serveText, serve),
		build(environment, config.Projector, projectorText, runProjector),
		build(environment, config.Provision, provisionText, runProvision),
		build(environment, config.Engine, engineText, runEngine),
		build(environment, config.Token, tokenText, runToken),
		build(environment, config.Seed, seedText, inBackground(runSeed)),
		build(environment, config.Copy, copyText, inBackground(runCopy)),
		build(environment, config.Export, exportText, inBackground(runExport)),
		build(environment, config.Audit, auditText, inBackground(runAudit)),
		build(environment, config.Rebuild, rebuildText, inBackground(runRebuild)),
		build(environment, config.Deadletters, deadlettersText, runDeadletters),
		build(environment, config.Restored, restoredText, runRestored),
		build(environment, config.Top, topText, runTop),
		withFolderArgument(build(environment, config.Backup, backupText, runBackup)),
		build(environment, config.Check, checkText, runCheck),
		withTargetArguments(build(environment, config.Remove, removeText, runRemove)),
		build(environment, config.Schema, schemaText, runSchema),
	)
	root.SetOut(environment.Stdout)
	root.SetErr(environment.Stderr)
	return root
}

const rootText = "cosmosblog is a GraphQL API for a blogging platform on Azure Cosmos DB. " +
	"Without a command it runs serve.\n"

// text describes a command in the help.
type text struct{ short, long string }

func build(environment Environment, name string, about text, body Body) *cobra.Command {
	c := config.Default(name)
	command := &cobra.Command{
		Use:           name,
		Short:         about.short,
		Long:          about.long + environmentHelp(name),
		Args:          cobra.NoArgs,
		SilenceErrors: true, // main prints them
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
		task := Task{Environment: environment, Config: c, Args: args, Logger: logger}
		return mainCause(body(command.Context(), task))
	}
	return command
}

// inBackground returns a body whose requests to the database are background work.
func inBackground(body Body) Body {
	return func(ctx context.Context, task Task) error { return body(cosmos.InBackground(ctx), task) }
}

// mainCause returns a *DamageError alone if err contains one, because the other errors follow
// from the damage.
func mainCause(err error) error {
	if damage, ok := errors.AsType[*datafolder.DamageError](err); ok {
		return damage
	}
	return err
}

// Printf writes to the standard output.
func (t Task) Printf(format string, args ...any) { fmt.Fprintf(t.Stdout, format, args...) }

// note writes a line to the standard error.
func (t Task) note(format string, args ...any) { fmt.Fprintf(t.Stderr, format+"\n", args...) }

// database returns the options of the database that the settings name.
func (t Task) database() datafolder.Options {
	return datafolder.Options{
		Endpoint:         t.Config.Endpoint,
		Key:              t.Config.Key,
		KeyFile:          t.Config.KeyFile,
		KeyName:          t.Config.KeyName,
		Data:             t.Config.Data,
		Database:         t.Config.Database,
		BackgroundBucket: t.Config.BackgroundBucket,
		Recorder:         monitor.Recorder(t.Traffic),
		Logger:           t.Logger,
	}
}

// OpenDatabase opens the database of the task until r closes. It creates a data folder
// if there is none.
func OpenDatabase(r *lifecycle.Runner, task Task) (*datafolder.Database, error) {
	return datafolder.Open(r, task.database())
}

// withExisting opens the database of the task, calls use, and closes the database. It does not
// create a data folder.
func withExisting(
	ctx context.Context, task Task, use func(r *lifecycle.Runner, database *datafolder.Database) error,
) error {
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		database, err := datafolder.OpenExisting(r, task.database())
		if err != nil {
			return err
		}
		return use(r, database)
	})
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimRight(line, ". ")
}
