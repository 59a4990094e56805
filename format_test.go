//go:build ci

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cli/config"
	"cosmosblog/engine"
	"cosmosblog/internal/inprocess"
	"cosmosblog/store/schema"
)

const (
	otherFormat   = schema.Format - 1
	copiedNothing = "copied 0 users, 0 posts, 0 comments and 0 likes"
)

var anotherFormat = fmt.Sprintf("the database cosmosblog has the format %d, and this program needs the format %d: "+
	"use a program of the format %[1]d", otherFormat, schema.Format)

// changeEngine opens the engine of a data folder, and calls change with its container leases.
func changeEngine(t *testing.T, data string, change func(leases *azcosmos.ContainerClient) error) {
	t.Helper()
	engine, err := engine.Open(engine.Options{Dir: filepath.Join(data, "engine")})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	client := newClient(t, inprocess.NewEndpoint(), engine.Key(), engine)
	if err := change(containerOf(t, client, "leases")); err != nil {
		t.Fatal(err)
	}
}

// ofAnotherFormat returns a data folder whose database stores the number of an older format.
func ofAnotherFormat(t *testing.T) (data string) {
	t.Helper()
	data = seeded(t, oneUser)
	changeEngine(t, data, func(leases *azcosmos.ContainerClient) error {
		var changes azcosmos.PatchOperations
		changes.AppendSet("/number", otherFormat)
		_, err := leases.PatchItem(t.Context(), azcosmos.NewPartitionKeyString("format"), "format", changes, nil)
		return err
	})
	return data
}

// formatCommands returns commands that open the database of a data folder or, with an endpoint in
// their environment, that of the endpoint.
func formatCommands(data string) map[string][]string {
	return map[string][]string{
		"serve":       {"serve", "--addr", "127.0.0.1:0", "--data", data},
		"audit":       {"audit", "--data", data},
		"seed":        oneUser.args(data),
		"projector":   {"projector", "--data", data},
		"provision":   {"provision", "--data", data},
		"rebuild":     {"rebuild", "--data", data},
		"deadletters": {"deadletters", "--data", data},
		"restored":    {"restored", "--data", data},
		"remove":      {"remove", "post", "p_4a2r6n4xiz7h5tuiecb4vdze2a", "--data", data},
	}
}

// processes are the commands that run as processes of their own, to check their exit codes.
var processes = []string{"serve", "audit", "seed", "copy from", "copy to"}

// requireRefused requires that a command fails with one sentence about the format, which names
// place.
func requireRefused(t *testing.T, name, place string, environment map[string]string, args []string) {
	t.Helper()
	if slices.Contains(processes, name) {
		var variables []string
		for variable, value := range environment {
			variables = append(variables, variable+"="+value)
		}
		requireErrorLine(t, start(t, variables, args...), place, anotherFormat)
		return
	}
	_, err := runOnce(t, environment, args...)
	if err == nil || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), anotherFormat) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v", name, err)
	}
}

// TestAnotherFormatInAFolder checks that all commands which read items refuse the folder.
func TestAnotherFormatInAFolder(t *testing.T) {
	t.Parallel()
	data := ofAnotherFormat(t)
	commands := formatCommands(data)
	commands["copy from"] = []string{"copy", "--from", data, "--to", filepath.Join(t.TempDir(), "target")}
	commands["copy to"] = []string{"copy", "--from", seeded(t, oneUser), "--to", data}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		requireRefused(t, name, data, nil, commands[name])
	}
}

// TestAnotherFormatAtAnEndpoint checks that all commands which read items refuse the account, and
// that commands refuse the folder of a running engine.
func TestAnotherFormatAtAnEndpoint(t *testing.T) {
	t.Parallel()
	data := ofAnotherFormat(t)
	engine, variables := serveEngine(t, data)
	defer engine.terminate(t)
	endpoint := endpointOf(variables)
	for name, args := range formatCommands(t.TempDir()) {
		requireRefused(t, name, endpoint, clientsOf(variables), args)
	}
	from, to := map[string]string{"COPY_FROM_KEY": config.EmulatorKey}, map[string]string{"COPY_TO_KEY": config.EmulatorKey}
	requireRefused(t, "copy from", endpoint, from, []string{"copy", "--from", endpoint, "--to", filepath.Join(t.TempDir(), "target")})
	requireRefused(t, "copy to", endpoint, to, []string{"copy", "--from", seeded(t, oneUser), "--to", endpoint})
	requireRefused(t, "audit", data, nil, []string{"audit", "--data", data})
}

// TestCopyDoesNotWriteToItsSource copies a folder whose database is empty and stores no number. The
// copy must not store one.
func TestCopyDoesNotWriteToItsSource(t *testing.T) {
	t.Parallel()
	data, target := t.TempDir(), filepath.Join(t.TempDir(), "target")
	if _, err := runOnce(t, nil, "provision", "--data", data); err != nil {
		t.Fatal(err)
	}
	format := azcosmos.NewPartitionKeyString("format")
	changeEngine(t, data, func(leases *azcosmos.ContainerClient) error {
		_, err := leases.DeleteItem(t.Context(), format, "format", nil)
		return err
	})
	if output, err := runOnce(t, nil, "copy", "--from", data, "--to", target); err != nil || !strings.Contains(output, copiedNothing) {
		t.Errorf("copy: %q, %v", output, err)
	}
	for folder, want := range map[string]bool{data: false, target: true} {
		changeEngine(t, folder, func(leases *azcosmos.ContainerClient) error {
			_, err := leases.ReadItem(t.Context(), format, "format", nil)
			if (err == nil) != want {
				t.Errorf("%s: %v", folder, err)
			}
			return nil
		})
	}
}
