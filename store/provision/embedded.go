package provision

import (
	"context"
	"crypto/rand"
	"strings"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/embedded"
	"cosmosblog/store/schema"
)

// OpenEmbedded opens the database of an embedded engine in this process, and creates the
// missing containers, indexes and scripts. It sets the Endpoint and Key of the options. A given
// Transport must lead to the engine; without one, requests stay in the process. The caller
// closes the DB, and after it the engine. Errors: *DifferenceError, or that of a request.
func OpenEmbedded(ctx context.Context, engine *embedded.Engine, options cosmos.Options) (*cosmos.DB, error) {
	options.Endpoint = LocalEndpoint()
	options.Key = engine.Key()
	if options.Transport == nil {
		options.Transport = cosmos.InProcess(engine)
	}
	db, err := cosmos.New(options)
	if err != nil {
		return nil, err
	}
	if _, err := Run(ctx, db, Throughputs{}); err != nil {
		db.Close()
		return nil, err
	}
	if err := schema.Check(ctx, db); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// LocalEndpoint returns an endpoint for an engine that is reached by a transport and has no
// address. Each call returns another one, because azcosmos caches container metadata by the
// endpoint's host.
func LocalEndpoint() string {
	return "http://" + strings.ToLower(rand.Text()) + ".embedded.invalid"
}
