package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"cosmosblog/internal/config"
	"cosmosblog/internal/limits"
	"cosmosblog/store/embedded"
)

var engineText = text{
	short: "Serve the embedded engine on a port",
	long: `Serves the embedded engine of a data folder on a port, as an account of Cosmos DB for this and other tools. Where the key
is the emulators' well-known one, it listens on loopback only. Web pages are refused, on loopback also requests under
another name. With --entra it also takes what looks like a token of Entra ID, and refuses it what the service refuses:
making, changing and reading definitions.
`,
}

func serveEngine(ctx context.Context, task Task) (err error) {
	c := task.Config
	folder, err := ownDataFolder(c.Data)
	if errors.Is(err, errLocked) {
		return ownedError(c.Data)
	}
	if err != nil {
		return err
	}
	defer closing(&err, folder.release)
	engine, err := folder.openEngine(ctx, embedded.Options{Key: c.EngineKey, Entra: c.EngineEntra})
	if err != nil {
		return err
	}
	defer closing(&err, engine.Close)
	ctx, stop, err := folder.share(engine, task.Logger)
	if err != nil {
		return err
	}
	defer closing(&err, stop)
	listener, scheme, err := folder.listen(c)
	if err != nil {
		return err
	}
	task.Printf("The embedded engine of %s serves %s://%s\n", folder.path, scheme, listener.Addr())
	if c.HasEmulatorKey() {
		task.Printf("Its key is the well-known one of Microsoft's emulators: %s\n", config.EmulatorKey)
	}
	if c.EngineEntra {
		task.Printf("It also takes any well-formed token of Entra ID, and refuses definitions to it\n")
	}
	return ServeHTTP(ctx, listener, withoutPages(listener.Addr(), engine), limits.Default(), task.Logger)
}

// listen listens for http or, where asked for, https.
func (f *dataFolder) listen(c config.Config) (net.Listener, string, error) {
	listener, err := Listen(c.Addr, limits.Default())
	if err != nil || !c.EngineTLS {
		return listener, "http", err
	}
	certificate, err := f.certificate(c.Addr)
	if err != nil {
		return nil, "", errors.Join(err, listener.Close())
	}
	settings := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	return tls.NewListener(listener, settings), "https", nil
}

// ownedError says who is in the way.
func ownedError(path string) error {
	if o, err := readOwner(path); err == nil {
		return fmt.Errorf("process %d owns the data folder %s: end it first, or name another folder with --data", o.PID, path)
	}
	return fmt.Errorf("another process owns the data folder %s: end it first, or name another one with --data", path)
}

// closing runs a step of the way back, and keeps its error where there was none before.
func closing(err *error, step func() error) { *err = errors.Join(*err, step()) }
