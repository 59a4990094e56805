package provision

import (
	"context"
	"crypto/rand"
	"strings"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/embedded"
	"cosmosblog/store/schema"
)

// OpenEmbedded opens the database of an embedded engine in this process, and creates what it lacks:
// containers, indexes, scripts. It sets the options that say where the account is; a given Transport
// must lead to the engine. The caller closes the DB, and after it the engine.
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

// LocalEndpoint returns an endpoint for an engine that is reached by a transport and has no address.
// No other DB of the process has the same one: azcosmos caches its metadata of containers by the host
// of the endpoint.
func LocalEndpoint() string { return "http://" + strings.ToLower(rand.Text()) + ".embedded.invalid" }
