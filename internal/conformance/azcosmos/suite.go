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

// suite is what was built: the program, and azcosmos's tests.
type suite struct{ dir, program, tests string }

// build builds both into a folder.
func build(ctx context.Context, dir string) (suite, error) {
	s := suite{dir: dir, program: filepath.Join(dir, "cosmosblog.exe"), tests: filepath.Join(dir, "azcosmos.test.exe")}
	_, err := output(ctx, "go", "build", "-o", s.program, "cosmosblog")
	if err == nil {
		_, err = output(ctx, "go", "test", "-c", "-o", s.tests, sdk)
	}
	return s, err
}

// names lists the emulator tests in the order in which they stand in azcosmos's source.
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
		return nil, errors.New("azcosmos has no emulator tests where they were looked for")
	}
	return names, nil
}

// testsOf gives the names of a file's tests.
func testsOf(file *ast.File) (names []string) {
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// test runs one test in a fresh engine, and the self-check over what it leaves. What it gives is what is wrong, or nil.
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
	if err := errors.Join(s.ask(ctx, name, data), engine.stop()); err != nil {
		return err
	}
	_, err = output(ctx, s.program, "check", "--data", data)
	return err
}

// ask runs a test against the engine that has a data folder.
func (s suite) ask(ctx context.Context, name, data string) error {
	limited, stop := context.WithTimeout(ctx, patience)
	defer stop()
	command := exec.CommandContext(limited, s.tests, "-test.v", "-test.run", "^"+name+"$")
	command.Dir = data
	command.Env = append(os.Environ(), "EMULATOR=1", "SSL_CERT_FILE="+filepath.Join(data, "engine-tls.pem"))
	said, err := command.CombinedOutput()
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it was stopped after %v", patience)
	}
	return verdict(name, said, err)
}

// verdict reads what a test's process said. A test that skipped itself has not passed.
func verdict(name string, said []byte, err error) error {
	if err == nil && !slices.ContainsFunc(bytes.Split(said, []byte("\n")), func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("--- PASS: "+name+" "))
	}) {
		err = errors.New("it did not run to its end")
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, said)
	}
	return nil
}

// output runs a program and gives what it prints.
func output(ctx context.Context, program string, args ...string) ([]byte, error) {
	var complaints bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Stderr = &complaints
	printed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, complaints.Bytes())
	}
	return printed, nil
}
