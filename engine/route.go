package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cosmosblog/engine/value"
)

// target holds the alternating kinds and names in a request's path. If the path is a list, the
// last name is missing.
type target struct {
	kinds []string // dbs, colls, docs, …
	names []string
}

// parseTarget parses an escaped path and unescapes its names.
func parseTarget(escapedPath string) (target, error) {
	var t target
	path := strings.Trim(escapedPath, "/")
	if path == "" {
		return t, nil
	}
	names := make([]string, 0, 8) // enough for all paths that are served
	t.kinds, t.names = names[:0:4], names[4:4:8]
	for i := 0; path != ""; i++ {
		var part string
		part, path, _ = strings.Cut(path, "/")
		name, err := url.PathUnescape(part)
		if err != nil || name == "" {
			return t, badRequest("The path of the request is invalid.")
		}
		if i%2 == 0 {
			t.kinds = append(t.kinds, name)
		} else {
			t.names = append(t.names, name)
		}
	}
	return t, nil
}

// appendPattern appends the kinds, with a star for each name: "dbs/*/colls/*/docs".
func (t target) appendPattern(pattern []byte) []byte {
	for i, kind := range t.kinds {
		if i > 0 {
			pattern = append(pattern, '/')
		}
		pattern = append(pattern, kind...)
		if i < len(t.names) {
			pattern = append(pattern, "/*"...)
		}
	}
	return pattern
}

// kind returns the kind of the resource or list that the path names, or "" for the account.
func (t target) kind() string {
	if len(t.kinds) == 0 {
		return ""
	}
	return t.kinds[len(t.kinds)-1]
}

// appendLink appends the link that a signature covers. A list is signed with its owner's link.
func (t target) appendLink(link []byte) []byte {
	if t.kind() == "offers" {
		return t.appendResourceID(link)
	}
	for i, name := range t.names {
		if i > 0 {
			link = append(link, '/')
		}
		link = append(append(append(link, t.kinds[i]...), '/'), name...)
	}
	return link
}

// appendResourceID appends the link that a signature covers if the path consists of resource ids:
// the last one in lower case.
func (t target) appendResourceID(link []byte) []byte {
	if len(t.names) == 0 {
		return link
	}
	return appendLower(link, t.names[len(t.names)-1])
}

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

type handler func(*request) (*response, error)

// chargedTwice returns a handler whose responses are charged twice as much.
func (h handler) chargedTwice() handler {
	return func(r *request) (*response, error) {
		response, err := h(r)
		if response != nil {
			response.charge *= 2
		}
		return response, err
	}
}

// route returns the handler of a request. Errors: 404, 405.
func route(method string, pattern []byte) (handler, error) {
	methods, ok := routes[string(pattern)]
	if !ok {
		return nil, errResourceNotFound
	}
	h, ok := methods[method]
	if !ok {
		return nil, errorf(http.StatusMethodNotAllowed, 0, "The requested verb is not supported.")
	}
	return h, nil
}

var routes map[string]map[string]handler

func init() {
	routes = map[string]map[string]handler{
		"":            {"GET": (*request).readAccount},
		"offers":      {"GET": (*request).listOffers, "POST": (*request).queryOffers},
		"offers/*":    {"GET": (*request).readOffer, "PUT": (*request).replaceOffer},
		"dbs":         {"GET": (*request).listDatabases, "POST": (*request).postDatabases},
		"dbs/*":       {"GET": (*request).readDatabase, "DELETE": (*request).deleteDatabase},
		"dbs/*/colls": {"GET": (*request).listContainers, "POST": (*request).postContainers},
		"dbs/*/colls/*": {
			"GET":    (*request).readContainer,
			"PUT":    (*request).replaceContainer,
			"DELETE": (*request).deleteContainer,
		},
		"dbs/*/colls/*/pkranges": {"GET": (*request).readRanges},
		"dbs/*/colls/*/docs":     {"GET": (*request).readFeed, "POST": (*request).postItems},
		"dbs/*/colls/*/docs/*": {
			"GET":    (*request).readItem,
			"PUT":    (*request).replaceItem,
			"PATCH":  (*request).patchItem,
			"DELETE": (*request).deleteItem,
		},
		"dbs/*/colls/*/sprocs": {"GET": (*request).listScripts, "POST": (*request).createScript},
		"dbs/*/colls/*/sprocs/*": {
			"GET":    (*request).readScript,
			"PUT":    (*request).replaceScript,
			"DELETE": (*request).deleteScript,
			"POST":   (*request).executeProcedure,
		},
		"dbs/*/colls/*/triggers": {"GET": (*request).listScripts, "POST": (*request).createScript},
		"dbs/*/colls/*/triggers/*": {
			"GET":    (*request).readScript,
			"PUT":    (*request).replaceScript,
			"DELETE": (*request).deleteScript,
		},
	}
}

