package datafolder

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cosmosblog/guard/httpserver"
)

// wakeupsPath is the path of the wake-ups of a container, on the folder's socket. The names of the
// database and the container follow. The answer is a stream that gets a byte after each write to
// the container, or after several. It begins with a byte, because there may have been writes
// before.
const wakeupsPath = "/wakeups/"

const (
	// wakeupTimeout is the time in which a process must receive a wake-up.
	wakeupTimeout = 10 * time.Second
	// reconnectAfter is the pause before a process asks for wake-ups again, after the stream ended.
	reconnectAfter = 500 * time.Millisecond
)

// serveWakeups answers with the wake-ups of a container until the client disconnects or the server
// stops. It answers 404 if there is no such container.
func (e *Engine) serveWakeups(w http.ResponseWriter, r *http.Request, watched string) {
	database, container, _ := strings.Cut(watched, "/")
	written, stop, err := e.engine.Watch(database, container)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer stop()
	stream := http.NewResponseController(w)
	stream.SetReadDeadline(time.Time{}) // of the request; when it passes, the context would end
	for {
		stream.SetWriteDeadline(time.Now().Add(wakeupTimeout))
		if _, err := w.Write([]byte{'\n'}); err != nil || stream.Flush() != nil {
			return
		}
		select {
		case <-written:
		case <-httpserver.Draining(r.Context()):
			return
		case <-r.Context().Done():
			return
		}
	}
}

// watch is Database.Watch for an engine of another process. If the stream ends, it begins again,
// also with the next owner of the folder.
func (c *ownerClient) watch(database, container string) (written <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signal := make(chan struct{}, 1)
	go func() {
		for ctx.Err() == nil {
			c.receiveWakeups(ctx, database, container, signal)
			select {
			case <-time.After(reconnectAfter):
			case <-ctx.Done():
			}
		}
	}()
	return signal, cancel
}

// receiveWakeups signals wake-ups until the stream ends.
func (c *ownerClient) receiveWakeups(ctx context.Context, database, container string, signal chan<- struct{}) {
	path := wakeupsPath + url.PathEscape(database) + "/" + url.PathEscape(container)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ownerEndpoint+path, nil)
	if err != nil {
		return
	}
	response, err := c.transport.client.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	buffer := make([]byte, 256)
	for response.StatusCode == http.StatusOK {
		n, err := response.Body.Read(buffer)
		if n > 0 {
			select {
			case signal <- struct{}{}:
			default: // a signal is pending
			}
		}
		if err != nil {
			break
		}
	}
	io.Copy(io.Discard, response.Body)
}
