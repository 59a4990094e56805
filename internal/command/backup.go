package command

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

	"github.com/spf13/cobra"

	"cosmosblog/internal/auth"
	"cosmosblog/store/embedded"
)

var backupText = text{
	short: "Back up a data folder, also while a server runs on it",
	long: `Writes all that a data folder holds at one moment into a new folder DIR: serve --data DIR goes on from there. On the same file
system it takes little time and, at first, little space, because files that no longer change are linked.
`,
}

// takingFolder makes a command take one folder beside its flags.
func takingFolder(command *cobra.Command) *cobra.Command {
	command.Use += " DIR"
	command.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return errors.New("name one folder that is not there yet: backup DIR")
		}
		return nil
	}
	return command
}

func backup(ctx context.Context, task Task) error {
	to, err := filepath.Abs(task.Args[0])
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(task.Config.Data, engineName)); errors.Is(err, fs.ErrNotExist) {
		return noDataError(task.Config.Data)
	}
	folder, visit, err := findDataFolder(ctx, task.Config.Data)
	switch {
	case err != nil:
		return err
	case visit != nil:
		defer visit.transport.close()
		err = visit.backUp(ctx, to)
	default:
		err = folder.backUpAlone(ctx, to)
	}
	if err == nil {
		task.Printf("the backup is in %s\n", to)
	}
	return err
}

// backUpAlone backs a folder up that nobody else has open, and gives it back.
func (f *dataFolder) backUpAlone(ctx context.Context, to string) (err error) {
	defer closing(&err, f.release)
	engine, err := f.openEngine(ctx, embedded.Options{})
	if err != nil {
		return err
	}
	defer closing(&err, engine.Close)
	return f.backUp(engine, to)
}

// secretNames are the files of a data folder that a backup has beside the engine's, where they are there.
var secretNames = []string{keyName, auth.LocalKeyFile, tlsName}

// backUp makes a backup under another name and gives it its own when it is whole and on disk.
func (f *dataFolder) backUp(engine *ownedEngine, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s is there already: name a folder that is not", to)
	}
	draft, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+".*") // mode 0700
	if err != nil {
		return backupError(to, err)
	}
	if err := f.fill(engine, draft); err != nil {
		return errors.Join(backupError(to, err), os.RemoveAll(draft))
	}
	if err := os.Rename(draft, to); err != nil {
		return errors.Join(backupError(to, err), os.RemoveAll(draft))
	}
	return syncFolder(filepath.Dir(to))
}

func (f *dataFolder) fill(engine *ownedEngine, draft string) error {
	if err := engine.Backup(filepath.Join(draft, engineName)); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(draft, engineName), 0o700); err != nil {
		return err
	}
	for _, name := range secretNames {
		if err := copySecret(f.file(name), filepath.Join(draft, name)); err != nil {
			return err
		}
	}
	return syncFolder(draft)
}

// copySecret copies a file for its owner's eyes, where there is one.
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

// syncFolder brings a folder's entries to disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func backupError(to string, err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return fmt.Errorf("the backup %s could not be written: %w", to, err)
}

// backupPath is where an owner takes the wish for a backup: POST, with the folder's full name as the body. It is on the
// socket alone, which nobody but the folder's owner can open.
const backupPath = "/backup"

// maxPath is more than any file system takes.
const maxPath = 64 << 10

// backUp has the folder's owner write a backup. Errors are the owner's sentences.
func (v *visit) backUp(ctx context.Context, to string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, socketEndpoint+backupPath, bytes.NewBufferString(to))
	if err != nil {
		return err
	}
	response, err := v.transport.Do(request)
	if err != nil {
		return fmt.Errorf("process %d owns the data folder %s and did not finish the backup: %w", v.owner.PID, v.path, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	said, err := io.ReadAll(io.LimitReader(response.Body, maxPath))
	return errors.Join(errors.New(firstLine(errors.New(string(said)))), err)
}

// backupHandler answers the wish for a backup.
type backupHandler struct {
	folder *dataFolder
	engine *ownedEngine
	logger *slog.Logger
}

func (h backupHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, err := io.ReadAll(io.LimitReader(r.Body, maxPath))
	if err != nil || !filepath.IsAbs(string(path)) {
		http.Error(w, "the request names no folder", http.StatusBadRequest)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // to another file system, everything is copied
	if err := h.folder.backUp(h.engine, string(path)); err != nil {
		h.logger.Warn("a backup failed", "folder", string(path), "error", err)
		http.Error(w, firstLine(err), http.StatusInternalServerError)
		return
	}
	h.logger.Info("a backup was written", "folder", string(path))
	w.WriteHeader(http.StatusNoContent)
}
