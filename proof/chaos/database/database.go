// Package database forwards requests to an engine whose process may be down, beside a follower that
// lags behind the engine.
package database

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync/atomic"
	"time"

	"cosmosblog/cosmostest"
)

// Database is the address at which servers and projectors reach the engine. It forwards requests to
// the engine's process. While that is down, it cuts connections.
//
// It can have a follower in this process that lags behind the engine, as a replica of the service
// does. The follower must execute each write exactly as the engine did. An engine with a follower
// must therefore not be killed: the last write that it received would have an unknown outcome.
type Database struct {
	URL     string
	Engine  atomic.Pointer[url.URL] // nil while it is down
	replica *cosmostest.Replica     // nil without a follower
	server  *http.Server
	close   func() error
}

// New listens on a free port. If random is not nil, it opens an empty follower with the key
// of the engine, which must be empty too.
func New(key string, random *rand.Rand, errorLog io.Writer) (*Database, error) {
	d := &Database{close: func() error { return nil }}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			if to := d.Engine.Load(); to != nil {
				r.SetURL(to)
				r.Out.Host = r.In.Host // the engine names it as the account's address, for all further requests
			}
		},
		Transport:    &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(errorLog, "", 0),
	}
	var handler http.Handler = forward
	if random != nil {
		follower, err := cosmostest.Open(cosmostest.Options{Key: key, Random: random, Leader: forward, Replay: withoutDeadline})
		if err != nil {
			return nil, err
		}
		d.close, d.replica, handler = follower.Close, follower.Follower, follower
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.URL = "http://" + listener.Addr().String()
	d.server = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: forward.ErrorLog}
	go d.server.Serve(listener)
	return d, nil
}

var deadline = regexp.MustCompile(`"deadline":[0-9]+`)

// withoutDeadline returns the body of a write for the follower, which executes it later. The
// deadline in it has passed if it had for the engine, and otherwise never passes.
func withoutDeadline(body, answer []byte) []byte {
	to := `"deadline":0`
	if bytes.Contains(answer, []byte(`"TOO_LATE"`)) {
		to = `"deadline":1`
	}
	return deadline.ReplaceAllLiteral(body, []byte(to))
}

// Trail makes the follower lag by random times up to a maximum, until CatchUp.
func (d *Database) Trail(most time.Duration) {
	if d.replica != nil {
		d.replica.Trail(most)
	}
}

// CatchUp ends the lag. It returns the number of reads that were answered from an older state. It
// returns an error if the follower went through other states than the engine, or answered nothing:
// the test then proves nothing.
func (d *Database) CatchUp() (stale int, err error) {
	if d.replica == nil {
		return 0, nil
	}
	d.replica.CatchUp()
	if diverged := d.replica.Diverged(); diverged != "" {
		return 0, errors.New("the follower differs from the engine: " + diverged)
	}
	if stale = d.replica.Stale(); stale == 0 {
		return 0, errors.New("the follower answered no read while it lagged")
	}
	return stale, nil
}

// End closes the address and the follower. The engine goes on.
func (d *Database) End() error {
	return errors.Join(d.server.Shutdown(context.Background()), d.close())
}