// ServeHTTP handles a request of the REST protocol. It is safe for concurrent use.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	response, err := e.serve(r)
	if err != nil {
		if isDamage(err) {
			e.options.damaged(err)
			err = errFailed
		}
		response = errorResponse(r, response, err)
	}
	response.with("X-Ms-Request-Charge", strconv.FormatFloat(response.charge, 'f', 2, 64)).
		with("X-Ms-Activity-Id", e.activityID(r)).
		with("Date", e.date())
	header, values := w.Header(), make([]string, len(response.header))
	for i, h := range response.header {
		values[i] = h.value
		header[h.name] = values[i : i+1 : i+1]
	}
	header["X-Ms-Version"] = protocolVersion
	header["X-Ms-Gatewayversion"] = gatewayVersion
	if len(response.body) > 0 {
		header["Content-Type"] = jsonContent
	}
	w.WriteHeader(response.status)
	w.Write(response.body)
}

var (
	protocolVersion = []string{"2020-11-05"}
	gatewayVersion  = []string{"version=cosmosblog"}
	jsonContent     = []string{"application/json"}
)

// dateHeader is the header Date of a second.
type dateHeader struct {
	second int64
	text   string
}

// date returns the header Date, which all responses of a second share.
func (e *Engine) date() string {
	now := e.options.Now()
	if last := e.lastDate.Load(); last != nil && last.second == now.Unix() {
		return last.text
	}
	date := &dateHeader{now.Unix(), now.UTC().Format(http.TimeFormat)}
	e.lastDate.Store(date)
	return date.text
}

func (e *Engine) activityID(r *http.Request) string {
	if id := r.Header.Get("X-Ms-Activity-Id"); id != "" && len(id) <= 64 {
		return id
	}
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, e.nextSerial()))
}

func (e *Engine) serve(r *http.Request) (*response, error) {
	t, err := parseTarget(r.URL.EscapedPath())
	if err != nil {
		return nil, err
	}
	var pattern [64]byte
	handle, err := route(r.Method, t.appendPattern(pattern[:0]))
	if err != nil {
		return nil, err
	}
	if err := e.authorize(r, t); err != nil {
		return nil, err
	}
	req := &request{Request: r, target: t, engine: e}
	if err := req.checkHeaders(); err != nil {
		return nil, err
	}
	if req.body, err = readBody(r); err != nil {
		return nil, err
	}
	e.gate.RLock()
	defer e.gate.RUnlock()
	if e.closed {
		return nil, errorf(http.StatusServiceUnavailable, 0, "The engine is closed.")
	}
	if limit := e.options.MetadataReads; limit > 0 && req.isMetadataRead() {
		if wait := e.metadata.admit(limit, e.options.Now()); wait > 0 {
			return refusal(wait), errMetadataThrottled
		}
	}
	if err := req.resolve(); err != nil {
		return nil, err
	}
	answer, err := req.answer(handle)
	if answer != nil && len(req.kinds) > 2 {
		// SDKs store session tokens under these two values.
		answer.with("X-Ms-Alt-Content-Path", req.container.link).with("X-Ms-Content-Path", req.container.rid)
	}
	return answer, err
}

// answer calls the handler of a request, and throttles it if the engine does.
func (r *request) answer(handle handler) (*response, error) {
	bucket, err := r.bucket()
	if err != nil {
		return nil, err
	}
	if r.isChargedTwice() {
		handle = handle.chargedTwice()
	}
	if r.engine.options.Throughput > 0 && r.Context().Value(unthrottled{}) == nil {
		return r.throttled(handle, bucket)
	}
	return handle(r)
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

// errorResponse converts an error to a response. Engine failures are logged and returned without
// their cause.
func errorResponse(r *http.Request, partial *response, err error) *response {
	rejection, ok := errors.AsType[*Error](err)
	if !ok {
		if ctxErr := r.Context().Err(); ctxErr != nil {
			rejection = errorf(http.StatusRequestTimeout, 0, "The client cancelled the request.")
		} else {
			slog.Error("embedded engine", "method", r.Method, "path", r.URL.Path, "error", err)
			rejection = errFailed
		}
	}
	response := &response{status: rejection.Status, charge: metadataCharge}
	if partial != nil {
		response.charge, response.header = partial.charge, partial.header
	}
	if rejection.Substatus != 0 {
		response.with("X-Ms-Substatus", fmt.Sprint(rejection.Substatus))
	}
	body := append([]byte(`{"code":"`), rejection.code()...)
	body = value.AppendString(append(body, `","message":`...), rejection.Message)
	response.body = append(body, '}')
	return response
}
