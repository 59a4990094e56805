package cli

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cli/config"
	"cosmosblog/cli/datafolder"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// quiet returns a task that prints to stdout and writes nothing else.
func quiet(stdout io.Writer) Task {
	return Task{
		Environment: Environment{Stdout: stdout, Stderr: io.Discard},
		Config:      config.Config{Database: cosmos.DefaultDatabase},
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

// openInMemory opens the database of an engine in memory until the test ends.
func openInMemory(t *testing.T) *storetest.Database {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{})
	db, err := provision.OpenEmbedded(t.Context(), engine, cosmos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return storetest.Open(db)
}

func createUser(t *testing.T, s *storetest.Database, name string) *blog.User {
	t.Helper()
	user, err := s.CreateUser(t.Context(), blog.Account{Issuer: "test", Subject: name}, name)
	if err != nil {
		t.Fatal(err)
	}
	return user
}
