package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"cosmosblog/guard/httpserver"
	"cosmosblog/internal/lifecycle"
)

// maxSocketPath is the longest name of a socket on all systems, in bytes. The system's field for
// it has 104 bytes on macOS and 108 on Linux (unix(7)), with a 0 at the end.
const maxSocketPath = 103

// socketFolder returns a name of the folder that is short enough for the name of the socket: its
// path, or a link to it in a private folder. cleanup removes that folder.
func socketFolder(path string) (short string, cleanup func(), err error) {
	if len(filepath.Join(path, socketName)) <= maxSocketPath {
		return path, func() {}, nil
	}
	private, err := os.MkdirTemp("", "cosmosblog-")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() { os.RemoveAll(private) }
	short = filepath.Join(private, "f")
	if err := os.Symlink(path, short); err != nil {
		cleanup()
		return "", nil, err
	}
	return short, cleanup, nil
}

// listenOnSocket listens on the folder's socket. Only the user of this process may connect. A
// socket that exists is left over from a process that died, because this process holds the lock.
func (f *folder) listenOnSocket() (net.Listener, error) {
	if err := os.Remove(f.file(socketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, folderError(f.path, err)
	}
	short, cleanup, err := socketFolder(f.path)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	listener, err := net.Listen("unix", filepath.Join(short, socketName))
	if err != nil {
		return nil, fmt.Errorf("the data folder %s cannot hold a socket: %w", f.path, err)
	}
	// Close would unlink the short name, which may no longer exist by then; serveSocket removes the
	// socket.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Chmod(f.file(socketName), 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// serveSocket runs a server on the folder's socket until r closes.
func (f *folder) serveSocket(r *lifecycle.Runner, server httpserver.Server) error {
	listener, err := f.listenOnSocket()
	if err != nil {
		return err
	}
	r.OnClose(func() error {
		os.Remove(f.file(socketName)) // if that fails, the next owner removes it
		return nil
	})
	r.Go("data folder's socket", func(ctx context.Context) error { return server.Serve(ctx, listener) })
	return nil
}

// socketTransport sends requests to the engine of the process that owns a data folder. It is a
// policy.Transporter.
type socketTransport struct {
	client  http.Client
	cleanup func()
}

// newSocketTransport returns a transport to a folder's socket. It connects for the first
// request, and connects again when another process becomes the owner.
func newSocketTransport(path string) (*socketTransport, error) {
	short, cleanup, err := socketFolder(path)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", filepath.Join(short, socketName))
	}
	transport := &http.Transport{
		DialContext:         dial,
		DisableCompression:  true, // both ends are on the same machine
		MaxIdleConns:        maxIdleConnections,
		MaxIdleConnsPerHost: maxIdleConnections,
		// Less than the owner's idle time, so that no request meets a connection that the owner is
		// closing.
		IdleConnTimeout: time.Minute,
	}
	return &socketTransport{http.Client{Transport: transport}, cleanup}, nil
}

const maxIdleConnections = 256

// Do sends a request once.
func (t *socketTransport) Do(request *http.Request) (*http.Response, error) {
	response, err := t.client.Do(request)
	if err != nil {
		return nil, socketError{err}
	}
	return response, nil
}

// ping checks that the owner answers. The request is not signed; any answer will do.
func (t *socketTransport) ping(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ownerEndpoint, nil)
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
	t.cleanup()
}

// socketError is a failed request. azcore does not retry it, because it may have been executed;
// the store retries the requests that are safe to repeat.
type socketError struct{ error }

// NonRetriable marks the error for azcore (errorinfo.NonRetriable).
func (socketError) NonRetriable() {}

func (e socketError) Unwrap() error { return e.error }
