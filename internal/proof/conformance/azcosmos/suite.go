package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const sdk = "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

// suite holds the paths of the built program and of azcosmos's tests.
type suite struct{ dir, program, tests string }

// build builds the program and the tests into a folder.
func build(ctx context.Context, dir string) (suite, error) {
	s := suite{dir: dir, program: filepath.Join(dir, "cosmosblog.exe"), tests: filepath.Join(dir, "azcosmos.test.exe")}
	_, err := output(ctx, "go", "build", "-o", s.program, "cosmosblog")
	if err == nil {
		_, err = output(ctx, "go", "test", "-c", "-o", s.tests, sdk)
	}
	return s, err
}

// names returns the names of the emulator tests in the order of azcosmos's source.
func (s suite) names(ctx context.Context) ([]string, error) {
	source, err := output(ctx, "go", "list", "-f", "{{.Dir}}", sdk)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(source)), "emulator_*_test.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		names = append(names, testsOf(file)...)
	}
	if len(names) == 0 {
		return nil, errors.New("no emulator tests found in azcosmos's source")
	}
	return names, nil
}

// testsOf returns the names of the tests in a file.
func testsOf(file *ast.File) (names []string) {
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// test runs one test against a new engine, and then checks the engine's data. It returns an
// error if either fails.
func (s suite) test(ctx context.Context, name string) (err error) {
	data, err := os.MkdirTemp(s.dir, "data-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	engine, err := start(ctx, s.program, data, strings.HasPrefix(name, "TestAAD"))
	if err != nil {
		return err
	}
	if err := errors.Join(s.runTest(ctx, name, data), engine.stop()); err != nil {
		return err
	}
	_, err = output(ctx, s.program, "check", "--data", data)
	return err
}

// runTest runs a test against the engine on a data folder.
func (s suite) runTest(ctx context.Context, name, data string) error {
	limited, stop := context.WithTimeout(ctx, testTimeout)
	defer stop()
	command := exec.CommandContext(limited, s.tests, "-test.v", "-test.run", "^"+name+"$")
	command.Dir = data
	command.Env = append(os.Environ(), "EMULATOR=1", "SSL_CERT_FILE="+filepath.Join(data, "engine-tls.pem"))
	output, err := command.CombinedOutput()
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("stopped after %v", testTimeout)
	}
	return verdict(name, output, err)
}

// verdict evaluates the output of a test process. A test that skips itself counts as failed.
func verdict(name string, output []byte, err error) error {
	if err == nil && !slices.ContainsFunc(bytes.Split(output, []byte("\n")), func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("--- PASS: "+name+" "))
	}) {
		err = errors.New("the test did not complete")
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

// output runs a program and returns its standard output.
func output(ctx context.Context, program string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Stderr = &stderr
	printed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, stderr.Bytes())
	}
	return printed, nil
}
