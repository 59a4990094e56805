package blog

import (
	"errors"
	"fmt"
	"time"
)

// Code is what went wrong, as a program reads it: the API's extensions.code.
type Code string

const (
	Unauthenticated   Code = "UNAUTHENTICATED"     // no token, or one that does not verify
	Forbidden         Code = "FORBIDDEN"           // signed in, but not allowed
	NotFound          Code = "NOT_FOUND"           // not there, or deleted
	BadUserInput      Code = "BAD_USER_INPUT"      // the request breaks a rule that is written down
	UsernameTaken     Code = "USERNAME_TAKEN"      // somebody else bears that name
	Conflict          Code = "CONFLICT"            // somebody else was faster, or a key was used for something else
	Throttled         Code = "THROTTLED"           // the database allows no more for now; RetryAfter says for how long
	CostLimitExceeded Code = "COST_LIMIT_EXCEEDED" // refused before it ran, for its price
	Internal          Code = "INTERNAL"            // our fault: nothing of it is told but an id
)

// Error is the one kind of error that a client sees. Message is one or two sentences for a person and holds nothing
// of what the client sent. Err is the cause, for the log alone.
type Error struct {
	Code       Code
	Message    string
	RetryAfter time.Duration // with Throttled, and with an Internal that passes by itself
	Err        error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return string(e.Code) + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf gives the code of an error, however deeply it is wrapped: Internal where it is no Error of ours.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}
