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

	"cosmosblog/engine/value"
)

// maxCallStack is the maximum nesting of calls. goja's own limit is so high that the memory
// would be exhausted first.
const maxCallStack = 512

// A regular expression that goja cannot translate for Go's regexp package backtracks, possibly
// for a very long time, and cannot be interrupted. After this timeout, it reports no match, and
// the script, whose time has ended, is stopped. The setting applies to the whole process.
func init() { regexp2.DefaultMatchTimeout = DefaultTimeout }

// execution is one run of a script, in one goroutine.
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
	documents *goja.Object // result of getCollection
	prototype *goja.Object // of ordinary objects; nil until needed

	ordinaryObjects bool // the program gets ordinary objects instead of documents

	queue     []operation
	requested int // number of requested operations, including rejected ones
	performed int // number of performed operations
	log       strings.Builder
	aborted   error           // argument of abort
	rejected  []*goja.Promise // rejections not yet handled; only with Options.Strict
}

// newExecution prepares an execution and starts its time limit. The caller must call close.
func newExecution(ctx context.Context, c Collection, o Options) *execution {
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Budget = cmp.Or(o.Budget, o.Timeout*4/5)
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	runtime := goja.New()
	runtime.SetMaxCallStackSize(maxCallStack)
	if o.Now != nil {
		runtime.SetTimeSource(o.Now)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, &TimeoutError{o.Timeout})
	disarm := context.AfterFunc(ctx, func() { runtime.Interrupt(context.Cause(ctx)) })
	return &execution{
		ctx: ctx, close: func() { disarm(); cancel() },
		runtime: runtime, collection: c, options: o, started: time.Now(),
	}
}

// run calls the script's function, then performs queued operations until the queue is empty.
func (x *execution) run(p *Program, arguments []value.Value) error {
	x.ordinaryObjects = p.ordinaryObjects
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
	call, _ := goja.AssertFunction(function) // Compile checked that it is a function
	values := make([]goja.Value, len(arguments))
	for i, argument := range arguments {
		values[i] = x.toScript(argument)
	}
	_, err = call(goja.Undefined(), values...)
	return err
}

// enqueue counts a requested operation and queues it if it is accepted.
func (x *execution) enqueue(o operation) (accepted bool) {
	x.requested++
	if time.Since(x.started) >= x.options.Budget || x.options.Accept != nil && !x.options.Accept(x.requested) {
		return false
	}
	x.queue = append(x.queue, o)
	return true
}

// drain performs the queued operations one by one. Callbacks append further operations to the
// queue.
func (x *execution) drain() error {
	for {
		if x.ctx.Err() != nil {
			return context.Cause(x.ctx)
		}
		if x.options.Before != nil {
			x.options.Before(x.performed + 1)
		}
		if len(x.queue) == 0 {
			return nil
		}
		next := x.queue[0]
		x.queue = x.queue[1:]
		if err := x.performNext(next); err != nil {
			return err
		}
	}
}

func (x *execution) performNext(o operation) error {
	x.performed++
	result, err := x.perform(o)
	failed, isFailure := errors.AsType[*OperationError](err)
	switch {
	case err != nil && !isFailure && x.ctx.Err() != nil:
		return context.Cause(x.ctx)
	case err != nil && !isFailure:
		return err
	case o.callback != nil:
		return x.callBack(o.callback, result, failed)
	case err != nil:
		return &ScriptError{Message: failed.Error(), Operation: failed}
	}
	return nil
}

// perform performs an operation, or fails as Options.Fail requests.
func (x *execution) perform(o operation) (operationResult, error) {
	if x.options.Fail != nil {
		if failed := x.options.Fail(x.performed); failed != nil {
			return operationResult{}, failed
		}
	}
	return o.perform()
}

func (x *execution) callBack(callback goja.Callable, result operationResult, failed *OperationError) error {
	if _, err := callback(goja.Undefined(), x.callbackArguments(result, failed)...); err != nil {
		return x.failure(err)
	}
	return nil
}

// abort ends the execution. The script cannot catch it.
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
	return Result{Body: body, Log: x.log.String(), Operations: x.performed}
}
