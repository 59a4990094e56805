package graphqlws

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"
)

// pipes is a listener whose connections are pipes without buffers. In a bubble of testing/synctest,
// the time advances when all wait for it.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// serveBubble serves a fake in a bubble, and returns how to connect. When the test ends, the bubble
// fails if a goroutine is left.
func serveBubble(t *testing.T, f *fake) *websocket.DialOptions {
	p := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: f, ReadTimeout: time.Second, WriteTimeout: time.Second, IdleTimeout: time.Second}
	go server.Serve(p)
	t.Cleanup(func() {
		server.Close()
		f.served.Wait()
		f.operations.Wait()
	})
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		p.connections <- theirs
		return ours, nil
	}}
	return &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{subprotocol}}
}

// inBubble runs a test with one connection in a bubble.
func inBubble(t *testing.T, f func() *fake, test func(client, *fake)) {
	synctest.Test(t, func(t *testing.T) {
		f := f()
		test(dial(t, "http://pipe", serveBubble(t, f)), f)
	})
}

// TestTimes has what happens at a time, and what happens only if the client is late.
func TestTimes(t *testing.T) {
	for name, test := range map[string]struct {
		setUp func(*fake)
		do    func(client)
	}{
		"no init": {
			func(f *fake) { f.Limits.InitTime = time.Second },
			func(c client) {
				c.do(`> {"type":"ping"}`, `< {"type":"pong"}`, `x 4408 Connection initialisation timeout`)
			},
		},
		"init in time": {
			func(f *fake) { f.Limits.InitTime = time.Second },
			func(c client) {
				time.Sleep(time.Second - 1)
				c.do(initMessage, ack)
				time.Sleep(time.Minute)
				c.do(subscribe("1", "none"), `< {"id":"1","type":"complete"}`)
			},
		},
		"expiry": {
			func(f *fake) { f.until = time.Now().Add(time.Minute) },
			func(c client) {
				c.do(initMessage, ack, subscribe("1", "wait"), `< {"id":"1","type":"next","payload":1}`, `x 4403 The authorization expired`)
			},
		},
		"expired before": {
			func(f *fake) { f.until = time.Now() },
			func(c client) { c.do(initMessage, `x 4403 The authorization expired`) },
		},
		"half a message": {
			func(f *fake) { f.Limits.MessageTime, f.Limits.MessageBytes = time.Second, 10_000 },
			func(c client) {
				writer, err := c.socket.Writer(c.Context(), websocket.MessageText)
				if err == nil {
					_, err = io.WriteString(writer, strings.Repeat(" ", 5000)) // more than the client's buffer
				}
				if err != nil {
					c.Fatal(err)
				}
				c.do(`x 4408 The message did not arrive in time`)
			},
		},
		"pongs": {
			func(f *fake) { f.Limits.Ping = time.Second },
			func(c client) {
				c.do(initMessage, ack)
				reading := make(chan error)
				go func() {
					_, _, err := c.socket.Read(c.Context())
					reading <- err
				}()
				time.Sleep(time.Hour + time.Second/2) // a ping at the end would meet the close frame in the pipe
				c.send(`{}`)
				if got := websocket.CloseStatus(<-reading); got != 4400 {
					c.Fatalf("closed with %d", got)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func() *fake {
				f := newFake()
				test.setUp(f)
				return f
			}, func(c client, _ *fake) { test.do(c) })
		})
	}
}

// TestClientWithoutPongs checks that a client whose system answers nothing is disconnected.
func TestClientWithoutPongs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.Limits.Ping = 10 * time.Second
		options := serveBubble(t, f)
		pings := 0
		options.OnPingReceived = func(context.Context, []byte) bool {
			pings++
			return pings < 3
		}
		start := time.Now()
		c := dial(t, "http://pipe", options)
		c.do(initMessage, ack, subscribe("1", "wait"), `< {"id":"1","type":"next","payload":1}`, `x 1001 The client does not answer`)
		if passed := time.Since(start); passed != 50*time.Second { // three intervals, and two without an answer
			t.Errorf("closed after %v", passed)
		}
	})
}

