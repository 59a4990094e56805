package script

import (
	"context"
	"errors"

	"github.com/dop251/goja"
)

// Program is a compiled script. It is immutable and may be executed by any number of goroutines at once.
type Program struct{ compiled *goja.Program }

var errUnfinished = errors.New("script: not executed yet")

// Compile makes a Program of a script's text, which must be one function. Errors: *CompileError.
func Compile(name, body string) (*Program, error) {
	compiled, err := goja.Compile(name, "("+body+")", false)
	if err != nil {
		return nil, &CompileError{name, err.Error()}
	}
	return &Program{compiled}, nil
}

// Execute runs a stored procedure.
func (p *Program) Execute(ctx context.Context, c Collection, arguments []byte, o Options) (Result, error) {
	return Result{}, errUnfinished
}

// Before runs a pre-trigger.
func (p *Program) Before(ctx context.Context, c Collection, w Write, o Options) (body []byte, r Result, err error) {
	return nil, Result{}, errUnfinished
}

// After runs a post-trigger.
func (p *Program) After(ctx context.Context, c Collection, w Write, stored []byte, o Options) (body []byte, r Result, err error) {
	return nil, Result{}, errUnfinished
}
