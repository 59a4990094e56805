package engine

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

// request is a request with its parsed target and the resources that the target names.
type request struct {
	*http.Request
	target
	engine    *Engine
	body      []byte
	database  *database
	container *container
}

// headerIsTrue reports whether a header of the request is true.
func (r *request) headerIsTrue(name string) bool { return isTrue(r.Header, name) }

func isTrue(header http.Header, name string) bool { return strings.EqualFold(header.Get(name), "true") }

// response is the result of a handler.
type response struct {
	status int
	body   []byte // JSON or empty
	charge float64
	header []headerValue
}

type headerValue struct{ name, value string }

func (r *response) with(name, value string) *response {
	if r.header == nil {
		r.header = make([]headerValue, 0, 16) // enough for all responses
	}
	r.header = append(r.header, headerValue{name, value})
	return r
}

// resolve finds the database and the container that the request names.
func (r *request) resolve() (err error) {
	if len(r.kinds) > 1 {
		if r.database, err = r.engine.database(r.names[0]); err != nil {
			return err
		}
	}
	if len(r.names) > 1 {
		r.container, err = r.engine.container(r.names[0], r.names[1])
		switch {
		case errors.Is(err, errOwnerNotFound) && len(r.kinds) == 2:
			return errResourceNotFound // what is missing is no owner (CosmosNotFoundTests.cs)
		case err != nil:
			return err
		}
	}
	if len(r.names) > 2 && r.container.name != r.names[1] {
		r.names[2], err = r.nameByRID(r.names[2])
	}
	return err
}

// nameByRID returns the id of the item or script with a resource id. Errors: 400 for an item
// without its partition key; 404.
func (r *request) nameByRID(rid string) (string, error) {
	if r.kinds[2] == "docs" {
		p, err := r.headerPartition()
		if err != nil {
			return "", err
		}
		return r.engine.newTransaction(r.container, p).idByRID(rid)
	}
	for name, s := range r.container.scripts {
		if name.kind == r.kinds[2] && s.rid == rid {
			return name.id, nil
		}
	}
	return "", errResourceNotFound
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	var body bytes.Buffer
	if r.ContentLength > 0 && r.ContentLength <= maxRequestBytes {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	n, err := body.ReadFrom(io.LimitReader(r.Body, maxRequestBytes+1))
	if err != nil {
		return nil, badRequest("The body of the request could not be read.")
	}
	if n > maxRequestBytes {
		return nil, errTooLarge
	}
	return body.Bytes(), nil
}
