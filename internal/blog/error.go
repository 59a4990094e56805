package blog

import (
	"errors"
	"fmt"
	"time"
)

// Code is the machine-readable kind of an error: extensions.code in the API.
type Code string

const (
	Unauthenticated   Code = "UNAUTHENTICATED"     // no token, or an invalid one
	Forbidden         Code = "FORBIDDEN"           // signed in, but not allowed
	NotFound          Code = "NOT_FOUND"           // never existed, or deleted
	BadUserInput      Code = "BAD_USER_INPUT"      // the request breaks a documented rule
	UsernameTaken     Code = "USERNAME_TAKEN"      // another user has the username
	Conflict          Code = "CONFLICT"            // a concurrent update, or an idempotency key with other input
	Throttled         Code = "THROTTLED"           // the database or the server is overloaded; RetryAfter is the time to wait
	CostLimitExceeded Code = "COST_LIMIT_EXCEEDED" // rejected for its price, or stopped at a limit of what it reads
	Internal          Code = "INTERNAL"            // a fault of the server: the client sees only an id
)

// Error is the only kind of error that clients see. Message is one or two sentences for a
// person, and never repeats the client's input. Err is the cause, for the log only.
type Error struct {
	Code       Code
	Message    string
	RetryAfter time.Duration // set for Throttled, and for a temporary Internal
	Err        error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return string(e.Code) + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of a possibly wrapped Error, or Internal if err wraps no Error.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}
