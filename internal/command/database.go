package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// Database is the database of a run, open, and what it stands on.
type Database struct {
	Store *store.Store
	// Engine is the embedded engine where this process owns it; otherwise nil.
	Engine *embedded.Engine
	// Place says for people where the items are.
	Place string

	closers []func() error
}

// Close gives back what was opened, the last first.
func (d *Database) Close() error {
	var errs []error
	for _, c := range slices.Backward(d.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// readyTimeout is how long a database may take and still be called ready.
const readyTimeout = 2 * time.Second

// Ready tells whether the database answers, by a point read of a user who cannot be there.
func (d *Database) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	_, err := d.Store.User(ctx, "nobody")
	if blog.CodeOf(err) == blog.NotFound {
		return nil
	}
	return err
}

// OpenDatabase opens the database that the settings name. The context that it gives ends with ctx, and also when the
// database cannot go on. Errors are sentences; a *store.MissingError says what an endpoint lacks.
func OpenDatabase(ctx context.Context, task Task) (*Database, context.Context, error) {
	d := &Database{}
	beside, err := d.open(ctx, task)
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return d, beside, nil
}

// openExisting is OpenDatabase where there is one: it makes no data folder.
func openExisting(ctx context.Context, task Task) (*Database, context.Context, error) {
	_, err := os.Stat(filepath.Join(task.Config.Data, engineName))
	if task.Config.Endpoint == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil, noDataError(task.Config.Data)
	}
	return OpenDatabase(ctx, task)
}

func (d *Database) open(ctx context.Context, task Task) (context.Context, error) {
	if task.Config.Endpoint != "" {
		return ctx, d.openEndpoint(ctx, task)
	}
	folder, visit, err := findDataFolder(ctx, task.Config.Data)
	switch {
	case err != nil:
		return nil, err
	case visit != nil:
		return ctx, d.openVisit(ctx, task, visit)
	default:
		return d.openFolder(ctx, task, folder)
	}
}

func (d *Database) openEndpoint(ctx context.Context, task Task) error {
	c := task.Config
	options, err := endpointOptions(ctx, c)
	if err != nil {
		return err
	}
	options.Recorder = task.recorder()
	d.Place = fmt.Sprintf("database %s at %s", c.Database, c.Endpoint)
	return endpointError(c, d.openStore(ctx, options))
}

func (d *Database) openVisit(ctx context.Context, task Task, v *visit) error {
	d.closers = append(d.closers, func() error { v.transport.close(); return nil })
	d.Place = fmt.Sprintf("%s, through process %d, which owns it", v.path, v.owner.PID)
	options := store.Options{Endpoint: store.LocalEndpoint(), Key: v.owner.Key, Database: task.Config.Database, Transport: v.transport, Recorder: task.recorder()}
	if _, err := store.Provision(ctx, options); err != nil {
		return definitionError(v.path, err)
	}
	return d.openStore(ctx, options)
}

func (d *Database) openStore(ctx context.Context, options store.Options) error {
	opened, err := store.Open(ctx, options)
	if err != nil {
		return err
	}
	d.Store = opened
	d.closers = append(d.closers, func() error { opened.Close(); return nil })
	return nil
}

// definitionError says which folder it is whose containers are not those of this version of the program.
func definitionError(path string, err error) error {
	if _, ok := errors.AsType[*store.DifferenceError](err); ok {
		return fmt.Errorf("the data folder %s was made by another version of this program: use that one, or another folder (%w)", path, err)
	}
	return err
}

// openFolder opens the engine of a folder that this process owns, and then lets other processes use it.
func (d *Database) openFolder(ctx context.Context, task Task, folder *dataFolder) (context.Context, error) {
	d.closers = append(d.closers, folder.release)
	d.Place = folder.path
	key, err := folder.engineKey()
	if err != nil {
		return nil, err
	}
	engine, err := folder.openEngine(ctx, embedded.Options{Key: key})
	if err != nil {
		return nil, err
	}
	d.Engine = engine.Engine
	d.closers = append(d.closers, engine.Close)
	if d.Store, err = store.OpenEmbedded(ctx, d.Engine, store.Options{Database: task.Config.Database, Recorder: task.recorder()}); err != nil {
		return nil, definitionError(folder.path, err)
	}
	d.closers = append(d.closers, func() error { d.Store.Close(); return nil })
	beside, stop, err := folder.share(engine, task.Logger)
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, stop)
	return beside, nil
}
