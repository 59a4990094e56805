package datafolder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"cosmosblog/guard/auth"
	"cosmosblog/internal/files"
)

// BackUp writes a consistent snapshot of a data folder to a new folder, which is itself a data
// folder. If another process owns the data folder, that process writes the backup. The new folder
// appears when the backup is complete and on disk. On the same file system, BackUp links files that
// no longer change.
func BackUp(ctx context.Context, data, to string) error {
	return withOwner(ctx, data,
		func(client *ownerClient) error { return client.backUp(ctx, to) },
		func(_ context.Context, engine *Engine) error { return engine.backUp(to) })
}

// secretNames are the files that a backup copies in addition to the engine's, if they exist.
var secretNames = []string{keyName, auth.LocalKeyFile, tlsName}

// backUp writes a backup under another name, and renames it when it is complete and on disk.
func (e *Engine) backUp(to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists: name a new folder", to)
	}
	draft, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+".*") // mode 0700
	if err != nil {
		return backupError(to, err)
	}
	if err := e.writeBackup(draft); err != nil {
		return errors.Join(backupError(to, err), os.RemoveAll(draft))
	}
	if err := os.Rename(draft, to); err != nil {
		return errors.Join(backupError(to, err), os.RemoveAll(draft))
	}
	return files.SyncFolder(filepath.Dir(to))
}

func (e *Engine) writeBackup(draft string) error {
	if err := e.engine.Backup(filepath.Join(draft, engineName)); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(draft, engineName), 0o700); err != nil {
		return err
	}
	for _, name := range secretNames {
		if err := copySecret(e.folder.file(name), filepath.Join(draft, name)); err != nil {
			return err
		}
	}
	return files.SyncFolder(draft)
}

// copySecret copies a file, if it exists, to one that only its owner can read.
func copySecret(from, to string) error {
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func backupError(to string, err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return fmt.Errorf("the backup %s could not be written: %w", to, err)
}

// backupPath is the route for backups on the folder's socket: POST, with the new folder's full
// path as the body. Only the folder's user can open the socket.
const backupPath = "/backup"

// maxPath is longer than a path on any file system.
const maxPath = 64 << 10

// backUp asks the folder's owner to write a backup. It returns the owner's error.
func (c *ownerClient) backUp(ctx context.Context, to string) error {
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, ownerEndpoint+backupPath, bytes.NewBufferString(to))
	if err != nil {
		return err
	}
	response, err := c.transport.Do(request)
	if err != nil {
		return fmt.Errorf("process %d owns the data folder %s and did not finish the backup: %w",
			c.owner.PID, c.path, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	message, err := io.ReadAll(io.LimitReader(response.Body, maxPath))
	return errors.Join(errors.New(firstLine(errors.New(string(message)))), err)
}

// backupHandler writes backups for other processes.
type backupHandler struct {
	engine *Engine
	logger *slog.Logger
}

func (h backupHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, err := io.ReadAll(io.LimitReader(r.Body, maxPath))
	if err != nil || !filepath.IsAbs(string(path)) {
		http.Error(w, "the request names no folder", http.StatusBadRequest)
		return
	}
	// A backup on another file system copies every file.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	if err := h.engine.backUp(string(path)); err != nil {
		h.logger.Warn("backup failed", "folder", string(path), "error", err)
		http.Error(w, firstLine(err), http.StatusInternalServerError)
		return
	}
	h.logger.Info("backup written", "folder", string(path))
	w.WriteHeader(http.StatusNoContent)
}
