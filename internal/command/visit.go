package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// socketEndpoint stands for the engine of a folder's owner. Nothing looks the name up (RFC 6761, section 6.4).
const socketEndpoint = "http://data-folder-owner.invalid"

// visit is the use of a data folder that another process owns.
type visit struct {
	path      string
	owner     owner
	transport *socketTransport
}

// An owner that starts has the folder before it answers: opening the engine after a crash reads its log. One that ends
// stops answering before it gives the folder up.
const (
	visitPatience = 30 * time.Second
	visitInterval = 50 * time.Millisecond
)

// findDataFolder takes the folder or, where another process owns it, visits that. One of folder and v is nil.
// Errors are sentences.
func findDataFolder(ctx context.Context, path string) (folder *dataFolder, v *visit, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	patient, cancel := context.WithTimeout(ctx, visitPatience)
	defer cancel()
	for {
		folder, err = ownDataFolder(path)
		if !errors.Is(err, errLocked) {
			return folder, nil, err
		}
		if v, err = visitDataFolder(patient, path); err == nil {
			return nil, v, nil
		}
		select {
		case <-patient.Done():
			return nil, nil, fmt.Errorf("another process owns the data folder %s and does not answer: %w", path, err)
		case <-time.After(visitInterval):
		}
	}
}

// visitDataFolder finds the owner and asks it for a sign of life.
func visitDataFolder(ctx context.Context, path string) (*visit, error) {
	transport, err := newSocketTransport(path)
	if err != nil {
		return nil, err
	}
	if err := transport.ping(ctx); err != nil {
		transport.close()
		return nil, err
	}
	// The owner said who it is before it answered.
	o, err := readOwner(path)
	if err != nil {
		transport.close()
		return nil, err
	}
	return &visit{path, o, transport}, nil
}
