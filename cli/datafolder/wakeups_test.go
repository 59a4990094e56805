package datafolder

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/schema"
)

// patience is the time in which something must happen that takes milliseconds.
const patience = 30 * time.Second

// openProcess opens a data folder as a process does, and returns a function that ends the process.
func openProcess(t *testing.T, path string) (*Database, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	opened, ended := make(chan *Database, 1), make(chan error, 1)
	go func() {
		ended <- lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
			database, err := Open(r, Options{Data: path, Database: "blog", Logger: slog.New(slog.DiscardHandler)})
			if err == nil {
				opened <- database
				<-r.Context().Done()
			}
			return err
		})
	}()
	stop := func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	select {
	case database := <-opened:
		return database, stop
	case err := <-ended:
		t.Fatal(err)
	}
	return nil, nil
}

// write writes a user.
func write(t *testing.T, database *Database) {
	t.Helper()
	_, err := database.DB.Container(schema.Users).UpsertItem(t.Context(), azcosmos.NewPartitionKeyString("u_1"),
		[]byte(`{"id":"u_1","userId":"u_1","type":"none"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
}

// wakes waits for a wake-up, and drains those that are pending.
func wakes(t *testing.T, what string, written <-chan struct{}) {
	t.Helper()
	select {
	case <-written:
	case <-time.After(patience):
		t.Fatalf("%s: no wake-up", what)
	}
}

// TestWakeups checks that a process beside the owner learns of the writes of all processes, also
// after another one becomes the owner.
func TestWakeups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	owner, stopOwner := openProcess(t, path)
	other, stopOther := openProcess(t, path)
	defer stopOther()
	if !owner.OwnsEngine() || other.OwnsEngine() {
		t.Fatal("the first process is not the owner")
	}
	written, stop := other.Watch(schema.Users)
	defer stop()
	wakes(t, "the beginning of the stream", written)
	for what, process := range map[string]*Database{"a write of the owner": owner, "an own write": other} {
		write(t, process)
		wakes(t, what, written)
	}
	stopOwner()
	next, stopNext := openProcess(t, path)
	defer stopNext()
	if !next.OwnsEngine() {
		t.Fatal("the next process is not the owner")
	}
	wakes(t, "the next owner", written)
	write(t, next)
	wakes(t, "a write of the next owner", written)
	unknown, stop := other.Watch("none")
	defer stop()
	select {
	case <-unknown:
		t.Error("a container that does not exist wakes")
	default:
	}
}
