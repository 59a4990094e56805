package datafolder

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

// copyOf copies a data folder as a whole, as cp -a does.
func copyOf(t *testing.T, path string) (copied string) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(copied, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(copied, keyName), 0o600); err != nil {
		t.Fatal(err)
	}
	return copied
}

// backupOf backs a data folder up.
func backupOf(t *testing.T, path string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "backup")
	if err := BackUp(t.Context(), path, to); err != nil {
		t.Fatal(err)
	}
	return to
}

// historyIn opens a data folder for as long as it takes to read its history. It checks that the
// only lease is valid.
func historyIn(t *testing.T, path string) changefeed.History {
	t.Helper()
	database, stop := openProcess(t, path)
	defer stop()
	return historyOf(t, database)
}

func historyOf(t *testing.T, database *Database) changefeed.History {
	t.Helper()
	listing, err := changefeed.New(database.DB).List(t.Context())
	leases, history := listing.Leases, listing.History
	if err != nil || len(leases) != 1 || leases[0].Continuation != "c" || leases[0].Position != "0:-1#5" {
		t.Errorf("the leases are %+v, %v", leases, err)
	}
	return history
}

// A restored folder begins a history when it is opened, in which its leases are valid. It does so
// once, and a copy of the folder does not.
func TestRestoredFolderBeginsAHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	database, stop := openProcess(t, path)
	lease := changefeed.Lease{ID: "lease.posts.-FF", Container: schema.Posts, Continuation: "c", Position: "0:-1#5"}
	if err := changefeed.New(database.DB).CreateLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	first := historyOf(t, database)
	backup := backupOf(t, path) // by the process that owns the folder
	stop()
	if again := historyIn(t, path); first.Name != "" || again.Name != "" {
		t.Errorf("a folder that was backed up has the histories %+v and %+v", first, again)
	}

	restored := copyOf(t, backup)
	database, stop = openProcess(t, restored)
	second := historyOf(t, database)
	beside, stopBeside := openProcess(t, restored)
	if besideIt := historyOf(t, beside); second.Name == "" || besideIt != second || !second.IsRebuilt || !second.HasWholeFeeds() {
		t.Errorf("the restored folder has the history %+v, and another process sees %+v", second, besideIt)
	}
	stopBeside()
	stop()
	if again := historyIn(t, restored); again != second {
		t.Errorf("after a restart, the history is %+v instead of %+v", again, second)
	}
	if copied := historyIn(t, copyOf(t, restored)); copied != second {
		t.Errorf("a copy has the history %+v instead of %+v", copied, second)
	}
	if other := historyIn(t, copyOf(t, backup)); other.Name == "" || other.Name == second.Name {
		t.Errorf("the same backup, restored once more, has the history %s", other.Name)
	}
	if third := historyIn(t, backupOf(t, restored)); third.Name <= second.Name {
		t.Errorf("a backup of a restored folder has the history %s after %s", third.Name, second.Name)
	}
}

// A source that is only read begins a history too, and so does a database that is opened through a
// process that owns the folder and opens no database.
func TestRestoredFolderOfOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	_, stop := openProcess(t, path)
	stop()
	backup := backupOf(t, path)
	logger := slog.New(slog.DiscardHandler)
	name := func(r *lifecycle.Runner, path string) string {
		database, err := Open(r, Options{Data: path, Database: "blog", ReadOnly: true, Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		history, err := changefeed.New(database.DB).History(r.Context())
		if err != nil {
			t.Fatal(err)
		}
		return history.Name
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		if name(r, copyOf(t, backup)) == "" {
			t.Error("a source that was restored has no history")
		}
		if _, err := OpenEngine(r, backup, EngineOptions{}, logger); err != nil {
			return err
		}
		if name(r, backup) == "" {
			t.Error("a restored folder that an engine owns has no history")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
