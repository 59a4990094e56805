package files_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cosmosblog/internal/files"
)

func random() ([]byte, error) {
	secret := make([]byte, 32)
	_, err := rand.Read(secret)
	return secret, err
}

func TestLoadSecretCreatesASecretOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "key")
	first, err := files.LoadSecret(path, random)
	if err != nil {
		t.Fatal(err)
	}
	again, err := files.LoadSecret(path, func() ([]byte, error) { t.Error("created a second secret"); return nil, nil })
	if err != nil || !bytes.Equal(first, again) {
		t.Fatalf("got %x, %v; want %x", again, err, first)
	}
	assertMode(t, path, 0o600)
	assertMode(t, filepath.Dir(path), 0o700)
	assertNoTemporaryFiles(t, path)
}

func TestLoadSecretConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	const starters = 32
	secrets := make([][]byte, starters)
	var ready, done sync.WaitGroup
	ready.Add(starters)
	for i := range starters {
		done.Go(func() {
			secret, err := files.LoadSecret(path, func() ([]byte, error) {
				ready.Done()
				ready.Wait() // all calls find no file before one creates it
				return random()
			})
			if err != nil {
				t.Error(err)
			}
			secrets[i] = secret
		})
	}
	done.Wait()
	for _, secret := range secrets {
		if !bytes.Equal(secret, secrets[0]) || len(secret) != 32 {
			t.Fatalf("two secrets: %x and %x", secrets[0], secret)
		}
	}
	assertNoTemporaryFiles(t, path)
}

func TestLoadSecretRejectsReadableFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := files.LoadSecret(path, random); err == nil || !strings.Contains(err.Error(), "other users can read") {
			t.Errorf("mode %04o: got %v", mode, err)
		}
	}
}

// A key that another user has put there is no secret.
func TestLoadSecretRejectsFilesOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user, and read it then")
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 4321, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := files.LoadSecret(path, random); err == nil || !strings.Contains(err.Error(), "belongs to the user 4321") {
		t.Errorf("got %v", err)
	}
}

func TestLoadSecretRejectsAFolder(t *testing.T) {
	path := t.TempDir()
	if _, err := files.LoadSecret(path, random); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("got %v", err)
	}
}

func assertMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %04o, want %04o", path, got, want)
	}
}

// assertNoTemporaryFiles requires that the secret is the only file in its folder.
func assertNoTemporaryFiles(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}
