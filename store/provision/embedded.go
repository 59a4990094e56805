package provision

import (
	"context"
	"net/http"

	"cosmosblog/internal/inprocess"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Engine is an embedded engine: a handler of Cosmos DB's REST protocol, with its master key.
type Engine interface {
	http.Handler
	Key() string
}

// OpenEmbedded opens the database of an embedded engine in this process, and creates the
// missing containers, indexes and scripts. It sets the Endpoint and Key of the options. A given
// Transport must lead to the engine; without one, requests stay in the process. The caller
// closes the DB, and after it the engine. Errors: *DifferenceError, *schema.FormatError, or that
// of a request.
func OpenEmbedded(ctx context.Context, engine Engine, options cosmos.Options) (*cosmos.DB, error) {
	return openEmbedded(ctx, engine, options, Prepare)
}

// OpenEmbeddedSource is OpenEmbedded for a database that is only read: it creates nothing. Errors:
// those of schema.CheckSource.
func OpenEmbeddedSource(ctx context.Context, engine Engine, options cosmos.Options) (*cosmos.DB, error) {
	return openEmbedded(ctx, engine, options, schema.CheckSource)
}

// Prepare creates what is missing in a database of an engine (Run), and checks it (schema.Check).
func Prepare(ctx context.Context, db *cosmos.DB) error {
	if _, err := Run(ctx, db, Options{}); err != nil {
		return err
	}
	_, err := schema.Check(ctx, db)
	return err
}

func openEmbedded(
	ctx context.Context, engine Engine, options cosmos.Options, prepare func(context.Context, *cosmos.DB) error,
) (*cosmos.DB, error) {
	options.Endpoint = inprocess.NewEndpoint()
	options.Key = engine.Key()
	if options.Transport == nil {
		options.Transport = inprocess.To(engine)
	}
	db, err := cosmos.New(options)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, db); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}
