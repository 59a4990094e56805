package engine

import (
	"errors"
	"fmt"
	"net/http"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// executeProcedure executes a stored procedure in one logical partition, in one transaction.
func (r *request) executeProcedure() (*response, error) {
	p, err := r.headerPartition()
	if err != nil {
		return nil, err
	}
	s, ok := r.container.scripts[scriptName{"sprocs", r.names[2]}]
	if !ok {
		return nil, errResourceNotFound
	}
	options := r.scriptOptions()
	var result script.Result
	answer, err := r.transactScripts(p, func(t *transaction) error {
		t.charge += scriptBase
		program, err := s.program()
		if err != nil {
			return scriptFailure(err)
		}
		result, err = program.Execute(r.Context(), &scriptCollection{t}, r.body, options)
		return scriptFailure(err)
	}, s)
	if options.Logging && answer != nil {
		answer.with("X-Ms-Documentdb-Script-Log-Results", result.Log)
	}
	if err != nil {
		return answer, err
	}
	answer.status, answer.body = http.StatusOK, result.Body
	return answer, nil
}

func (r *request) scriptOptions() script.Options {
	options := r.engine.options.Script
	options.Now = r.engine.options.Now
	options.Logging = r.headerIsTrue("X-Ms-Documentdb-Script-Enable-Logging")
	return options
}

// scriptFailure converts a script's failure to an error of the protocol.
func scriptFailure(err error) error {
	if err == nil {
		return nil
	}
	if compile, ok := errors.AsType[*script.CompileError](err); ok {
		return errorf(http.StatusBadRequest, substatusScriptCompile, "%s",
			errorsMessage("Encountered exception while compiling Javascript. Exception = "+compile.Message))
	}
	if argument, ok := errors.AsType[*script.ArgumentError](err); ok {
		return badRequest("%s", argument.Message)
	}
	if _, ok := errors.AsType[*script.TimeoutError](err); ok {
		return errorf(http.StatusRequestTimeout, 0, "The requested operation exceeded maximum alloted time.")
	}
	if tooLarge, ok := errors.AsType[*script.TooLargeError](err); ok {
		return errorf(http.StatusRequestEntityTooLarge, 0, "%s", tooLarge.Error())
	}
	if thrown, ok := errors.AsType[*script.ScriptError](err); ok {
		substatus := thrown.Number
		if thrown.Operation != nil {
			substatus = thrown.Operation.Substatus
		}
		return errorf(http.StatusBadRequest, substatus, "%s",
			errorsMessage("Encountered exception while executing function. Exception = "+thrown.Message+"\r\nStack trace: "+thrown.Stack))
	}
	return err
}

// errorsMessage returns a message in the form of the service's backend.
func errorsMessage(text string) string {
	return fmt.Sprintf("Message: {\"Errors\":[%s]}", value.AppendString(nil, text))
}

var _ script.Collection = (*scriptCollection)(nil)
