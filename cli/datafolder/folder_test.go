package datafolder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/lifecycle"
)

// serveFolder owns a folder and serves an engine that answers with its name, until stop is called
// or the test ends.
func serveFolder(t *testing.T, path, name string) (f *folder, stop func()) {
	t.Helper()
	f, err := own(path)
	if err != nil {
		t.Fatal(err)
	}
	return f, share(t, f, name)
}

// share serves an engine that answers with its name, and releases the folder at the end.
func share(t *testing.T, f *folder, name string) (stop func()) {
	t.Helper()
	serving, stopped := make(chan error, 1), make(chan error)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		stopped <- lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
			r.OnClose(f.release)
			engine := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, name) })
			err := f.writeOwner("key of "+name, "")
			if err == nil {
				err = f.serveSocket(r, httpserver.Server{
					Handler:   engine,
					Limits:    limits.Default(),
					Logger:    slog.New(slog.DiscardHandler),
					DrainTime: 100 * time.Millisecond, // clients keep their connections open
				})
			}
			serving <- err
			<-ctx.Done()
			return nil
		})
	}()
	if err := <-serving; err != nil {
		t.Error(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// ask sends a request to the owner of a folder and returns the answer.
func ask(t *testing.T, c *ownerClient) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, ownerEndpoint+"/dbs", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.transport.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// connectTo connects to the owner of a folder.
func connectTo(t *testing.T, path string) *ownerClient {
	t.Helper()
	f, c, err := find(t.Context(), path)
	if err != nil || f != nil {
		t.Fatalf("there is no owner: %v", err)
	}
	t.Cleanup(c.transport.close)
	return c
}

func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "data")
	f, _ := serveFolder(t, path, "a")
	for name, want := range map[string]fs.FileMode{".": 0o700, ownerName: 0o600, socketName: 0o600, lockName: 0o600} {
		info, err := os.Stat(f.file(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %04o, want %04o", name, got, want)
		}
	}
}

func TestOtherFilesStay(t *testing.T) {
	path := t.TempDir()
	note := filepath.Join(path, "note.txt")
	if err := os.WriteFile(note, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stop := serveFolder(t, path, "a")
	stop()
	if text, err := os.ReadFile(note); err != nil || string(text) != "mine" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestOwnedFoldersAreReachedThroughTheOwner(t *testing.T) {
	path := t.TempDir()
	serveFolder(t, path, "a")
	c := connectTo(t, path)
	if c.owner != (owner{os.Getpid(), "key of a", ""}) {
		t.Errorf("the owner is %+v", c.owner)
	}
	if got := ask(t, c); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestSocketInAFolderWithALongPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	serveFolder(t, path, "a")
	c := connectTo(t, path)
	if got := ask(t, c); got != "a" {
		t.Errorf("got %q", got)
	}
}

// A client continues with the next owner.
func TestClientsOutliveTheOwner(t *testing.T) {
	path := t.TempDir()
	_, stop := serveFolder(t, path, "a")
	c := connectTo(t, path)
	ask(t, c)
	stop()
	request, _ := http.NewRequest(http.MethodGet, ownerEndpoint, nil)
	_, err := c.transport.Do(request)
	var once interface{ NonRetriable() }
	if !errors.As(err, &once) {
		t.Errorf("azcore would retry a request that may have been executed: %v", err)
	}
	serveFolder(t, path, "b")
	if got := ask(t, c); got != "b" {
		t.Errorf("got %q", got)
	}
}

// A killed process leaves its socket and its name, but no lock.
func TestFilesOfADeadOwner(t *testing.T) {
	path := t.TempDir()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(path, socketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	if err := os.WriteFile(filepath.Join(path, ownerName), []byte(`{"pid":1,"key":"old"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	serveFolder(t, path, "b")
	c := connectTo(t, path)
	if got := ask(t, c); got != "b" || c.owner.Key != "key of b" {
		t.Errorf("got %q from %+v", got, c.owner)
	}
}

// A process waits for an owner that is starting, and becomes the owner after it has stopped.
func TestFindWaitsForTheOwner(t *testing.T) {
	path := t.TempDir()
	starting, err := own(path)
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := find(canceled, path); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v", err)
	}
	connected := make(chan *ownerClient)
	go func() {
		_, c, err := find(t.Context(), path)
		if err != nil {
			t.Error(err)
		}
		connected <- c
	}()
	stop := share(t, starting, "a")
	c := <-connected
	defer c.transport.close()
	if got := ask(t, c); got != "a" {
		t.Errorf("got %q", got)
	}
	stop()
	f, c, err := find(t.Context(), path)
	if err != nil || c != nil {
		t.Fatalf("got %v, %v", c, err)
	}
	if err := f.release(); err != nil {
		t.Error(err)
	}
}

func TestOneOwnerAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	var owners, clients atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			f, c, err := find(t.Context(), path)
			switch {
			case err != nil:
				t.Error(err)
			case c != nil:
				clients.Add(1)
				c.transport.close()
			default:
				owners.Add(1)
				share(t, f, "a")
			}
		})
	}
	all.Wait()
	if owners.Load() != 1 || clients.Load() != 15 {
		t.Errorf("%d owners and %d clients", owners.Load(), clients.Load())
	}
}

func TestFileInPlaceOfAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := own(path)
	if err == nil || err.Error() != "the data folder "+path+" cannot be used: not a directory" {
		t.Errorf("got %v", err)
	}
}

// Who can write in a data folder can replace its keys and data.
func TestFolderOfOthers(t *testing.T) {
	path := t.TempDir()
	refused := func(want string) {
		t.Helper()
		folder, err := own(path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if folder != nil {
			folder.release()
		}
	}
	if err := os.Chmod(path, 0o703); err != nil {
		t.Fatal(err)
	}
	refused("other users can write in " + path)
	if err := os.Chmod(path, 0o770); err != nil {
		t.Fatal(err)
	}
	folder, err := own(path)
	if err != nil {
		t.Fatal(err)
	}
	folder.release()
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(path, 4321, -1); err != nil {
		t.Fatal(err)
	}
	refused("belongs to the user 4321")
}

func TestFolderWithoutPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root has all permissions")
	}
	path := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(path, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := own(path)
	if err == nil || err.Error() != "the data folder "+path+" cannot be used: permission denied" {
		t.Errorf("got %v", err)
	}
}
