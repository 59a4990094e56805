package command

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"

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

// ownedEngine is the engine of a data folder that this process owns.
type ownedEngine struct {
	*embedded.Engine
	whole context.Context // ends when a file turns out to be damaged, or the disk fails; its cause is a *damageError
	end   context.CancelCauseFunc
}

// openEngine opens the folder's engine; the options' folder is set here. The engine's context ends with ctx. Errors are
// sentences.
func (f *dataFolder) openEngine(ctx context.Context, options embedded.Options) (*ownedEngine, error) {
	if err := os.MkdirAll(f.file(engineName), 0o700); err != nil { // Pebble would let others read it
		return nil, folderError(f.path, err)
	}
	e := &ownedEngine{}
	e.whole, e.end = context.WithCancelCause(ctx)
	options.Dir = f.file(engineName)
	options.Damaged = func(err error) { e.end(&damageError{f.path, err}) }
	var err error
	if e.Engine, err = embedded.Open(options); err != nil {
		e.end(nil)
		return nil, f.openError(err)
	}
	return e, nil
}

// openError says what to do about an engine that does not open.
func (f *dataFolder) openError(err error) error {
	switch {
	case errors.Is(err, embedded.ErrNewerFormat):
		return fmt.Errorf("the data folder %s was written by a newer version of this program: use that one, or another folder", f.path)
	case errors.Is(err, fs.ErrPermission):
		return folderError(f.path, err)
	case errors.Is(err, embedded.ErrDamaged), errors.Is(err, embedded.ErrDisk):
		return &damageError{f.path, err}
	}
	return fmt.Errorf("the data folder %s cannot be opened: %s", f.path, firstLine(err))
}

// Close closes the engine. Error: that the folder is damaged or its disk failed, where that showed; what follows from that is left out.
func (e *ownedEngine) Close() error {
	err := e.Engine.Close()
	damage, damaged := errors.AsType[*damageError](context.Cause(e.whole))
	e.end(nil)
	if damaged {
		return damage
	}
	return err
}

// damageError says that a data folder does not hold what was written to it, or that nothing can be written to it any more.
type damageError struct {
	path  string
	cause error
}

func (e *damageError) Error() string {
	what, kind := firstLine(e.cause), embedded.ErrDamaged
	sentence := "the data folder %s is damaged (%s), and what it holds cannot be trusted: restore it from a backup, or use another folder"
	if errors.Is(e.cause, embedded.ErrDisk) {
		kind = embedded.ErrDisk
		sentence = "the data folder %s can no longer be written (%s): what was acknowledged is in it; make room, or mend the disk, and start again"
	}
	if _, detail, ok := strings.Cut(what, kind.Error()+": "); ok {
		what = detail
	}
	return fmt.Sprintf(sentence, e.path, what)
}

func (e *damageError) Unwrap() error { return e.cause }

// share lets other processes use the engine, until stop is called. The context that it gives ends with that of the engine,
// and also when the socket fails.
func (f *dataFolder) share(engine *ownedEngine, logger *slog.Logger) (beside context.Context, stop func() error, err error) {
	if err := f.announce(engine.Key()); err != nil {
		return nil, nil, err
	}
	return f.serveSocket(engine.whole, f.forVisitors(engine, logger), logger)
}

// forVisitors answers what other processes ask of the owner: requests to the engine, and what an engine has no request
// for. It is served on the folder's socket alone.
func (f *dataFolder) forVisitors(engine *ownedEngine, logger *slog.Logger) http.Handler {
	more := map[string]http.Handler{backupPath: backupHandler{f, engine, logger}, checkPath: checkHandler{engine, logger}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler, ok := more[r.URL.Path]; ok && r.Method == http.MethodPost {
			handler.ServeHTTP(w, r)
			return
		}
		engine.ServeHTTP(w, r)
	})
}
