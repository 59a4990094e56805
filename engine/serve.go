package engine

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"cosmosblog/engine/value"
)

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