// TestSlowReader checks that a client that does not read is disconnected after WriteTime, and that
// until then, nothing is asked for the next response.
func TestSlowReader(t *testing.T) {
	for name, steps := range map[string][]string{
		"one operation":  {subscribe("1", "flood")},
		"two operations": {subscribe("1", "flood"), subscribe("2", "flood")},
		"completed":      {subscribe("1", "flood"), complete("1")},
	} {
		t.Run(name, func(t *testing.T) {
			floods := strings.Count(strings.Join(steps, ""), "flood")
			inBubble(t, func() *fake {
				f := newFake()
				f.Limits.WriteTime = 3 * time.Second
				f.Limits.CloseTime = time.Second
				return f
			}, func(c client, f *fake) {
				c.do(initMessage, ack)
				start := time.Now()
				for _, step := range steps {
					c.do(step)
					synctest.Wait() // until the operation sends
				}
				f.served.Wait()
				if passed := time.Since(start); passed < 3*time.Second || passed > 4*time.Second {
					t.Errorf("disconnected after %v", passed)
				}
				if asked := int(f.asked.Load()); asked < 1 || asked > floods {
					t.Errorf("%d responses were asked for, want at most %d", asked, floods)
				}
			})
		})
	}
}

// TestAbortedSends checks that a client that does not read is disconnected when the context of its
// response ends.
func TestAbortedSends(t *testing.T) {
	inBubble(t, func() *fake {
		f := newFake()
		f.Limits.WriteTime = time.Hour
		f.Limits.CloseTime = time.Second
		return f
	}, func(c client, f *fake) {
		c.do(initMessage, ack)
		start := time.Now()
		c.do(subscribe("1", "aborted"))
		f.served.Wait()
		if passed := time.Since(start); passed < time.Second || passed > 2*time.Second {
			t.Errorf("disconnected after %v", passed)
		}
	})
}

// TestDeafClients checks that a client cannot delay the end of its connection beyond CloseTime.
func TestDeafClients(t *testing.T) {
	header := []byte{0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4} // of a text message of 1 TiB
	for name, data := range map[string][]byte{
		"silent":         nil,
		"half a header":  header[:5],
		"a header":       header,
		"a long message": append(header[:len(header):len(header)], strings.Repeat("x", 5000)...),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.Limits.CloseTime = 2 * time.Second
				connection := rawClient(t, serveBubble(t, f))
				go io.Copy(io.Discard, connection)
				if _, err := connection.Write(data); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				start := time.Now()
				close(f.draining)
				f.served.Wait()
				if passed := time.Since(start); passed > 2*time.Second {
					t.Errorf("the connection ended after %v", passed)
				}
			})
		})
	}
}

// rawClient returns a connection after the handshake.
func rawClient(t *testing.T, options *websocket.DialOptions) io.ReadWriteCloser {
	request, err := http.NewRequestWithContext(t.Context(), "GET", "http://pipe", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}, "Sec-Websocket-Protocol": {subprotocol}}
	response, err := options.HTTPClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response.Body.(io.ReadWriteCloser)
}

// TestGoroutines has many connections that end in every way. The bubble fails if one leaves a
// goroutine.
func TestGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		options := serveBubble(t, f)
		ends := []func(client){
			func(c client) { c.socket.Close(websocket.StatusNormalClosure, "") },
			func(c client) { c.socket.CloseNow() },
			func(c client) { c.do(`> {}`, typeFault) },
			func(c client) { c.do(initMessage, `x 4429 Too many initialisation requests`) },
			func(c client) { c.do(subscribe("1", "none"), `x 4409 Subscriber already exists`) },
			func(c client) {
				c.do(complete("1"), subscribe("1", "panic"), `< {"id":"1","type":"error","payload":["panic"]}`)
			},
			func(client) {},
		}
		go func() {
			for range f.panics {
			}
		}()
		for i := range 140 {
			c := dial(t, "http://pipe", options)
			c.do(initMessage, ack, subscribe("1", "wait"), `< {"id":"1","type":"next","payload":1}`)
			ends[i%len(ends)](c)
			c.socket.CloseNow()
		}
		f.served.Wait()
		close(f.panics)
	})
}

// TestCompletedOperationsThatRun checks that a client cannot have more goroutines than
// Limits.Operations by completing operations that take long to end.
func TestCompletedOperationsThatRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var running, most atomic.Int64
		f.Operate = func(ctx context.Context, _ *graphql.RawParams, _ string, _ func(context.Context, []byte) error) []byte {
			defer running.Add(-1)
			most.Store(max(most.Load(), running.Add(1)))
			<-ctx.Done()
			time.Sleep(time.Second)
			return nil
		}
		c := dial(t, "http://pipe", serveBubble(t, f))
		c.do(initMessage, ack)
		for range 20 {
			c.do(subscribe("1", "slow"), complete("1"))
		}
		c.do(`> {"type":"ping"}`, `< {"type":"pong"}`)
		if most := int(most.Load()); most != limits.Operations {
			t.Errorf("%d operations ran, want %d", most, limits.Operations)
		}
	})
}
