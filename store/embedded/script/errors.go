package script

import (
	"fmt"
	"time"
)

// CompileError says why a script's text is not one JavaScript function.
type CompileError struct {
	Name    string
	Message string
}

func (e *CompileError) Error() string {
	return fmt.Sprintf("compiling script %s: %s", e.Name, e.Message)
}

// ArgumentError says why the arguments of an execution are neither an array nor an object.
type ArgumentError struct{ Message string }

func (e *ArgumentError) Error() string { return "the script's arguments: " + e.Message }

// ScriptError is an exception that the script did not catch, what it handed to abort, or the failure of an operation
// that it gave no callback.
type ScriptError struct {
	Number    int             // of new Error(number, message); 0 where there is none
	Message   string          // the exception as a string, "Error: not there"; as JSON where it is an object but no Error
	Stack     string          // lines "at function (script:line:column)"; empty where the exception is no Error
	Operation *OperationError // of an operation without a callback, otherwise nil
}

func (e *ScriptError) Error() string {
	if e.Number != 0 {
		return fmt.Sprintf("script failed: %s (%d)", e.Message, e.Number)
	}
	return "script failed: " + e.Message
}

// Unwrap gives Operation, so that errors.As finds it.
func (e *ScriptError) Unwrap() error {
	if e.Operation == nil {
		return nil
	}
	return e.Operation
}

// TimeoutError says that an execution was interrupted because it took longer than it may.
type TimeoutError struct{ Limit time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("the script ran for more than %v", e.Limit) }

// TooLargeError says that a response body would have been larger than it may be.
type TooLargeError struct{ Limit int } // in bytes

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("Resulting message would be too large because of %q: it may have %d bytes. Return from script "+
		"with current message and use continuation token to call the script again or modify your script.", "Body", e.Limit)
}
