package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cosmosblog/internal/auth"
	"cosmosblog/internal/command"
)

// runOnce runs the program in this process until it ends by itself.
func runOnce(t *testing.T, environment map[string]string, args ...string) (stdout string, err error) {
	t.Helper()
	var out, log safeBuffer
	err = run(patient(t), args, command.Environment{Stdout: &out, Stderr: &log,
		LookupEnv: func(name string) (string, bool) { text, ok := environment[name]; return text, ok }})
	return out.String(), err
}

func TestFaultsAreSentences(t *testing.T) {
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential") // azidentity asks nothing else, and finds nobody
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	open := filepath.Join(folder, "open")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(open, auth.LocalKeyFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args        []string
		environment map[string]string
		says        string
	}{
		"unknown command":             {args: []string{"fly"}, says: `unknown command "fly"`},
		"unknown flag":                {args: []string{"serve", "--fly"}, says: "unknown flag: --fly"},
		"too much":                    {args: []string{"token", "anna"}, says: `unknown command "anna"`},
		"port in use":                 {args: []string{"--data", folder, "--addr", taken.Addr().String()}, says: "another process listens on " + taken.Addr().String()},
		"engine's port in use":        {args: []string{"engine", "--data", filepath.Join(folder, "engine"), "--addr", taken.Addr().String()}, says: "another process listens on " + taken.Addr().String()},
		"metrics' port in use":        {args: []string{"--data", filepath.Join(folder, "metrics"), "--addr", "127.0.0.1:0", "--metrics-addr", taken.Addr().String()}, says: "choose another address with --metrics-addr"},
		"projector's port in use":     {args: []string{"projector", "--data", filepath.Join(folder, "projector"), "--addr", taken.Addr().String()}, says: "another process listens on " + taken.Addr().String()},
		"nothing to copy":             {args: []string{"copy", "--from", open, "--to", folder}, says: "there is no data in the folder " + open},
		"copy to nowhere":             {args: []string{"copy", "--from", folder}, says: "--to names neither"},
		"no key, no identity to copy": {args: []string{"copy", "--from", "http://127.0.0.1:1", "--to", folder}, says: "COPY_FROM_KEY is not set, and Entra ID signs nobody in"},
		"nothing to back up":          {args: []string{"backup", filepath.Join(folder, "backup"), "--data", open}, says: "there is no data in the folder " + open},
		"back up where":               {args: []string{"backup", "--data", folder}, says: "name one folder"},
		"an issuer for anybody":       {args: []string{"serve", "--issuer", "https://login.example.com"}, says: "--issuer needs an --audience"},
		"an issuer over http":         {args: []string{"serve", "--audience", "blog"}, environment: map[string]string{"COSMOSBLOG_ISSUER": "http://login.example.com"}, says: "http is for loopback alone"},
		"other machines":              {args: []string{"--addr", "0.0.0.0:0"}, says: "add --production"},
		"folder is a file":            {args: []string{"serve", "--addr", "127.0.0.1:0", "--data", file}, says: "not a directory"},
		"key others can read":         {args: []string{"token", "--sub", "anna", "--data", open}, says: "other users can read"},
		"nobody":                      {args: []string{"token", "--data", folder}, says: "--sub NAME"},
		"not an endpoint":             {args: []string{"provision"}, environment: map[string]string{"COSMOS_ENDPOINT": "localhost"}, says: "COSMOS_ENDPOINT is not an address"},
		"nobody at the endpoint": {args: []string{"provision"}, environment: map[string]string{"COSMOS_ENDPOINT": "http://127.0.0.1:1", "COSMOS_KEY": "a2V5"},
			says: "connection refused"},
		"no throughput": {args: []string{"provision", "--throughput", "fast"}, environment: map[string]string{"COSMOS_ENDPOINT": "http://127.0.0.1:1", "COSMOS_KEY": "a2V5"},
			says: `"fast" is no throughput`},
		"not a number": {args: []string{"seed", "--users", "many"}, says: `--users is a number, not "many"`},
		"not a switch": {args: []string{"serve"}, environment: map[string]string{"COSMOSBLOG_PRODUCTION": "perhaps"}, says: "COSMOSBLOG_PRODUCTION"},
		"no key, no identity": {args: []string{"serve", "--addr", "127.0.0.1:0", "--data", folder}, environment: map[string]string{"COSMOS_ENDPOINT": "http://127.0.0.1:1"},
			says: "COSMOS_KEY is not set, and Entra ID signs nobody in"},
	} {
		_, err := runOnce(t, c.environment, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestTokenAloneIsPrinted(t *testing.T) {
	data := filepath.Join(t.TempDir(), "new", "folder")
	printed, err := runOnce(t, nil, "token", "--sub", "anna", "--data", data)
	if err != nil {
		t.Fatal(err)
	}
	key, err := auth.OpenLocalKey(data)
	if err != nil {
		t.Fatal(err)
	}
	account, err := key.Verify(context.Background(), strings.TrimSuffix(printed, "\n"))
	if err != nil || account.Subject != "anna" {
		t.Errorf("%q is a token of %v, %v", printed, account, err)
	}
}

func TestHelpTellsAllSettings(t *testing.T) {
	for _, c := range []struct{ name, says string }{
		{"serve", "COSMOS_KEY"}, {"serve", "COSMOS_ENDPOINT"}, {"serve", "--production"}, {"engine", "--tls"}, {"token", "--sub"},
		{"projector", "COSMOSBLOG_PROJECTOR_ADDR"}, {"provision", "COSMOS_DATABASE"}, {"seed", "--users"}, {"remove", "comment|user ID"},
		{"serve", "--max-depth int "}, {"serve", "--timeout duration "}, {"serve", "--issuer string "},
	} {
		help, err := runOnce(t, nil, c.name, "--help")
		if err != nil || !strings.Contains(help, c.says) {
			t.Errorf("%s --help does not tell of %s: %v", c.name, c.says, err)
		}
	}
}

func TestProductionHasNothingOfDevelopment(t *testing.T) {
	data := t.TempDir()
	token, err := runOnce(t, nil, "token", "--sub", "anna", "--data", data)
	if err != nil {
		t.Fatal(err)
	}
	a := serveInProcess(t, nil, "--production", "--data", data)
	if got := a.ask(t, `{ feed { nodes { id } } }`, nil, nil); len(got.Extensions.Cosmos.Requests) > 0 {
		t.Error("production gives diagnostics")
	}
	for document, code := range map[string]string{
		`{ __schema { types { name } } }`: "BAD_USER_INPUT",
		`{ fed { nodes { id } } }`:        "BAD_USER_INPUT",
		`mutation { likePost(input: {postId: "UG9zdDpwX2E6cF9h"}) { post { id } } }`: "UNAUTHENTICATED",
	} {
		got, err := a.send(document, nil)
		if err != nil || len(got.Errors) == 0 || got.Errors[0].Extensions.Code != code || strings.Contains(got.Errors[0].Message, "Did you mean") {
			t.Errorf("%s: got %+v, %v", document, got, err)
		}
	}
	if got, err := a.as(strings.TrimSpace(token)).send(`{ viewer { id } }`, nil); err != nil || len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "UNAUTHENTICATED" {
		t.Errorf("a local token: got %+v, %v", got, err)
	}
	response, err := http.Get(a.url + "/playground")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("the Playground answers %s", response.Status)
	}
}
