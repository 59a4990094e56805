package script

import (
	"fmt"
	"time"
)

// CompileError reports that the text of a script is not one JavaScript function.
type CompileError struct {
	Name    string
	Message string
}

func (e *CompileError) Error() string {
	return fmt.Sprintf("compiling script %s: %s", e.Name, e.Message)
}

// ArgumentError reports that the arguments of an execution are neither an array nor an object.
type ArgumentError struct{ Message string }

func (e *ArgumentError) Error() string { return "invalid script arguments: " + e.Message }

// ScriptError is an exception that the script did not catch, the argument of abort, or the
// failure of an operation without a callback.
type ScriptError struct {
	Number    int             // of new Error(number, message), or 0
	Message   string          // the exception as a string, or as JSON if it is an object but not an Error
	Stack     string          // lines "at function (script:line:column)"; empty if it is not an Error
	Operation *OperationError // the failed operation without a callback, or nil
}

func (e *ScriptError) Error() string {
	if e.Number != 0 {
		return fmt.Sprintf("script failed: %s (%d)", e.Message, e.Number)
	}
	return "script failed: " + e.Message
}

// Unwrap returns Operation.
func (e *ScriptError) Unwrap() error {
	if e.Operation == nil {
		return nil
	}
	return e.Operation
}

// TimeoutError reports that an execution exceeded its time limit.
type TimeoutError struct{ Limit time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("the script ran for more than %v", e.Limit) }

// TooLargeError reports that a response body exceeds its maximum size.
type TooLargeError struct{ Limit int } // in bytes

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("Resulting message would be too large because of %q: it may have %d bytes. Return from script "+
		"with current message and use continuation token to call the script again or modify your script.", "Body", e.Limit)
}
