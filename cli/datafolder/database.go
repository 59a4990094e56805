package datafolder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"cosmosblog/internal/inprocess"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// Options name a database. If Endpoint is empty, it is the database of the data folder Data.
type Options struct {
	Endpoint string // of an account: http or https
	Key      string // of the account; if it and KeyFile are empty, Entra ID
	KeyFile  string // path of a file with the account's key, read again if the account rejects the key
	KeyName  string // the environment variable of Key, for errors; COSMOS_KEY if empty
	Data     string // path of the data folder
	Database string // database name
	// ReadOnly: opening the database needs no scripts, and creates neither definitions nor items,
	// except that a restored folder begins a history.
	ReadOnly bool
	// BackgroundBucket is cosmos.Options.BackgroundBucket. The engine of a data folder has no buckets
	// if this process owns it, because it then never throttles.
	BackgroundBucket int
	Recorder         cosmos.Recorder
	Logger           *slog.Logger
}

// Database is an open database. It may be used concurrently.
type Database struct {
	DB    *cosmos.DB
	Place string // where its items are, for messages

	engine *Engine      // nil if this process owns none
	owner  *ownerClient // of another process; nil if this process owns the engine, or it is an account
	name   string
}

// OwnsEngine reports whether the embedded engine runs in this process.
func (d *Database) OwnsEngine() bool { return d.engine != nil }

// IsFolder reports whether the database is that of a data folder. Requests to it cost nothing, and
// Watch receives after the writes of all processes.
func (d *Database) IsFolder() bool { return d.engine != nil || d.owner != nil }

// Watch returns a channel that receives after writes to a container, and a function that stops it.
// Several writes may be received as one. On an account, these are the writes of d.DB; on the engine
// of a data folder, those of all processes.
func (d *Database) Watch(container string) (written <-chan struct{}, stop func()) {
	switch {
	case d.owner != nil:
		return d.owner.watch(d.name, container)
	case d.engine == nil:
		return d.watchOwnWrites(container)
	}
	written, stop, err := d.engine.engine.Watch(d.name, container)
	if err != nil {
		return nil, func() {}
	}
	return written, stop
}

func (d *Database) watchOwnWrites(container string) (written <-chan struct{}, stop func()) {
	signal := make(chan struct{}, 1)
	return signal, d.DB.NotifyWrites(func(to string, _ []string, _ string) {
		if to != container {
			return
		}
		select {
		case signal <- struct{}{}:
		default:
		}
	})
}

// Changes returns a count of the changes of each partition (readcache.Changes). It is nil if
// OwnsEngine is false, because then others can change the database unnoticed.
func (d *Database) Changes() func(container, partition string) uint64 {
	if d.engine == nil {
		return nil
	}
	engine, name := d.engine.engine, d.name
	return func(container, partition string) uint64 { return engine.Changes(name, container, partition) }
}

// Open opens a database until r closes. It creates the data folder if it does not exist. If the
// folder was restored from a backup since the database was opened last, its history ends. If the
// folder later turns out to be damaged, r fails with a *DamageError. Other errors:
// *schema.MissingError if an account lacks containers or scripts, *schema.IndexError if it lacks
// indexes, *schema.FormatError if the items have another format.
func Open(r *lifecycle.Runner, o Options) (*Database, error) {
	if o.Endpoint != "" {
		return openAccount(r, o)
	}
	f, client, err := find(r.Context(), o.Data)
	switch {
	case err != nil:
		return nil, err
	case client != nil:
		return openOwned(r, o, client)
	default:
		return openFolder(r, o, f)
	}
}

// OpenExisting is Open for a database that exists: it does not create a data folder.
func OpenExisting(r *lifecycle.Runner, o Options) (*Database, error) {
	if o.Endpoint == "" {
		if err := CheckExists(o.Data); err != nil {
			return nil, err
		}
	}
	return Open(r, o)
}

func openAccount(r *lifecycle.Runner, o Options) (*Database, error) {
	options, err := o.account(r.Context())
	if err != nil {
		return nil, err
	}
	db, err := openDB(r, options)
	if err == nil {
		err = db.CheckAccount(r.Context())
	}
	switch {
	case err != nil:
	case o.ReadOnly:
		err = schema.CheckSource(r.Context(), db)
	default:
		err = o.checkDatabase(r.Context(), db)
	}
	if err != nil {
		return nil, o.accountError(err)
	}
	return &Database{DB: db, Place: fmt.Sprintf("database %s at %s", o.Database, o.Endpoint), name: o.Database}, nil
}

