package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/api/subscription"
	"cosmosblog/guard/auth"
	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/request"
)

// serveEvents answers a subscription with server-sent events, by the protocol graphql-sse in its
// mode of distinct connections. An event has the cursor of its answer as `id`, and the browser
// sends the last one as Last-Event-ID when it connects again. A stream that begins now first has
// an id alone, for a client that is disconnected before the first event: by the HTML standard
// (section 9.2.6, "dispatch the event"), it sets the last event ID, and no event is dispatched. The
// stream ends without `complete` if the server stops or the token expires: the client then connects
// again.
func (t transport) serveEvents(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	token, _ := bearerToken(r.Header.Get("Authorization"))
	ctx := request.With(r.Context(), func(q *request.Request) { q.LastEventID = r.Header.Get("Last-Event-ID") })
	ctx, cancel := untilExpiry(ctx, auth.ExpiryOf(token))
	var beating sync.WaitGroup
	defer func() { // nothing may be written after the handler has returned
		cancel()
		beating.Wait()
	}()
	header := w.Header()
	header["Content-Type"] = []string{eventStreamType}
	header.Set("X-Accel-Buffering", "no") // nginx would keep events back
	w.WriteHeader(http.StatusOK)
	events := newEventWriter(w)
	if events.write(context.Background(), "", "", nil) != nil {
		return
	}
	beating.Go(func() { events.beat(ctx, cancel) })
	refused, err := t.subscriptions.Run(ctx, params, arrivalOf(ctx).endProgress, func(ctx context.Context, m subscription.Message) error {
		if len(m.Body) == 0 {
			return events.write(ctx, "", m.Cursor, nil)
		}
		return events.write(ctx, "next", m.Cursor, m.Body)
	})
	if len(refused) > 0 {
		answer := t.encode(jsonType, executedStatus, response{errors: refused})
		err = events.write(context.Background(), "next", "", answer.body)
	}
	if err == nil {
		_ = events.write(context.Background(), "complete", "", nil) // fails if the client has disconnected
	}
}

// answerBegin and answerEnd are around the answer of an operation that has only one, in an event
// stream: the protocol has event streams for all operations, and for errors of a document.
const (
	answerBegin = "event: next\ndata: "
	answerEnd   = "\n\nevent: complete\ndata: \n\n"
)

// untilExpiry returns a context that ends at a time (zero: never).
func untilExpiry(ctx context.Context, expires time.Time) (context.Context, context.CancelFunc) {
	if expires.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, expires)
}

// eventTimeout is the time in which a client must accept an event.
const eventTimeout = 10 * time.Second

// heartbeat is the time between two signs that show both ends, and proxies, that the other one is
// there. Proxies close connections that are silent for 30 to 60 seconds.
const heartbeat = 12 * time.Second

// eventWriter writes server-sent events to a response. It may be used concurrently.
type eventWriter struct {
	control *http.ResponseController
	w       http.ResponseWriter
	failed  error         // of the first write that failed
	turn    chan struct{} // has an element while somebody writes; not a mutex, because of testing/synctest
}

// newEventWriter returns the writer of a response whose header was written. From now on, the
// request has no read deadline: when that passes, its context would end.
func newEventWriter(w http.ResponseWriter) *eventWriter {
	e := &eventWriter{control: http.NewResponseController(w), w: w, turn: make(chan struct{}, 1)}
	e.control.SetReadDeadline(time.Time{})
	return e
}

// write writes an event with an id, which may be empty, and data without line breaks. Without the
// name of an event, it writes the id alone, or a comment. Error: if ctx ends, the client has
// disconnected, or it accepts nothing for ten seconds. All later writes fail, too.
func (e *eventWriter) write(ctx context.Context, event, id string, data []byte) error {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	if e.failed == nil {
		e.failed = e.tryWrite(ctx, event, id, data)
	}
	return e.failed
}

func (e *eventWriter) tryWrite(ctx context.Context, event, id string, data []byte) error {
	if err := e.control.SetWriteDeadline(time.Now().Add(eventTimeout)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { e.control.SetWriteDeadline(past) })
	defer stop()
	prefix := ":"
	switch {
	case event == "" && id != "":
		prefix = "id: " + id
	case event != "" && id != "":
		prefix = "event: " + event + "\nid: " + id + "\ndata: "
	case event != "":
		prefix = "event: " + event + "\ndata: "
	}
	for _, part := range [][]byte{[]byte(prefix), data, []byte("\n\n")} { // data may be large: it is not copied
		if _, err := e.w.Write(part); err != nil {
			return err
		}
	}
	return e.control.Flush()
}

// beat writes a comment at times until ctx ends. If that fails, or the server begins to stop, it
// calls end.
func (e *eventWriter) beat(ctx context.Context, end func()) {
	defer end()
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	draining := httpserver.Draining(ctx)
	for {
		select {
		case <-ticker.C:
		case <-draining:
			return
		case <-ctx.Done():
			return
		}
		if e.write(context.Background(), "", "", nil) != nil {
			return
		}
	}
}
