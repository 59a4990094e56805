// Command cosmosblog is a GraphQL API for a blogging platform on Azure Cosmos DB. This file wires the server together;
// the command line is in internal/command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"cosmosblog/internal/command"
	"cosmosblog/internal/httpapi"
	"cosmosblog/resolvers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	environment := command.Environment{Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv}
	if err := run(ctx, os.Args[1:], environment); err != nil {
		fmt.Fprintln(os.Stderr, "cosmosblog:", err)
		os.Exit(1)
	}
}

// run does what the arguments ask for, until it is done or ctx ends. Errors are sentences for whoever typed them.
func run(ctx context.Context, args []string, environment command.Environment) error {
	root := command.New(environment, serve)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // told to end while it was starting
	}
	return err
}

// serve opens what the API stands on, from the bottom up, answers requests until ctx ends or one of the things below
// fails, and closes them from the top down.
func serve(ctx context.Context, task command.Task) (err error) {
	task, stopTelemetry, err := command.StartTelemetry(ctx, task)
	if err != nil {
		return err
	}
	defer stopTelemetry()
	listener, err := command.Listen(task.Config.Addr, task.Config.Limits)
	if err != nil {
		return err
	}
	defer listener.Close()
	verifier, ctx, stopVerifier, err := command.StartVerifier(ctx, task)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopVerifier()) }()
	database, ctx, err := command.OpenDatabase(ctx, task)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	p, ctx, stopProjector, err := command.StartProjector(ctx, task, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopProjector()) }()
	observer := command.ObserveServer(ctx, task, database, p)
	ctx, stopObserver, err := command.StartObserver(ctx, task, observer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopObserver()) }()
	development := task.Config.Development()
	api := httpapi.New(httpapi.Options{
		Resolvers:   resolvers.New(database.Store),
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{Diagnostics: development, Limits: task.Config.Limits}),
		Errors:      resolvers.NewErrorPresenter(task.Logger),
		Verifier:    verifier,
		Development: development,
		Limits:      task.Config.Limits,
		Origins:     task.Config.Origins(),
		Proxies:     task.Config.Proxies(),
		Logger:      task.Logger,
		Traffic:     task.Traffic,
		Ready:       observer.Checks,
		Metrics:     observer.MetricsHandler(),
	})
	command.AnnounceServer(task, listener.Addr(), database)
	return command.ServeHTTP(ctx, listener, api, task.Config.Limits, task.Logger)
}
