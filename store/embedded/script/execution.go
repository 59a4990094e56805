package script

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"

	"cosmosblog/store/embedded/value"
)

// maxCallStack is how deep calls may nest. goja's own limit is practically none, and then the memory ends first.
const maxCallStack = 512

// A regular expression that goja cannot translate for Go's own package goes back and forth in its text, perhaps for
// longer than anyone waits, and cannot be interrupted. After this time it says that nothing matched, and the script,
// whose time is over by then, is stopped. The setting is one for the whole process.
func init() { regexp2.DefaultMatchTimeout = DefaultTimeout }

// execution is one run of one script, in one goroutine.
type execution struct {
	ctx        context.Context
	close      func()
	runtime    *goja.Runtime
	collection Collection
	options    Options
	started    time.Time

	request   *message
	response  *message // nil in a pre-trigger
	context   *goja.Object
	documents *goja.Object // what getCollection gives

	queue    []operation
	asked    int // operations, refused ones included
	done     int // operations carried out
	log      strings.Builder
	aborted  error           // what abort was called with
	rejected []*goja.Promise // that nobody has handled yet; only with Options.Strict
}

// newExecution prepares an execution whose time runs from now on. It must be closed.
func newExecution(ctx context.Context, c Collection, o Options) *execution {
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Budget = cmp.Or(o.Budget, o.Timeout*4/5)
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	runtime := goja.New()
	runtime.SetMaxCallStackSize(maxCallStack)
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, &TimeoutError{o.Timeout})
	disarm := context.AfterFunc(ctx, func() { runtime.Interrupt(context.Cause(ctx)) })
	return &execution{
		ctx: ctx, close: func() { disarm(); cancel() },
		runtime: runtime, collection: c, options: o, started: time.Now(),
	}
}

// run calls the script's function, then carries out what is queued until nothing is.
func (x *execution) run(p *Program, arguments []value.Value) error {
	if x.options.Strict {
		x.runtime.SetPromiseRejectionTracker(x.trackRejection)
	}
	if err := x.install(p); err != nil {
		return x.failure(err)
	}
	if err := x.main(p, arguments); err != nil {
		return x.failure(err)
	}
	if err := x.drain(); err != nil {
		return err
	}
	if len(x.rejected) > 0 {
		return x.scriptError(x.rejected[0].Result())
	}
	return nil
}

func (x *execution) main(p *Program, arguments []value.Value) error {
	function, err := x.runtime.RunProgram(p.compiled)
	if err != nil {
		return err
	}
	call, _ := goja.AssertFunction(function) // Compile has seen that it is one
	values := make([]goja.Value, len(arguments))
	for i, argument := range arguments {
		values[i] = x.toScript(argument)
	}
	_, err = call(goja.Undefined(), values...)
	return err
}

// enqueue counts an operation that is asked for, and queues it if it is accepted.
func (x *execution) enqueue(o operation) (accepted bool) {
	x.asked++
	if time.Since(x.started) >= x.options.Budget || x.options.Accept != nil && !x.options.Accept(x.asked) {
		return false
	}
	x.queue = append(x.queue, o)
	return true
}

// drain carries out the queued operations one by one. Callbacks put further ones at the end of the queue.
func (x *execution) drain() error {
	for {
		if x.ctx.Err() != nil {
			return context.Cause(x.ctx)
		}
		if len(x.queue) == 0 {
			return nil
		}
		next := x.queue[0]
		x.queue = x.queue[1:]
		if err := x.carryOut(next); err != nil {
			return err
		}
	}
}

func (x *execution) carryOut(o operation) error {
	x.done++
	brought, err := x.perform(o)
	failed, isFailure := errors.AsType[*OperationError](err)
	switch {
	case err != nil && !isFailure && x.ctx.Err() != nil:
		return context.Cause(x.ctx)
	case err != nil && !isFailure:
		return err
	case o.callback != nil:
		return x.callBack(o.callback, brought, failed)
	case err != nil:
		return &ScriptError{Message: failed.Error(), Operation: failed}
	}
	return nil
}

// perform does an operation, or fails as the options say.
func (x *execution) perform(o operation) (answer, error) {
	if x.options.Fail != nil {
		if failed := x.options.Fail(x.done); failed != nil {
			return answer{}, failed
		}
	}
	return o.perform()
}

func (x *execution) callBack(callback goja.Callable, brought answer, failed *OperationError) error {
	if _, err := callback(goja.Undefined(), x.values(brought, failed)...); err != nil {
		return x.failure(err)
	}
	return nil
}

// abort ends the execution from inside the script, in a way that the script cannot catch.
func (x *execution) abort(call goja.FunctionCall) goja.Value {
	x.aborted = x.scriptError(call.Argument(0))
	panic(&goja.InterruptedError{})
}

func (x *execution) trackRejection(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionReject {
		x.rejected = append(x.rejected, p)
		return
	}
	x.rejected = slices.DeleteFunc(x.rejected, func(other *goja.Promise) bool { return other == p })
}

func (x *execution) result(body []byte) Result {
	return Result{Body: body, Log: x.log.String(), Operations: x.done}
}
