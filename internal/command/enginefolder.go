package command

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"cosmosblog/internal/secretfile"
	"cosmosblog/store/embedded"
)

// engineKey gives the master key that the folder keeps for its engine, so that those who use it through the socket can
// go on when its owner starts anew.
func (f *dataFolder) engineKey() (string, error) {
	key, err := secretfile.Load(f.file(keyName), func() ([]byte, error) {
		random := make([]byte, 64) // as long as an account's
		rand.Read(random)
		return []byte(base64.StdEncoding.EncodeToString(random)), nil
	})
	if err != nil {
		return "", fmt.Errorf("the engine's key: %w", err)
	}
	return string(key), nil
}

// openEngine opens the folder's engine; the options' folder is set here. Errors are sentences.
func (f *dataFolder) openEngine(options embedded.Options) (*embedded.Engine, error) {
	if err := os.MkdirAll(f.file(engineName), 0o700); err != nil { // Pebble would let others read it
		return nil, folderError(f.path, err)
	}
	options.Dir = f.file(engineName)
	engine, err := embedded.Open(options)
	switch {
	case errors.Is(err, embedded.ErrNewerFormat):
		return nil, fmt.Errorf("the data folder %s was written by a newer version of this program: use that one, or another folder", f.path)
	case err != nil:
		return nil, fmt.Errorf("the data folder %s cannot be opened: %w", f.path, err)
	}
	return engine, nil
}

// share lets other processes use the engine, until stop is called. The context that it gives ends with ctx, and also when
// the socket fails.
func (f *dataFolder) share(ctx context.Context, engine *embedded.Engine, logger *slog.Logger) (beside context.Context, stop func() error, err error) {
	if err := f.announce(engine.Key()); err != nil {
		return nil, nil, err
	}
	return f.serveSocket(ctx, engine, logger)
}
