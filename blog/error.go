package blog

import (
	"errors"
	"fmt"
	"time"
)

// Code is the machine-readable kind of an error: extensions.code in the API. The enum ErrorCode in
// the schema has the same values, and describes them.
type Code string

const (
	Unauthenticated         Code = "UNAUTHENTICATED"           // no token, or an invalid one
	UserRequired            Code = "USER_REQUIRED"             // the account has no user yet
	Forbidden               Code = "FORBIDDEN"                 // signed in, but not allowed
	NotFound                Code = "NOT_FOUND"                 // never existed, or deleted
	BadUserInput            Code = "BAD_USER_INPUT"            // the request breaks a documented rule
	UsernameTaken           Code = "USERNAME_TAKEN"            // another user has the username
	Conflict                Code = "CONFLICT"                  // the version is outdated; in the store, any lost race
	IdempotencyKeyReused    Code = "IDEMPOTENCY_KEY_REUSED"    // an idempotency key with other input
	AccountHasUser          Code = "ACCOUNT_HAS_USER"          // an account has one user
	TryAgain                Code = "TRY_AGAIN"                 // every try lost a race, and nothing was changed
	DeletionUnderWay        Code = "DELETION_UNDER_WAY"        // the account's user is being deleted
	Throttled               Code = "THROTTLED"                 // the database is throttled; RetryAfter is the time to wait
	Unavailable             Code = "UNAVAILABLE"               // the database does not answer; RetryAfter is the time to wait
	Overloaded              Code = "OVERLOADED"                // the server is busy; RetryAfter is the time to wait
	Timeout                 Code = "TIMEOUT"                   // out of time; RetryAfter is the time to wait
	CostLimitExceeded       Code = "COST_LIMIT_EXCEEDED"       // rejected for its price before it ran
	BudgetExceeded          Code = "BUDGET_EXCEEDED"           // with RetryAfter: the client has spent its budget
	LimitExceeded           Code = "LIMIT_EXCEEDED"            // too long, too deep, or too many of something
	GraphQLParseFailed      Code = "GRAPHQL_PARSE_FAILED"      // the query has a syntax error
	GraphQLValidationFailed Code = "GRAPHQL_VALIDATION_FAILED" // the query does not match the schema
	Internal                Code = "INTERNAL"                  // a fault of the server: the client sees only an id

	PersistedQueryNotFound     Code = "PERSISTED_QUERY_NOT_FOUND"     // send the query with its hash
	PersistedQueryNotSupported Code = "PERSISTED_QUERY_NOT_SUPPORTED" // send queries without hashes
)

// Error is the only kind of error that clients see. Message is one or two sentences for a
// person, and never repeats the client's input. Err is the cause, for the log only.
type Error struct {
	Code       Code
	Message    string
	RetryAfter time.Duration // set for Throttled, Unavailable, Overloaded, Timeout, and a temporary Internal
	Err        error
	// Field is the path of the invalid argument or input field: names, and indexes in lists. Commands
	// set it relative to their input.
	Field []any
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

// RetryAfterOf returns the time to wait that a possibly wrapped Error names, or 0.
func RetryAfterOf(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
