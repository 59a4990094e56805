package graphqlws

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"
)

// connection is a connection of a client. One goroutine reads, one closes, one sends pings, and
// each operation has one.
//
// Its end is the end of ctx, with a closing as the cause. The library closes a connection abruptly,
// without a close frame, if the context of a read or write ends. So contexts of reads and writes
// never descend from ctx.
type connection struct {
	handler *Handler
	socket  *websocket.Conn
	network net.Conn // below socket, to set deadlines
	ctx     context.Context
	end     func(closing) // only the first call has an effect

	goroutines sync.WaitGroup
	running    chan struct{} // has an element for each goroutine of an operation

	// turn is held to send a message, by sending to the channel. A mutex would be as good, but
	// testing/synctest does not advance the time while a goroutine waits for one.
	turn chan struct{}
	live map[string]*operation // by id; whoever has the turn may use it

	// The reader alone uses these.
	initTimer  *time.Timer
	expiry     *time.Timer
	isInit     bool
	operations context.Context     // of operations; nil before connection_ack
	readTime   graphql.TraceTiming // of the current message
}

// serve serves the connection until all its goroutines have ended.
func (c *connection) serve() {
	c.goroutines.Go(c.close)
	c.goroutines.Go(c.ping)
	defer c.goroutines.Wait()
	defer c.end(errInternal) // has an effect only if Panicked panics
	c.initTimer = time.AfterFunc(cmp.Or(c.handler.Limits.InitTime, defaultInitTime), func() { c.end(errInitTimeout) })
	c.read()
	c.initTimer.Stop()
	if c.expiry != nil {
		c.expiry.Stop()
	}
}

// close waits for the end of the connection, and then closes it. It waits for the client's close
// frame for at most CloseTime.
func (c *connection) close() {
	var draining <-chan struct{}
	if c.handler.Draining != nil {
		draining = c.handler.Draining(c.ctx)
	}
	select {
	case <-c.ctx.Done():
	case <-draining:
		c.end(errStopping)
	}
	how, ok := errors.AsType[closing](context.Cause(c.ctx))
	if !ok { // the end of the request's context
		how = errStopping
	}
	c.network.SetDeadline(time.Now().Add(cmp.Or(c.handler.Limits.CloseTime, defaultCloseTime)))
	c.socket.Close(how.code, how.reason)
}

// ping sends ping frames until the connection ends, and ends it if the client does not answer.
func (c *connection) ping() {
	every := c.handler.Limits.Ping
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*every)
		err := c.socket.Ping(ctx) // returns when the reader has received the pong
		cancel()
		if err != nil {
			c.end(errGone)
			return
		}
	}
}

// read handles the messages of the client until the connection ends.
func (c *connection) read() {
	defer func() {
		if value := recover(); value != nil {
			c.handler.Panicked(c.ctx, value)
			c.end(errInternal)
		}
	}()
	for c.ctx.Err() == nil {
		text, ok := c.receive()
		if !ok {
			return // the library discards what follows until the close frame
		}
		message, ok := c.handler.Parse(text)
		c.readTime.End = graphql.Now()
		if !ok {
			c.end(errJSON)
			return
		}
		c.handle(message)
	}
}

// chunks are the buffers that messages are read through. A connection has none while it is idle.
var chunks = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// maxInitBytes is the size of a message before the connection is initialised, which a client
// without a token can send: that of the headers of a request.
const maxInitBytes = 32 << 10

// receive returns the next message. It returns false if the connection ends.
func (c *connection) receive() (string, bool) {
	kind, reader, err := c.socket.Reader(context.Background())
	if err != nil {
		c.end(errBroken)
		return "", false
	}
	c.readTime.Start = graphql.Now()
	if kind != websocket.MessageText {
		c.end(errBinary)
		return "", false
	}
	late := time.AfterFunc(c.handler.Limits.MessageTime, func() { c.end(errSlowMessage) })
	defer late.Stop()
	chunk := chunks.Get().(*[4 << 10]byte)
	defer chunks.Put(chunk)
	limit := int64(c.handler.Limits.MessageBytes)
	if !c.isInit {
		limit = min(limit, maxInitBytes)
	}
	var text strings.Builder
	n, err := io.CopyBuffer(&text, io.LimitReader(reader, limit+1), chunk[:])
	switch {
	case err != nil:
		c.end(errBroken)
	case n > limit:
		c.end(errTooLarge)
	}
	return text.String(), err == nil && n <= limit
}

// handle handles a message of the client.
func (c *connection) handle(message map[string]any) {
	switch message["type"] {
	case "connection_init":
		c.init(message)
	case "ping":
		c.pong(message)
	case "pong":
		var payload map[string]any
		if !member(message, "payload", &payload) {
			c.end(errPayload)
		}
	case "subscribe":
		c.subscribe(message)
	case "complete":
		c.complete(message)
	default:
		c.end(errType)
	}
}

// init handles connection_init.
func (c *connection) init(message map[string]any) {
	if c.isInit {
		c.end(errSecondInit)
		return
	}
	c.isInit = true
	c.initTimer.Stop()
	var payload map[string]any
	if !member(message, "payload", &payload) {
		c.end(errPayload)
		return
	}
	ctx, until, err := c.handler.Init(c.ctx, payload)
	if err != nil {
		c.end(refused(err))
		return
	}
	if !until.IsZero() {
		left := time.Until(until)
		if left <= 0 {
			c.end(errExpired)
			return
		}
		c.expiry = time.AfterFunc(left, func() { c.end(errExpired) })
	}
	c.operations = ctx
	c.send(connectionAck)
}

// pong answers a ping message. While the client does not read the answer, no other message is
// handled, so answers do not accumulate.
func (c *connection) pong(message map[string]any) {
	var payload map[string]any
	ok := member(message, "payload", &payload)
	answer, err := pong(payload)
	if !ok || err != nil {
		c.end(errPayload)
		return
	}
	c.send(answer)
}

// send sends a message when it has the turn.
func (c *connection) send(message []byte) {
	c.turn <- struct{}{}
	defer c.release()
	c.write(context.Background(), message)
}

// release gives back the turn.
func (c *connection) release() { <-c.turn }

// write sends a message. The caller must have the turn. The wait for the turn is not part of
// WriteTime, because it depends on other operations. If the message cannot be sent before ctx ends,
// write ends the connection and returns an error.
func (c *connection) write(ctx context.Context, message []byte) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.handler.Limits.WriteTime, defaultWriteTime))
	defer cancel()
	err := c.socket.Write(ctx, websocket.MessageText, message)
	if err != nil {
		c.end(errGone)
	}
	return err
}
