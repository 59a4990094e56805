package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"cosmosblog/engine/value"
)

// Program is a compiled script. It is immutable, and any number of goroutines may execute it at
// once. Each execution has its own JavaScript runtime, so changes to globals do not outlive it.
type Program struct {
	compiled         *goja.Program
	specialFunctions bool     // may contain generators or async functions
	shortcut         bool     // may use __
	console          bool     // may use console
	laterGlobals     []string // those in its text
	ordinaryObjects  bool     // may do to an object what a document does not support
}

// reflection lists texts without which a script does not distinguish a document from an ordinary
// object. It neither freezes objects nor names their properties by symbols. It defines no
// accessors, attributes, prototypes, private fields or conversions to JSON.
var reflection = []string{"Object", "Reflect", "Symbol", "Proxy", "constructor", "toJSON", "__", "#"}

const byteOrderMark = "\ufeff"

// maxSource is the maximum length of a script's text in bytes. The service accepts 2 MB.
// However, a million nested parentheses exhaust the stack of goja's compiler and end the
// process.
const maxSource = 256 << 10

// expressionPrefix turns the script's function into an expression with the function as its
// value.
const expressionPrefix = "0,"

// Compile compiles the text of a script. The text must be one function: a declaration, a named
// or anonymous expression, or an arrow function. A leading byte order mark, trailing semicolons
// and surrounding comments are allowed.
//
// It returns a *CompileError if the text is invalid. The columns in the first line of its
// message are too large by the length of expressionPrefix.
func Compile(name, body string) (*Program, error) {
	if len(body) > maxSource {
		return nil, &CompileError{name, fmt.Sprintf("the script is longer than %d bytes", maxSource)}
	}
	compiled, err := compile(name, expressionPrefix+strings.TrimPrefix(body, byteOrderMark))
	if err != nil {
		return nil, &CompileError{name, err.Error()}
	}
	escapes := strings.Contains(body, `\u`) // a name may be written with escapes
	names := func(word string) bool { return escapes || strings.Contains(body, word) }
	later := slices.DeleteFunc(slices.Clone(laterGlobals), func(global string) bool { return !names(global) })
	return &Program{
		compiled:         compiled,
		specialFunctions: names("*") || names("async"),
		shortcut:         names("__"),
		console:          names("console"),
		laterGlobals:     later,
		ordinaryObjects:  slices.ContainsFunc(reflection, names),
	}, nil
}

// compile compiles a source that is one function. goja's parser panics on some invalid sources;
// compile returns an error for them.
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

// Execute runs a stored procedure on c. arguments is a JSON array, or an object with a length
// and numbered properties. If it is empty, null, or an object without a length, all parameters
// are undefined.
//
// The caller must commit c if Execute succeeds, and roll it back otherwise. After an error, the
// Result only contains the log and the number of operations.
//
// Execute returns an *ArgumentError before anything runs; a *ScriptError, *TimeoutError or
// *TooLargeError; the cause of ctx; or an error of c that is not an *OperationError.
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

// Before runs a pre-trigger before the write w. It returns the body to write: the body that the
// script set, or w.Body. For errors and the transaction, see Execute.
func (p *Program) Before(ctx context.Context, c Collection, w Write, o Options) (body []byte, err error) {
	x := newExecution(ctx, c, o)
	x.request = &message{writable: true, operation: w.Operation, text: w.Body}
	return x.trigger(p, x.request, x.item)
}

// After runs a post-trigger after the write w. stored is the stored item, empty after a delete.
// After returns the body of the response: the body that the script set, or stored. For errors
// and the transaction, which includes w, see Execute.
func (p *Program) After(
	ctx context.Context, c Collection, w Write, stored []byte, o Options,
) (body []byte, err error) {
	x := newExecution(ctx, c, o)
	x.request = &message{operation: w.Operation, text: w.Body}
	x.response = &message{writable: true, limit: x.options.MaxBody, text: stored}
	return x.trigger(p, x.response, x.text)
}

// trigger runs a trigger and closes the execution. It returns the text of m, the message that
// the trigger may change.
func (x *execution) trigger(
	p *Program, m *message, changed func(*message) ([]byte, error),
) ([]byte, error) {
	defer x.close()
	if err := x.run(p, nil); err != nil {
		return nil, err
	}
	if m.changed {
		return changed(m)
	}
	return m.text, nil
}

// maxArguments limits the cost of an object with a large length.
const maxArguments = 1 << 16

// parseArguments parses the body of an execute request. It returns an *ArgumentError if the body
// is invalid.
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
		length = lengthOf(v.Get("length"))
	default:
		return nil, &ArgumentError{fmt.Sprintf("expected an array or an object, got %v", v.Kind())}
	}
	if length > maxArguments {
		return nil, &ArgumentError{fmt.Sprintf("more than %d arguments", maxArguments)}
	}
	return elements(v, int(length)), nil
}

// lengthOf returns the length of an object like an array. A text counts as the number in it, as in
// JavaScript (dotnet-v3, EmulatorTests/StoredProcedureTests.cs,
// ExecuteTestWithArraylikeParameters).
func lengthOf(v value.Value) float64 {
	if n, ok := v.AsNumber(); ok {
		return n
	}
	text, _ := v.AsString()
	n, _ := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n
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
