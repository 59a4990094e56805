// Command cosmosblog is a GraphQL API for a blogging platform on Azure Cosmos DB. This file wires
// the server together; the command line is in package cli.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"cosmosblog/api"
	"cosmosblog/cli"
	"cosmosblog/guard/httpserver"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/resolvers"
)

func main() {
	lifecycle.TuneCollector(os.LookupEnv)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	environment := cli.Environment{Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv}
	if err := run(ctx, os.Args[1:], environment); err != nil {
		fmt.Fprintln(os.Stderr, "cosmosblog:", err)
		os.Exit(1)
	}
}

// run runs the command that the arguments name, until it is done or ctx ends. Errors are
// sentences for the user.
func run(ctx context.Context, args []string, environment cli.Environment) error {
	root := cli.New(environment, serve)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // a signal arrived during the start
	}
	return err
}

// serve starts the parts of the server in the order of their dependencies, and answers requests
// until ctx ends or a part fails. Then it closes the parts in reverse order.
func serve(ctx context.Context, task cli.Task) error {
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		task, err := cli.StartTelemetry(r, task)
		if err != nil {
			return err
		}
		config := task.Config
		config.Limits = config.Limits.Within(lifecycle.MemoryLimit())
		documents, err := cli.LoadDocuments(task, config.Limits)
		if err != nil {
			return err
		}
		listener, err := httpserver.Listen(r, "--addr", config.Addr, config.Limits, config.Proxies()...)
		if err != nil {
			return err
		}
		verifier, err := cli.StartVerifier(r, task)
		if err != nil {
			return err
		}
		database, err := cli.OpenDatabase(r, task)
		if err != nil {
			return err
		}
		projector, err := cli.StartProjector(r, task, database)
		if err != nil {
			return err
		}
		reads := cli.StartReads(r, task, database)
		books := cli.NewBooks(task)
		observer, err := cli.StartObserver(r, task, database, reads, books, projector)
		if err != nil {
			return err
		}
		handler := api.New(api.Options{
			Resolvers: resolvers.New(reads.Store(database)),
			Scope: resolvers.NewScopeExtension(resolvers.ScopeOptions{
				Diagnostics: config.Development(),
				Limits:      config.Limits,
			}),
			Errors:        resolvers.NewErrorPresenter(task.Logger),
			Verifier:      verifier,
			Books:         books,
			Sessions:      reads.Sessions,
			Development:   config.Development(),
			PublishSchema: config.PublishSchema,
			Documents:     documents,
			Limits:        config.Limits,
			Origins:       config.Origins(),
			Proxies:       config.Proxies(),
			PublicMaxAge:  config.PublicMaxAge,
			PagesOrigin:   config.Pages,
			PagesIssuer:   cli.PagesIssuer(config),
			Logger:        task.Logger,
			Traffic:       task.Traffic,
			Ready:         observer.Checks,
			Metrics:       observer.MetricsHandler(),
			Top:           observer.TopHandler(),
		})
		cli.Announce(task, listener.Addr(), database)
		server := httpserver.Server{
			Handler:  handler,
			Overflow: api.Overflow(handler),
			Limits:   config.Limits,
			Logger:   task.Logger,
		}
		return server.Serve(r.Context(), listener)
	})
}
