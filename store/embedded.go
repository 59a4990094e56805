package store

import (
	"context"
	"crypto/rand"
	"strings"

	"cosmosblog/store/embedded"
)

// OpenEmbedded opens a Store on an engine of the same process, in which it makes what is missing: containers, indexes,
// scripts. Of the options it sets those that say where the account is; a Transport, where one is given, must lead to
// the engine. The engine is the caller's to close, after the Store.
func OpenEmbedded(ctx context.Context, engine *embedded.Engine, options Options) (*Store, error) {
	options.Endpoint = LocalEndpoint()
	options.Key = engine.Key()
	if options.Transport == nil {
		options.Transport = InProcess(engine)
	}
	s, err := newStore(options)
	if err != nil {
		return nil, err
	}
	if _, err := s.provision(ctx, Throughputs{}); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.Check(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// LocalEndpoint gives an endpoint for an engine that is reached by a transport and has no address: one that no other
// Store of the process has, because azcosmos keeps what it knows of containers by the endpoint's host.
func LocalEndpoint() string { return "http://" + strings.ToLower(rand.Text()) + ".embedded.invalid" }
