package main

import (
	"bytes"
	"context"
	"crypto/tls"
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

// suite holds a temporary folder, the paths of azcosmos's tests and of a certificate in it, and
// that certificate with its key.
type suite struct {
	dir, tests, trusted string
	certificate         tls.Certificate
}

// build builds the tests into a folder, and creates a certificate there.
func build(ctx context.Context, dir string) (suite, error) {
	s := suite{dir: dir, tests: filepath.Join(dir, "azcosmos.test.exe"), trusted: filepath.Join(dir, "trusted.pem")}
	var err error
	if s.certificate, err = newCertificate(s.trusted); err == nil {
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

// test runs one test against a new account, and then checks the account's data. It returns an error
// if either fails.
func (s suite) test(ctx context.Context, name string) error {
	account, server, err := serve(s.certificate, strings.HasPrefix(name, "TestAAD"))
	if err != nil {
		return err
	}
	err = s.runTest(ctx, name)
	server.Close()
	return errors.Join(err, account.Close())
}

// runTest runs a test against the account that is served.
func (s suite) runTest(ctx context.Context, name string) error {
	limited, stop := context.WithTimeout(ctx, testTimeout)
	defer stop()
	command := exec.CommandContext(limited, s.tests, "-test.v", "-test.run", "^"+name+"$")
	command.Dir = s.dir
	command.Env = append(os.Environ(), "EMULATOR=1", "SSL_CERT_FILE="+s.trusted)
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
