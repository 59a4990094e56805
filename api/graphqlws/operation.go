package graphqlws

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
)

// operation is an operation of a client. It is live until the client completes it, or the server
// sends its last message. Its goroutine ends somewhat later.
type operation struct {
	id     string
	ctx    context.Context
	cancel context.CancelFunc
}

// errCompleted is the error of sending a response of an operation that is not live.
var errCompleted = errors.New("the operation is complete")

// subscribe handles a subscribe message: it starts an operation, in a goroutine of its own.
func (c *connection) subscribe(message map[string]any) {
	id, ok := idOf(message)
	if !ok {
		c.end(errID)
		return
	}
	if c.operations == nil {
		c.end(errUnauthorized)
		return
	}
	params, documentID, ok := paramsOf(message)
	if !ok {
		c.end(errPayload)
		return
	}
	params.ReadTime = c.readTime

	c.turn <- struct{}{}
	inUse, count := c.live[id] != nil, len(c.live)
	c.release()
	switch {
	case inUse:
		c.end(errIDInUse)
	case count >= c.handler.Limits.Operations:
		c.send(frame(id, "error", c.handler.TooMany()))
	default:
		c.start(id, params, documentID)
	}
}

// start starts an operation. It waits while completed operations still run, because a client that
// starts and completes operations could otherwise have any number of goroutines.
func (c *connection) start(id string, params *graphql.RawParams, documentID string) {
	select {
	case c.running <- struct{}{}:
	case <-c.ctx.Done():
		return
	}
	o := &operation{id: id}
	o.ctx, o.cancel = context.WithCancel(c.operations)
	c.turn <- struct{}{}
	c.live[id] = o
	c.release()
	c.goroutines.Go(func() {
		defer func() { <-c.running }()
		defer o.cancel()
		if errs := c.operate(o, params, documentID); len(errs) > 0 {
			c.sendOf(context.Background(), o, "error", errs)
		} else {
			c.sendOf(context.Background(), o, "complete", nil)
		}
	})
}

// operate calls Operate. If it panics, operate returns the errors of Panicked.
func (c *connection) operate(o *operation, params *graphql.RawParams, documentID string) (errs []byte) {
	defer func() {
		if value := recover(); value != nil {
			errs = c.handler.Panicked(o.ctx, value)
		}
	}()
	return c.handler.Operate(o.ctx, params, documentID, func(ctx context.Context, response []byte) error {
		return c.sendOf(ctx, o, "next", response)
	})
}

// sendOf sends a message of an operation, if the operation is live. After a message other than
// next, the operation is not.
//
// The client may use the id again as soon as it has received the last message, or has sent its own
// complete. So the id is free before the last message is sent. As only the owner of the turn sends
// messages and changes live, no message of an earlier operation follows.
func (c *connection) sendOf(ctx context.Context, o *operation, kind string, payload []byte) error {
	c.turn <- struct{}{}
	defer c.release()
	if c.live[o.id] != o {
		return errCompleted
	}
	message := frame(o.id, kind, payload) // now: waiting operations need no memory for it
	if kind != "next" {
		delete(c.live, o.id)
	}
	return c.write(ctx, message)
}

// complete handles the client's complete message. Afterwards, nothing is sent for the operation. An
// id without an operation is ignored: the operation may just have ended.
func (c *connection) complete(message map[string]any) {
	id, ok := idOf(message)
	if !ok {
		c.end(errID)
		return
	}
	c.turn <- struct{}{}
	o := c.live[id]
	delete(c.live, id)
	c.release()
	if o != nil {
		o.cancel()
	}
}