// checkDatabase checks the database of an account. The readiness checks report blocked scripts, but
// do not compare definitions, which only people change.
func (o Options) checkDatabase(ctx context.Context, db *cosmos.DB) error {
	if _, err := schema.Check(ctx, db); err != nil {
		return err
	}
	dearer, err := schema.CheckDefinitions(ctx, db)
	if len(dearer) > 0 && o.Logger != nil {
		o.Logger.Warn("containers differ from their definitions, which may make requests dearer", "differences", dearer)
	}
	return err
}

// openOwned opens the database through the process that owns its folder.
func openOwned(r *lifecycle.Runner, o Options, client *ownerClient) (*Database, error) {
	r.OnClose(func() error { client.transport.close(); return nil })
	options := cosmos.Options{
		Endpoint:  inprocess.NewEndpoint(),
		Key:       client.owner.Key,
		Database:  o.Database,
		Transport: client.transport,
		Recorder:  o.Recorder,

		BackgroundBucket: o.BackgroundBucket,
	}
	db, err := openDB(r, options)
	if err != nil {
		return nil, err
	}
	prepare := provision.Prepare
	if o.ReadOnly {
		prepare = schema.CheckSource
	}
	err = prepare(r.Context(), db)
	if err == nil {
		err = noteLife(r.Context(), db, client.owner.Life)
	}
	if err != nil {
		return nil, contentError(client.path, err)
	}
	place := fmt.Sprintf("%s, through process %d, which owns it", client.path, client.owner.PID)
	return &Database{DB: db, Place: place, owner: client, name: o.Database}, nil
}

func openDB(r *lifecycle.Runner, options cosmos.Options) (*cosmos.DB, error) {
	db, err := cosmos.New(options)
	if err != nil {
		return nil, err
	}
	r.OnClose(func() error { db.Close(); return nil })
	return db, nil
}

// openFolder opens the engine of a folder that this process owns, then serves it to other
// processes.
func openFolder(r *lifecycle.Runner, o Options, f *folder) (*Database, error) {
	r.OnClose(f.release)
	key, err := f.engineKey()
	if err != nil {
		return nil, err
	}
	engine, err := f.openEngine(r, EngineOptions{Key: key})
	if err != nil {
		return nil, err
	}
	db, err := openEmbedded(r, engine, o)
	if err != nil {
		return nil, err
	}
	if err := f.share(r, engine, o.Logger); err != nil {
		return nil, err
	}
	return &Database{DB: db, Place: f.path, engine: engine, name: o.Database}, nil
}

// openEmbedded opens the database of an engine in this process.
func openEmbedded(r *lifecycle.Runner, engine *Engine, o Options) (*cosmos.DB, error) {
	open := provision.OpenEmbedded
	if o.ReadOnly {
		open = provision.OpenEmbeddedSource
	}
	db, err := open(r.Context(), engine.engine, cosmos.Options{Database: o.Database, Recorder: o.Recorder})
	if err != nil {
		return nil, contentError(engine.folder.path, err)
	}
	r.OnClose(func() error { db.Close(); return nil })
	return db, noteLife(r.Context(), db, engine.engine.Life())
}

// noteLife ends the history of a database if its folder was restored from a backup since the
// database was opened last. A folder with no life never was a backup; for another one, noteLife
// costs a point read.
func noteLife(ctx context.Context, db *cosmos.DB, life string) error {
	if life == "" {
		return nil
	}
	_, err := changefeed.New(db).EndHistoryKeepingLeases(ctx, life, "the data folder was restored from a backup")
	return err
}

// contentError names the folder whose containers or items are those of another version of the
// program.
func contentError(path string, err error) error {
	if _, ok := errors.AsType[*schema.FormatError](err); ok {
		return fmt.Errorf("the data folder %s cannot be used: %w", path, err)
	}
	if _, ok := errors.AsType[*provision.DifferenceError](err); ok {
		return fmt.Errorf("the data folder %s was made by another version of this program: "+
			"use that version, or another folder (%w)", path, err)
	}
	return err
}
