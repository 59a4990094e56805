package graphqlws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"

	"cosmosblog/api/strictjson"
)

// limits has times that no test reaches.
var limits = Limits{
	MessageBytes: 2000,
	Operations:   2,
	InitTime:     time.Hour,
	MessageTime:  time.Hour,
	WriteTime:    time.Hour,
	CloseTime:    time.Hour,
	Ping:         time.Hour,
}

// fake is a Handler, and the handler of the server around it. It counts what runs.
type fake struct {
	Handler
	served     sync.WaitGroup // ServeHTTP
	operations sync.WaitGroup // Operate
	draining   chan struct{}
	panics     chan any
	refused    error     // of Init
	until      time.Time // of Init
	ended      chan struct{}
	asked      atomic.Int64 // responses of floods

	requests context.Context // of all requests
	abandon  context.CancelFunc
}

func newFake() *fake {
	f := &fake{draining: make(chan struct{}), panics: make(chan any, 10), ended: make(chan struct{}, 1000)}
	f.requests, f.abandon = context.WithCancel(context.Background())
	f.Handler = Handler{
		Parse: func(text string) (map[string]any, bool) {
			value, err := strictjson.Parse(text)
			object, ok := value.(map[string]any)
			return object, ok && err == nil
		},
		Init: func(ctx context.Context, payload map[string]any) (context.Context, time.Time, error) {
			if payload["panic"] != nil {
				panic("init")
			}
			return context.WithValue(ctx, userKey{}, payload["user"]), f.until, f.refused
		},
		Operate:  f.operate,
		TooMany:  func() []byte { return []byte(`["too many"]`) },
		Draining: func(context.Context) <-chan struct{} { return f.draining },
		Panicked: func(_ context.Context, value any) []byte {
			f.panics <- value
			return []byte(`["panic"]`)
		},
		Refuse: func(w http.ResponseWriter, _ *http.Request, status int) {
			w.Header().Set("Refused", strconv.Itoa(status))
			w.WriteHeader(status)
		},
		Limits: limits,
	}
	return f
}

type userKey struct{}

// operate is an Operate whose query says what it does.
func (f *fake) operate(ctx context.Context, params *graphql.RawParams, documentID string, nextIn func(context.Context, []byte) error) []byte {
	f.operations.Add(1)
	defer f.operations.Done()
	next := func(response []byte) error { return nextIn(context.Background(), response) }
	if documentID != "" {
		next([]byte(strconv.Quote(documentID)))
		return nil
	}
	switch params.Query {
	case "none":
	case "two":
		if err := errors.Join(next([]byte(`1`)), next([]byte(`2`))); err != nil {
			panic(err)
		}
	case "errors":
		next([]byte(`1`))
		return []byte(`["no"]`)
	case "panic":
		panic("operation")
	case "wait":
		next([]byte(`1`))
		<-ctx.Done()
		if next([]byte(`2`)) == nil {
			panic("sent a response after the end")
		}
		f.ended <- struct{}{}
		return []byte(`["late"]`)
	case "flood":
		for err := error(nil); err == nil; {
			f.asked.Add(1)
			err = next([]byte(`"` + strings.Repeat("x", 10_000) + `"`))
		}
	case "aborted": // after a second, although WriteTime may be longer
		sending, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		for err := error(nil); err == nil; {
			err = nextIn(sending, []byte(`"`+strings.Repeat("x", 10_000)+`"`))
		}
	case "repeat":
		for range 20 { // more would fill the buffers of TCP, which the client must then read
			next([]byte(`"` + params.OperationName + `"`))
		}
		<-ctx.Done()
	case "user":
		text, _ := json.Marshal(ctx.Value(userKey{}))
		next(text)
	default:
		text, _ := json.Marshal(params)
		next(text)
	}
	return nil
}

// ServeHTTP serves a connection, behind a ResponseWriter that the project's middleware could have
// wrapped.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.served.Add(1)
	defer f.served.Done()
	f.Handler.ServeHTTP(wrapper{w}, r.WithContext(f.requests))
}

type wrapper struct{ http.ResponseWriter }

func (w wrapper) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// client is a client without any knowledge of the protocol.
type client struct {
	*testing.T
	socket *websocket.Conn
}

// connect starts a server of the fake and connects a client. When the test ends, the server must
// have no connection left.
func connect(t *testing.T, f *fake, protocols ...string) client {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(func() {
		server.Close()
		f.served.Wait()
		f.operations.Wait()
	})
	return dial(t, server.URL, &websocket.DialOptions{HTTPClient: server.Client(), Subprotocols: protocols})
}

func dial(t *testing.T, url string, options *websocket.DialOptions) client {
	t.Helper()
	socket, _, err := websocket.Dial(t.Context(), url, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.CloseNow() })
	return client{t, socket}
}

// do performs the steps of a conversation. A line is a message of the client after ">", a message
// of the server after "<", and the code and reason of the server's close frame after "x".
func (c client) do(steps ...string) {
	c.Helper()
	for _, step := range steps {
		what, text, _ := strings.Cut(step, " ")
		switch what {
		case ">":
			c.send(text)
		case "<":
			if got := c.receive(); got != text {
				c.Fatalf("received %s, want %s", got, text)
			}
		case "x":
			c.closed(text)
		default:
			c.Fatalf("unknown step %q", step)
		}
	}
}

func (c client) send(text string) {
	c.Helper()
	if err := c.socket.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		c.Fatal(err)
	}
}

func (c client) receive() string {
	c.Helper()
	_, text, err := c.socket.Read(context.Background())
	if err != nil {
		c.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// closed checks that the server closes the connection, with a code and reason.
func (c client) closed(want string) {
	c.Helper()
	_, text, err := c.socket.Read(context.Background())
	got, ok := errors.AsType[websocket.CloseError](err)
	if !ok {
		c.Fatalf("received %s, %v; want %s", text, err, want)
	}
	if text := fmt.Sprintf("%d %s", got.Code, got.Reason); text != want {
		c.Fatalf("closed with %s, want %s", text, want)
	}
}
