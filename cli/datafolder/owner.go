package datafolder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cosmosblog/internal/files"
)

// ownerEndpoint is the endpoint of the owner's engine. No request resolves its name (RFC 6761,
// section 6.4).
const ownerEndpoint = "http://data-folder-owner.invalid"

// ownerClient is the connection to the process that owns a data folder.
type ownerClient struct {
	path      string
	owner     owner
	transport *socketTransport
}

// The wait for an owner that holds the lock but does not answer. An owner that starts after a
// crash replays the engine's log before it answers. An owner that stops no longer answers while
// it closes the engine.
const (
	ownerTimeout  = 30 * time.Second
	ownerInterval = 50 * time.Millisecond
)

// find locks a folder or, if another process owns it, connects to that process. One of the
// results is nil.
func find(ctx context.Context, path string) (*folder, *ownerClient, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	for {
		f, err := own(path)
		if !errors.Is(err, files.ErrLocked) {
			return f, nil, err
		}
		client, err := connect(ctx, path)
		if err == nil {
			return nil, client, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, fmt.Errorf(
				"another process owns the data folder %s and does not answer: %w", path, err)
		case <-time.After(ownerInterval):
		}
	}
}

// connect connects to the owner of a folder and checks that it answers.
func connect(ctx context.Context, path string) (*ownerClient, error) {
	transport, err := newSocketTransport(path)
	if err != nil {
		return nil, err
	}
	if err := transport.ping(ctx); err != nil {
		transport.close()
		return nil, err
	}
	// The owner has written this file before it answers.
	o, err := readOwner(path)
	if err != nil {
		transport.close()
		return nil, err
	}
	return &ownerClient{path, o, transport}, nil
}

// ownedError returns the error of a command that needs the folder for itself.
func ownedError(path string) error {
	if o, err := readOwner(path); err == nil {
		return fmt.Errorf("process %d owns the data folder %s: "+
			"stop it first, or name another folder with --data", o.PID, path)
	}
	return fmt.Errorf("another process owns the data folder %s: "+
		"stop it first, or name another folder with --data", path)
}
