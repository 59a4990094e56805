package stream

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// eventTimeout is the time in which a client must accept an event.
const eventTimeout = 10 * time.Second

// Events writes server-sent events to a response. It may be used concurrently.
type Events struct {
	control *http.ResponseController
	mu      sync.Mutex
	w       http.ResponseWriter
}

// NewEvents returns the writer of a response whose header is set. From now on, the request has no
// read deadline: when that passes, its context would end.
func NewEvents(w http.ResponseWriter) *Events {
	e := &Events{control: http.NewResponseController(w), w: w}
	e.control.SetReadDeadline(time.Time{})
	return e
}

// Write writes an event with an id, which may be empty, and data without line breaks. Without the
// name of an event, it writes a comment. Error: if the client has disconnected, or accepts nothing
// for ten seconds.
func (e *Events) Write(event, id string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var text bytes.Buffer
	if event == "" {
		text.WriteString(":\n\n")
	} else {
		text.WriteString("event: " + event + "\n")
		if id != "" {
			text.WriteString("id: " + id + "\n")
		}
		text.WriteString("data: ")
		text.Write(data)
		text.WriteString("\n\n")
	}
	if err := e.control.SetWriteDeadline(time.Now().Add(eventTimeout)); err != nil {
		return err
	}
	if _, err := e.w.Write(text.Bytes()); err != nil {
		return err
	}
	return e.control.Flush()
}
