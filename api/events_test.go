package api_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowClient is the response of a client that accepts the first events late, or not at all.
type slowClient struct {
	http.ResponseWriter
	delay   time.Duration // of the first event
	fails   bool          // the first event
	written strings.Builder
	ended   bool // the handler has returned
	late    int  // writes after the end
}

func (*slowClient) SetReadDeadline(time.Time) error  { return nil }
func (*slowClient) SetWriteDeadline(time.Time) error { return nil }
func (*slowClient) FlushError() error                { return nil }

func (c *slowClient) Write(p []byte) (int, error) {
	if c.ended {
		c.late++
	}
	if strings.HasPrefix(string(p), "event: next") {
		time.Sleep(c.delay)
		if c.fails {
			return 0, errors.New("too slow")
		}
	}
	return c.written.Write(p)
}

const postEvent = "event: next\ndata: {\"data\":{\"postChanged\":{\"title\":\"A title\"}}}\n\n"

// The handler of an event stream waits for its heartbeats. Otherwise, they could be written to the
// next response of the connection. A client that is so slow that a heartbeat waits gets it later.
func TestHeartbeatsEndWithTheirStream(t *testing.T) {
	for _, fails := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, inDevelopment)
			query := url.QueryEscape(`subscription { postChanged(id: "p_aaaaaaaaaaaaaaaaaaaaaaaaaa") { title } }`)
			r := httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1/graphql?query="+query, nil)
			r.Header.Set("Accept", "text/event-stream")
			c := &slowClient{ResponseWriter: httptest.NewRecorder(), delay: 13 * time.Second, fails: fails}
			served := make(chan struct{})
			go func() {
				s.handler.ServeHTTP(c, r)
				c.ended = true
				close(served)
			}()
			time.Sleep(40 * time.Second)
			synctest.Wait()
			want := ":\n\n"
			if !fails {
				want += postEvent + strings.Repeat(":\n\n", 3) // after 13, 24 and 36 seconds
			}
			if got := c.written.String(); got != want || c.ended != fails {
				t.Errorf("fails: %v, ended: %v, got %q, want %q", fails, c.ended, got, want)
			}
			if c.late > 0 {
				t.Errorf("%d writes after the end", c.late)
			}
			if !fails {
				return // the context of the test ends the stream
			}
			<-served
		})
	}
}
