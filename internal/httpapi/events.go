package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/internal/auth"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/internal/stream"
)

const eventStreamType = "text/event-stream"

// acceptsEvents reports whether the client of a request understands server-sent events.
func acceptsEvents(r *http.Request) bool {
	return strings.Contains(strings.Join(r.Header["Accept"], ","), eventStreamType)
}

// acceptsOnlyEvents reports whether the client of a request understands nothing else.
func acceptsOnlyEvents(r *http.Request) bool {
	return len(r.Header["Accept"]) == 1 && r.Header["Accept"][0] == eventStreamType
}

// serveEvents answers a subscription with server-sent events, by the protocol graphql-sse in its
// mode of distinct connections. An event has the cursor of its answer as `id`, and the browser
// sends the last one as Last-Event-ID when it connects again. The stream ends without `complete` if
// the server stops or the token expires: the client then connects again.
func (t transport) serveEvents(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) {
	token, _ := bearerToken(r.Header.Get("Authorization"))
	ctx, cancel := untilEnd(r.Context(), auth.ExpiryOf(token))
	defer cancel()
	events := stream.NewEvents(w)
	header := w.Header()
	header["Content-Type"] = []string{eventStreamType}
	header.Set("X-Accel-Buffering", "no") // nginx would keep events back
	w.WriteHeader(http.StatusOK)
	if events.Write("", "", nil) != nil {
		return
	}
	s, errs := t.subscribe(ctx, params, r.Header.Get("Last-Event-ID"))
	if len(errs) > 0 {
		answer := t.encode(jsonType, executedStatus, response{errors: errs})
		if events.Write("next", "", answer.body) == nil {
			events.Write("complete", "", nil)
		}
		return
	}
	defer s.close()
	go beat(ctx, cancel, events)
	for {
		m, err := s.next(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil { // the end
			events.Write("complete", "", nil)
			return
		}
		if events.Write("next", m.cursor, m.body) != nil {
			return
		}
	}
}

// untilEnd returns a context of a subscription's client. It ends with the client's connection, when
// the token expires (zero: never), or when the server begins to stop.
func untilEnd(ctx context.Context, expires time.Time) (context.Context, context.CancelFunc) {
	draining := lifecycle.Draining(ctx)
	var cancel context.CancelFunc
	if expires.IsZero() {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithDeadline(ctx, expires)
	}
	go func() {
		select {
		case <-draining:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// heartbeat is the time between two signs that show both ends, and proxies, that the other one is
// there. Proxies close connections that are silent for 30 to 60 seconds.
const heartbeat = 12 * time.Second

// beat writes a comment at times until ctx ends. If that fails, it calls fail.
func beat(ctx context.Context, fail func(), events *stream.Events) {
	for sleep(ctx, heartbeat) == nil {
		if events.Write("", "", nil) != nil {
			fail()
		}
	}
}
