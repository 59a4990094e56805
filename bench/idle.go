package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"cosmosblog/proof/docsection"
)

// idleCommand is the command that measures what a server is charged while nobody uses it.
const idleCommand = "idle"

// idle runs the test that measures an idle server in half an hour of its own time, and prints the
// section of docs/azure.md that the test has compared with its figures. It needs the repository.
func idle(ctx context.Context, output, progress io.Writer) error {
	test := exec.CommandContext(ctx, "go", "test", "-count=1", "-run", "^TestIdle$", "cosmosblog/cli")
	test.Stdout, test.Stderr = progress, progress
	if err := test.Run(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	section, err := docsection.Read(filepath.Join(strings.TrimSpace(string(module)), "docs", "azure.md"), idleCommand)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(output, section)
	return err
}
