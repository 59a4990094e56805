package command

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
)

// own takes a folder and lets others use an engine that answers with its name.
func own(t *testing.T, path, name string) (*dataFolder, func()) {
	t.Helper()
	folder, err := ownDataFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	return folder, share(t, folder, name)
}

func share(t *testing.T, folder *dataFolder, name string) func() {
	t.Helper()
	if err := folder.announce("key of " + name); err != nil {
		t.Fatal(err)
	}
	engine := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, name) })
	_, stop, err := folder.serveSocket(context.Background(), engine, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		if err := errors.Join(stop(), folder.release()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return end
}

// ask sends a request to the owner of a folder and gives the answer.
func ask(t *testing.T, v *visit) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, socketEndpoint+"/dbs", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := v.transport.Do(request)
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

func visitTo(t *testing.T, path string) *visit {
	t.Helper()
	folder, v, err := findDataFolder(t.Context(), path)
	if err != nil || folder != nil {
		t.Fatalf("the folder is not visited but owned: %v", err)
	}
	t.Cleanup(v.transport.close)
	return v
}

func TestDataFolderIsMadeForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "data")
	folder, _ := own(t, path, "a")
	for name, want := range map[string]fs.FileMode{".": 0o700, ownerName: 0o600, socketName: 0o600, lockName: 0o600} {
		info, err := os.Stat(folder.file(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %04o, want %04o", name, got, want)
		}
	}
}

func TestDataFolderMayHoldOtherFiles(t *testing.T) {
	path := t.TempDir()
	note := filepath.Join(path, "note.txt")
	if err := os.WriteFile(note, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, end := own(t, path, "a")
	end()
	if text, err := os.ReadFile(note); err != nil || string(text) != "mine" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestOwnedFolderIsVisited(t *testing.T) {
	path := t.TempDir()
	own(t, path, "a")
	v := visitTo(t, path)
	if v.owner != (owner{os.Getpid(), "key of a"}) {
		t.Errorf("the owner is %+v", v.owner)
	}
	if got := ask(t, v); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestSocketInALongFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	own(t, path, "a")
	v := visitTo(t, path)
	if got := ask(t, v); got != "a" {
		t.Errorf("got %q", got)
	}
}

// TestVisitSurvivesTheOwner holds that a visitor can go on when the owner ended and another came.
func TestVisitSurvivesTheOwner(t *testing.T) {
	path := t.TempDir()
	_, end := own(t, path, "a")
	v := visitTo(t, path)
	ask(t, v)
	end()
	request, _ := http.NewRequest(http.MethodGet, socketEndpoint, nil)
	_, err := v.transport.Do(request)
	var once interface{ NonRetriable() }
	if !errors.As(err, &once) {
		t.Errorf("azcore would send a request again that may have been carried out: %v", err)
	}
	own(t, path, "b")
	if got := ask(t, v); got != "b" {
		t.Errorf("got %q", got)
	}
}

// TestOwnerThatDied leaves behind what a killed process does: socket and note, but no lock.
func TestOwnerThatDied(t *testing.T) {
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
	own(t, path, "b")
	v := visitTo(t, path)
	if got := ask(t, v); got != "b" || v.owner.Key != "key of b" {
		t.Errorf("got %q from %+v", got, v.owner)
	}
}

// TestVisitorWaits holds that who comes while an owner starts waits for it, and who comes while it ends becomes owner.
func TestVisitorWaits(t *testing.T) {
	path := t.TempDir()
	starting, err := ownDataFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := findDataFolder(canceled(), path); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v", err)
	}
	visited := make(chan *visit)
	go func() {
		_, v, err := findDataFolder(t.Context(), path)
		if err != nil {
			t.Error(err)
		}
		visited <- v
	}()
	end := share(t, starting, "a")
	v := <-visited
	defer v.transport.close()
	if got := ask(t, v); got != "a" {
		t.Errorf("got %q", got)
	}
	end()
	folder, v, err := findDataFolder(t.Context(), path)
	if err != nil || v != nil {
		t.Fatalf("got %v, %v", v, err)
	}
	if err := folder.release(); err != nil {
		t.Error(err)
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestOneOwnerAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	var owners, visitors atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			folder, v, err := findDataFolder(t.Context(), path)
			switch {
			case err != nil:
				t.Error(err)
			case v != nil:
				visitors.Add(1)
				v.transport.close()
			default:
				owners.Add(1)
				share(t, folder, "a")
			}
		})
	}
	all.Wait()
	if owners.Load() != 1 || visitors.Load() != 15 {
		t.Errorf("%d owners and %d visitors", owners.Load(), visitors.Load())
	}
}

func TestDataFolderThatIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ownDataFolder(path)
	if err == nil || err.Error() != "the data folder "+path+" cannot be used: not a directory" {
		t.Errorf("got %v", err)
	}
}

func TestDataFolderWithoutRights(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root has all rights")
	}
	path := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(path, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := ownDataFolder(path)
	if err == nil || err.Error() != "the data folder "+path+" cannot be used: permission denied" {
		t.Errorf("got %v", err)
	}
}
