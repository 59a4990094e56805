package blog

import (
	"errors"
	"slices"
	"strings"
)

// AtField returns an Error with the path of the invalid argument or input field prepended to its
// Field, and FieldErrors with it prepended to each. It returns other errors unchanged.
func AtField(err error, path ...any) error {
	switch err := err.(type) {
	case *Error:
		located := *err
		located.Field = slices.Concat(path, err.Field)
		return &located
	case FieldErrors:
		all := make(FieldErrors, len(err))
		for i := range err {
			all[i] = AtField(err[i], path...)
		}
		return all
	}
	return err
}

// FieldErrors are the errors of several fields of one input. There are at least two.
type FieldErrors []error

// Error returns all messages.
func (e FieldErrors) Error() string {
	var messages []string
	for _, err := range e {
		messages = append(messages, err.Error())
	}
	return strings.Join(messages, "; ")
}

// Unwrap returns the errors, in the order of the fields.
func (e FieldErrors) Unwrap() []error { return e }

// JoinFields returns the errors of all fields: nil, a single error, or FieldErrors.
func JoinFields(errs ...error) error {
	var all FieldErrors
	for _, err := range errs {
		if several, ok := errors.AsType[FieldErrors](err); ok {
			all = append(all, several...)
		} else if err != nil {
			all = append(all, err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}
