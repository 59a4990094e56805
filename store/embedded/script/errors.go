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

func (e *CompileError) Error() string { return fmt.Sprintf("compiling script %s: %s", e.Name, e.Message) }

// ArgumentError says why the arguments of an execution are neither an array nor an object.
type ArgumentError struct{ Message string }

func (e *ArgumentError) Error() string { return "the script's arguments: " + e.Message }

// ScriptError is an exception that the script did not catch, or what it handed to abort. Number is the one given to
// new Error(number, message), or the number of an operation's error that was thrown again; 0 where there is none.
type ScriptError struct {
	Number  int
	Message string
	Stack   string
}

func (e *ScriptError) Error() string {
	if e.Number != 0 {
		return fmt.Sprintf("script failed: %d: %s", e.Number, e.Message)
	}
	return "script failed: " + e.Message
}

// TimeoutError says that an execution was interrupted because it took longer than it may.
type TimeoutError struct{ Limit time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("the script ran for more than %v", e.Limit) }

// TooLargeError says that a response body would be larger than it may.
type TooLargeError struct {
	Limit   int // in bytes
	Message string
}

func (e *TooLargeError) Error() string { return e.Message }
