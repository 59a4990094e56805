package datafolder

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"cosmosblog/engine"
	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/files"
	"cosmosblog/internal/lifecycle"
)

// Engine is the open embedded engine of a data folder that this process owns. It serves Cosmos
// DB's REST protocol.
type Engine struct {
	engine *engine.Engine
	folder *folder
	damage atomic.Pointer[DamageError] // the first, nil while there is none
}

// EngineOptions are the settings of OpenEngine.
type EngineOptions struct {
	Key   string // master key
	Entra bool   // whether it accepts tokens that look like Entra ID's

	Throughput    float64 // RU/s of each container; 0: it never throttles
	MetadataReads int     // in five minutes; 0 is no limit
}

// OpenEngine opens the engine of a data folder until r closes, and serves it to other
// processes through the folder's socket. It creates the folder if it does not exist, and fails if
// another process owns it.
func OpenEngine(r *lifecycle.Runner, path string, o EngineOptions, logger *slog.Logger) (*Engine, error) {
	f, err := own(path)
	if errors.Is(err, files.ErrLocked) {
		return nil, ownedError(path)
	}
	if err != nil {
		return nil, err
	}
	r.OnClose(f.release)
	engine, err := f.openEngine(r, o)
	if err != nil {
		return nil, err
	}
	return engine, f.share(r, engine, logger)
}

// ServeHTTP answers a request to the engine.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.engine.ServeHTTP(w, r) }

// Path returns the full path of the engine's data folder.
func (e *Engine) Path() string { return e.folder.path }

// engineKey returns the engine's master key, which the folder stores. It stays the same when the
// owner restarts, so that processes on the socket can continue.
func (f *folder) engineKey() (string, error) {
	key, err := files.LoadSecret(f.file(keyName), func() ([]byte, error) {
		random := make([]byte, 64) // as long as an account's key
		rand.Read(random)
		return []byte(base64.StdEncoding.EncodeToString(random)), nil
	})
	if err != nil {
		return "", fmt.Errorf("the engine's key: %w", err)
	}
	return string(key), nil
}

// openEngine opens the folder's engine until r closes. If a file later turns out to be damaged, or
// the disk fails, r fails with a *DamageError.
func (f *folder) openEngine(r *lifecycle.Runner, o EngineOptions) (*Engine, error) {
	return f.openEngineWith(r, engine.Options{
		Key: o.Key, Entra: o.Entra, Throughput: o.Throughput, MetadataReads: o.MetadataReads,
	})
}

func (f *folder) openEngineWith(r *lifecycle.Runner, options engine.Options) (*Engine, error) {
	// Pebble would make the folder readable for others.
	if err := os.MkdirAll(f.file(engineName), 0o700); err != nil {
		return nil, folderError(f.path, err)
	}
	e := &Engine{folder: f}
	options.Dir = f.file(engineName)
	options.NumbersAfter = mathrand.Uint32N(1 << 30)
	options.Damaged = func(err error) {
		damage := &DamageError{f.path, err}
		e.damage.CompareAndSwap(nil, damage)
		r.Fail(damage)
	}
	var err error
	if e.engine, err = engine.Open(options); err != nil {
		return nil, f.openError(err)
	}
	r.OnClose(e.close)
	return e, nil
}

// openError explains why an engine does not open.
func (f *folder) openError(err error) error {
	switch {
	case errors.Is(err, engine.ErrNewerFormat):
		return fmt.Errorf("the data folder %s was written by a newer version of this program: "+
			"use that version, or another folder", f.path)
	case errors.Is(err, fs.ErrPermission):
		return folderError(f.path, err)
	case errors.Is(err, engine.ErrDamaged), errors.Is(err, engine.ErrDisk):
		return &DamageError{f.path, err}
	}
	return fmt.Errorf("the data folder %s cannot be opened: %s", f.path, firstLine(err))
}

// close closes the engine. If the folder is damaged, it returns that error alone, because the
// others follow from it.
func (e *Engine) close() error {
	err := e.engine.Close()
	if damage := e.damage.Load(); damage != nil {
		return damage
	}
	return err
}

// DamageError is the error of a data folder that is damaged, or whose disk fails.
type DamageError struct {
	path  string
	cause error
}

func (e *DamageError) Error() string {
	detail, kind := firstLine(e.cause), engine.ErrDamaged
	sentence := "the data folder %s is damaged (%s), and its data cannot be trusted: " +
		"restore it from a backup, or use another folder"
	if errors.Is(e.cause, engine.ErrDisk) {
		kind = engine.ErrDisk
		sentence = "the data folder %s can no longer be written (%s): " +
			"make room or repair the disk, and start again; acknowledged writes are safe"
	}
	if _, after, ok := strings.Cut(detail, kind.Error()+": "); ok {
		detail = after
	}
	return fmt.Sprintf(sentence, e.path, detail)
}

// Unwrap returns the engine's error.
func (e *DamageError) Unwrap() error { return e.cause }

// share serves the engine to other processes until r closes.
func (f *folder) share(r *lifecycle.Runner, engine *Engine, logger *slog.Logger) error {
	if err := f.writeOwner(engine.engine.Key(), engine.engine.Life()); err != nil {
		return err
	}
	return f.serveSocket(r, httpserver.Server{
		Handler: engine.ownerHandler(logger),
		Limits:  limits.Default(),
		Logger:  logger,
	})
}

// ownerHandler returns the handler of the folder's socket. It answers requests to the engine, and
// requests for backups, checks and wake-ups, which the engine's protocol does not have.
func (e *Engine) ownerHandler(logger *slog.Logger) http.Handler {
	handlers := map[string]http.Handler{backupPath: backupHandler{e, logger}, checkPath: checkHandler{e, logger}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler, ok := handlers[r.URL.Path]; ok && r.Method == http.MethodPost {
			handler.ServeHTTP(w, r)
			return
		}
		if watched, ok := strings.CutPrefix(r.URL.Path, wakeupsPath); ok && r.Method == http.MethodGet {
			e.serveWakeups(w, r, watched)
			return
		}
		e.engine.ServeHTTP(w, r)
	})
}

// withOwner calls ask with the process that owns an existing data folder, or use with the folder's
// engine if no process owns it.
func withOwner(
	ctx context.Context, data string,
	ask func(*ownerClient) error, use func(context.Context, *Engine) error,
) error {
	if err := CheckExists(data); err != nil {
		return err
	}
	f, client, err := find(ctx, data)
	switch {
	case err != nil:
		return err
	case client != nil:
		defer client.transport.close()
		return ask(client)
	}
	return withFolder(ctx, f, use)
}

// withFolder opens the engine of a folder that no other process uses, calls use, and releases the
// folder.
func withFolder(ctx context.Context, f *folder, use func(context.Context, *Engine) error) error {
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		r.OnClose(f.release)
		engine, err := f.openEngine(r, EngineOptions{})
		if err != nil {
			return err
		}
		return use(r.Context(), engine)
	})
}
