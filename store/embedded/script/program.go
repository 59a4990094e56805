package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"cosmosblog/store/embedded/value"
)

// Program is a compiled script. It is immutable and may be executed by any number of goroutines at once: every
// execution has a JavaScript runtime of its own, so that nothing a script does to its globals outlives it.
type Program struct {
	compiled         *goja.Program
	specialFunctions bool     // there may be generators or async functions in it
	laterGlobals     []string // those that it names
}

const byteOrderMark = "\ufeff"

// maxSource is how long a script's text may be, in bytes. The service takes 2 MB; goja's compiler runs out of stack, and
// ends the process, on a million nested parentheses.
const maxSource = 256 << 10

// expressionPrefix makes the function of a script an expression, whose value is the function.
const expressionPrefix = "0,"

// Compile makes a Program of a script's text, which must be one function: a declaration or an expression, named or
// not, an arrow function too. A byte order mark before it is taken off; semicolons behind it and comments around it do
// not matter. Errors: *CompileError, in whose positions the columns of the first line are too great by the length of
// expressionPrefix.
func Compile(name, body string) (*Program, error) {
	if len(body) > maxSource {
		return nil, &CompileError{name, fmt.Sprintf("the script has more than %d bytes", maxSource)}
	}
	compiled, err := compile(name, expressionPrefix+strings.TrimPrefix(body, byteOrderMark))
	if err != nil {
		return nil, &CompileError{name, err.Error()}
	}
	names := func(word string) bool { return strings.Contains(body, word) }
	later := slices.DeleteFunc(slices.Clone(laterGlobals), func(global string) bool { return !names(global) })
	return &Program{compiled, names("*") || names("async"), later}, nil
}

// compile compiles a source that is one function. goja's parser panics on some sources that are broken; those are refused
// like others that are.
func compile(name, source string) (compiled *goja.Program, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	// Without this option a comment in the script could make the parser read a file.
	tree, err := goja.Parse(name, source, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	if !isOneFunction(tree.Body) {
		return nil, errors.New("the script is not one function")
	}
	return goja.CompileAST(tree, false)
}

func isOneFunction(statements []ast.Statement) bool {
	for _, further := range statements[1:] {
		if _, empty := further.(*ast.EmptyStatement); !empty {
			return false
		}
	}
	statement, isExpression := statements[0].(*ast.ExpressionStatement)
	return isExpression && isPrefixedFunction(statement.Expression)
}

func isPrefixedFunction(expression ast.Expression) bool {
	sequence, ok := expression.(*ast.SequenceExpression)
	if !ok || len(sequence.Sequence) != 2 {
		return false
	}
	switch sequence.Sequence[1].(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

// Execute runs a stored procedure on c with the arguments of a JSON array, or of an object that has a length like one.
// With null, an object without a length, or nothing, all its parameters are undefined.
//
// When it returns no error, c is to be committed; with an error it must be dropped, and the Result tells only what was
// logged and how many operations were carried out. Errors: *ArgumentError before
// anything ran; *ScriptError, *TimeoutError, *TooLargeError; ctx's cause; and whatever c returned that is no
// *OperationError.
func (p *Program) Execute(ctx context.Context, c Collection, arguments []byte, o Options) (Result, error) {
	values, err := parseArguments(arguments)
	if err != nil {
		return Result{}, err
	}
	x := newExecution(ctx, c, o)
	defer x.close()
	x.request = &message{text: arguments}
	x.response = &message{writable: true, limit: x.options.MaxBody, body: x.runtime.ToValue("")}
	if err := x.run(p, values); err != nil {
		return x.result(nil), err
	}
	body, err := x.text(x.response)
	return x.result(body), err
}

// Before runs a pre-trigger before the write w, and gives back the body to write instead of w.Body: another one where
// the script set one, otherwise the same. Errors and what they mean for the transaction are Execute's.
func (p *Program) Before(ctx context.Context, c Collection, w Write, o Options) (body []byte, err error) {
	x := newExecution(ctx, c, o)
	x.request = &message{writable: true, operation: w.Operation, text: w.Body}
	return x.trigger(p, x.request, x.item)
}

// After runs a post-trigger after the write w, which stored the item stored (empty after a delete), and gives back the
// body to answer with: another one where the script set one, otherwise stored. Errors and what they mean for the
// transaction, the write's included, are Execute's.
func (p *Program) After(ctx context.Context, c Collection, w Write, stored []byte, o Options) (body []byte, err error) {
	x := newExecution(ctx, c, o)
	x.request = &message{operation: w.Operation, text: w.Body}
	x.response = &message{writable: true, limit: x.options.MaxBody, text: stored}
	return x.trigger(p, x.response, x.text)
}

// trigger runs a trigger and closes the execution. It gives back the text of the message that the trigger may change.
func (x *execution) trigger(p *Program, m *message, changed func(*message) ([]byte, error)) ([]byte, error) {
	defer x.close()
	if err := x.run(p, nil); err != nil {
		return nil, err
	}
	if m.changed {
		return changed(m)
	}
	return m.text, nil
}

// maxArguments bounds what an object with a great length can cost.
const maxArguments = 1 << 16

// parseArguments reads the body of an execute request. Errors: *ArgumentError.
func parseArguments(text []byte) ([]value.Value, error) {
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil, nil
	}
	v, err := value.Parse(text)
	if err != nil {
		return nil, &ArgumentError{err.Error()}
	}
	length := float64(v.Len())
	switch v.Kind() {
	case value.KindNull:
		return nil, nil
	case value.KindArray:
	case value.KindObject:
		length, _ = v.Get("length").AsNumber()
	default:
		return nil, &ArgumentError{fmt.Sprintf("an array or an object is needed, not a %v", v.Kind())}
	}
	if length > maxArguments {
		return nil, &ArgumentError{fmt.Sprintf("more than %d", maxArguments)}
	}
	return elements(v, int(length)), nil
}

func elements(v value.Value, length int) []value.Value {
	if items, ok := v.AsArray(); ok {
		return items
	}
	items := make([]value.Value, 0, max(length, 0))
	for i := range length {
		items = append(items, v.Get(fmt.Sprint(i)))
	}
	return items
}
