package cli

import (
	"context"
	"crypto/tls"

	"cosmosblog/cli/config"
	"cosmosblog/cli/datafolder"
	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/lifecycle"
)

var engineText = text{
	short: "Serves the embedded engine on a port",
	long: `Serves the embedded engine of a data folder on a port, as a Cosmos DB account for this program
and other clients. With the emulators' well-known key it listens on loopback only, and also accepts
tokens that look like Entra ID's. As on an account, these cannot create, change or read definitions.
It rejects requests from web pages and, on loopback, requests under another host name. With
--throughput it throttles as an account does, requests at low priority first, so that servers can be
tested on a short one.
`,
}

func runEngine(ctx context.Context, task Task) error {
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		c := task.Config
		options := datafolder.EngineOptions{
			Key:        c.EngineKey,
			Entra:      c.HasEmulatorKey(),
			Throughput: float64(c.EngineRU),
		}
		if options.Throughput > 0 {
			options.MetadataReads = serviceMetadataReads
		}
		engine, err := datafolder.OpenEngine(r, c.Data, options, task.Logger)
		if err != nil {
			return err
		}
		connections := limits.Default()
		connections.AddressConnections = 0 // one program may use all of them
		listener, err := httpserver.Listen(r, "--addr", c.Addr, connections)
		if err != nil {
			return err
		}
		scheme := "http"
		if c.EngineTLS {
			certificate, err := engine.Certificate(c.Addr)
			if err != nil {
				return err
			}
			scheme = "https"
			listener = tls.NewListener(listener, &tls.Config{
				Certificates: []tls.Certificate{certificate},
				MinVersion:   tls.VersionTLS12,
			})
		}
		task.Printf("The embedded engine of %s serves %s://%s\n", engine.Path(), scheme, listener.Addr())
		if c.HasEmulatorKey() {
			task.Printf("Its key is the well-known key of Microsoft's emulators: %s\n", config.EmulatorKey)
			task.Printf("It also accepts any well-formed Entra ID token, except for definitions\n")
		}
		if c.EngineRU > 0 {
			task.Printf("Each container has %d RU/s\n", c.EngineRU)
		}
		server := httpserver.Server{
			Handler: httpserver.ProgramsOnly(listener.Addr(), engine),
			Limits:  limits.Default(),
			Logger:  task.Logger,
		}
		return server.Serve(r.Context(), listener)
	})
}

// serviceMetadataReads is the number of reads of definitions that an account answers in five
// minutes (learn.microsoft.com/azure/cosmos-db/concepts-limits).
const serviceMetadataReads = 500
