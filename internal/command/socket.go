package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"cosmosblog/internal/limits"
)

// maxSocketPath is how long the name of a socket may be everywhere: the field for it has 104 bytes on macOS, 108 on
// Linux (unix(7)), the last of them 0.
const maxSocketPath = 103

// shortFolder gives a name of the folder that leaves room for a socket in it: its own, or a link to it in a private
// folder. forget removes what was made.
func shortFolder(path string) (short string, forget func(), err error) {
	if len(filepath.Join(path, socketName)) <= maxSocketPath {
		return path, func() {}, nil
	}
	private, err := os.MkdirTemp("", "cosmosblog-")
	if err != nil {
		return "", nil, err
	}
	forget = func() { os.RemoveAll(private) }
	short = filepath.Join(private, "f")
	if err := os.Symlink(path, short); err != nil {
		forget()
		return "", nil, err
	}
	return short, forget, nil
}

// listenOnSocket listens on the folder's socket, which only the owner of this process may open. A socket that is there
// is of a process that died: the folder's lock is ours.
func (f *dataFolder) listenOnSocket() (net.Listener, error) {
	if err := os.Remove(f.file(socketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, folderError(f.path, err)
	}
	short, forget, err := shortFolder(f.path)
	if err != nil {
		return nil, err
	}
	defer forget()
	listener, err := net.Listen("unix", filepath.Join(short, socketName))
	if err != nil {
		return nil, fmt.Errorf("the data folder %s cannot hold a socket: %w", f.path, err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // by a name that may be forgotten; serveSocket removes it
	if err := os.Chmod(f.file(socketName), 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// serveSocket answers other processes' requests to the engine until stop is called, which waits for those under way.
func (f *dataFolder) serveSocket(ctx context.Context, engine http.Handler, logger *slog.Logger) (beside context.Context, stop func() error, err error) {
	listener, err := f.listenOnSocket()
	if err != nil {
		return nil, nil, err
	}
	beside, end := Start(ctx, "data folder's socket", func(ctx context.Context) error {
		return ServeHTTP(ctx, listener, engine, limits.Default(), logger)
	})
	return beside, func() error {
		err := end()
		os.Remove(f.file(socketName)) // a stale one would be removed by the next owner
		return err
	}, nil
}

// socketTransport sends requests to the engine of the process that owns a data folder. It is a policy.Transporter.
type socketTransport struct {
	client http.Client
	forget func()
}

// newSocketTransport sends nothing yet: the owner may come and go.
func newSocketTransport(path string) (*socketTransport, error) {
	short, forget, err := shortFolder(path)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", filepath.Join(short, socketName))
	}
	transport := &http.Transport{
		DialContext:         dial,
		DisableCompression:  true, // it is the same machine
		MaxIdleConns:        maxIdleConnections,
		MaxIdleConnsPerHost: maxIdleConnections,
		IdleConnTimeout:     time.Minute, // less than idleTimeout, so that no request meets a connection being closed
	}
	return &socketTransport{http.Client{Transport: transport}, forget}, nil
}

const maxIdleConnections = 256

// Do sends one request, once.
func (t *socketTransport) Do(request *http.Request) (*http.Response, error) {
	response, err := t.client.Do(request)
	if err != nil {
		return nil, socketError{err}
	}
	return response, nil
}

// ping asks the owner for a sign of life. Any answer is one: the request is not signed.
func (t *socketTransport) ping(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, socketEndpoint, nil)
	if err != nil {
		return err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (t *socketTransport) close() {
	t.client.CloseIdleConnections()
	t.forget()
}

// socketError keeps azcore from sending a request again whose outcome is not known; the store knows which it may.
type socketError struct{ error }

// NonRetriable marks the error for azcore (errorinfo.NonRetriable).
func (socketError) NonRetriable() {}

func (e socketError) Unwrap() error { return e.error }
