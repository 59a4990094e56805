package command

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/config"
	"cosmosblog/internal/datafolder"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// quiet returns a task that prints to stdout and writes nothing else.
func quiet(stdout io.Writer) Task {
	return Task{
		Environment: Environment{Stdout: stdout, Stderr: io.Discard},
		Config:      config.Config{Database: store.DefaultDatabase},
		Logger:      slog.New(slog.DiscardHandler),
	}
}

// openFolder opens the database of a new data folder until the test ends.
func openFolder(t *testing.T) *datafolder.Database {
	t.Helper()
	task := quiet(io.Discard)
	task.Config.Data = t.TempDir()
	opened, done := make(chan *datafolder.Database), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		done <- lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
			database, err := OpenDatabase(r, task)
			if err != nil {
				t.Error(err)
			}
			opened <- database
			<-ctx.Done()
			return nil
		})
	}()
	database := <-opened
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if database == nil {
		t.FailNow()
	}
	return database
}

// openInMemory opens a store on an engine in memory until the test ends.
func openInMemory(t *testing.T) *store.Store {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := store.OpenEmbedded(t.Context(), engine, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		opened.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

func createUser(t *testing.T, s *store.Store, name string) *blog.User {
	t.Helper()
	user, err := s.CreateUser(t.Context(), blog.Account{Issuer: "test", Subject: name}, name)
	if err != nil {
		t.Fatal(err)
	}
	return user
}
