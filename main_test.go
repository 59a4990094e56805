package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// update makes the tests that compare the README's tables with the truth write them instead.
var update = flag.Bool("update", false, "write the README's tables anew")

// patience is how long a test waits for what should come at once.
const patience = 60 * time.Second

// program is the binary under test, built at the first use.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programFolder, "cosmosblog")
	output, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, output)
	}
	return path, nil
})

var programFolder string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	var err error
	if programFolder, err = os.MkdirTemp("", "cosmosblog-test-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(programFolder)
	return m.Run()
}

// patient gives a context for what should not take long.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
