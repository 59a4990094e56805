package telemetry

import (
	"net/http"
	"strconv"
)

// answerWriter records the status and the size of a response.
type answerWriter struct {
	http.ResponseWriter
	status int // 0 until the header is written
	bytes  int // of the body
}

func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *answerWriter) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(body)
	w.bytes += n
	return n, err
}

// Unwrap implements the interface of http.ResponseController.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *answerWriter) statusText() string { return statusText(w.status) }

// statusText returns an HTTP status as a label, for the most frequent ones without an allocation.
func statusText(status int) string {
	switch status {
	case http.StatusOK:
		return "200"
	case http.StatusCreated:
		return "201"
	case http.StatusNotModified:
		return "304"
	}
	return strconv.Itoa(status)
}
