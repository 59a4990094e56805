// Command generate generates package graph: gqlgen's executable schema, and plain_generated.go,
// which appends objects of plain fields and finds the values of events. "go generate ./..." runs
// it in the folder graph.
//
// gqlgen binds the schema to Go types, and the bindings tell which fields are plain. New fields of
// the schema therefore need no change here. In gqlgen's file, the function of each object gets a
// statement that calls plain_generated.go first. The command fails if these functions do not have
// the expected form.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/validator"

	"cosmosblog/graph/introspection"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate() error {
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		return err
	}
	validator.Prelude = introspection.BuiltIn() // gqlgen's functions for introspection follow it
	cfg.SkipValidation = true                   // the files compile only with the calls
	folder := cfg.Exec.Dir()
	p := &plugin{file: filepath.Join(folder, "plain_generated.go")}
	if err := api.Generate(cfg, api.AddPlugin(p)); err != nil {
		return err
	}
	if err := addCalls(cfg.Exec.Filename, p.objects); err != nil {
		return err
	}
	build := exec.Command("go", "build", ".")
	build.Dir, build.Stdout, build.Stderr = folder, os.Stdout, os.Stderr
	return build.Run()
}
