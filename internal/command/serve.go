package command

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cosmosblog/internal/auth"
	"cosmosblog/internal/config"
	"cosmosblog/internal/limits"
	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
)

var serveText = text{
	short: "Serve the GraphQL API (what runs without a command)",
	long: `Serves the GraphQL API, with the projector in the same process, on the embedded engine of a data folder or, with
COSMOS_ENDPOINT, on an account of Cosmos DB.
`,
}

// StartVerifier gives what tells who someone is: the issuer's tokens, whose keys are read beside the caller, as Start does;
// in development the data folder's local key; otherwise nobody can sign in.
func StartVerifier(ctx context.Context, task Task) (auth.Verifier, context.Context, func() error, error) {
	c, none := task.Config, func() error { return nil }
	switch {
	case c.Issuer != "":
		issuer := auth.NewIssuer(auth.IssuerOptions{
			Issuer:   c.Issuer,
			Audience: c.Audience,
			Logger:   task.Logger,
		})
		beside, stop := Start(ctx, "reader of the issuer's keys", issuer.Run)
		return issuer, beside, stop, nil
	case c.Development():
		key, err := auth.OpenLocalKey(c.Data)
		return key, ctx, none, err
	}
	return auth.NoIssuer{}, ctx, none, nil
}

// StartProjector runs the projector in the server's process, as Start does; where it is turned off, there is none.
func StartProjector(ctx context.Context, task Task, database *Database) (*projector.Projector, context.Context, func() error, error) {
	if !task.Config.Projector {
		return nil, ctx, func() error { return nil }, nil
	}
	p, err := NewProjector(database, task)
	if err != nil {
		return nil, nil, nil, err
	}
	beside, stop := Start(ctx, "projector", p.Run)
	return p, beside, stop, nil
}

// StartObserver answers the operator on --metrics-addr, as Start does; without one, nowhere.
func StartObserver(ctx context.Context, task Task, observer telemetry.Observer) (context.Context, func() error, error) {
	if task.Config.MetricsAddr == "" {
		return ctx, func() error { return nil }, nil
	}
	listener, err := listenFor("--metrics-addr", task.Config.MetricsAddr, limits.Default())
	if err != nil {
		return nil, nil, err
	}
	task.Printf("Metrics and readiness are at http://%s/metrics and /readyz\n", listener.Addr())
	beside, stop := Start(ctx, "answers to the operator", func(ctx context.Context) error {
		return serveHTTP(ctx, listener, withoutPages(listener.Addr(), observer.Handler()), limits.Default(), task.Logger, observerDrainTime)
	})
	return beside, stop, nil
}

// observerDrainTime is short: an operator asks again, and the rest of the process has to end too.
const observerDrainTime = 200 * time.Millisecond

// AnnounceServer tells where the API is, where its items are, and how to sign in.
func AnnounceServer(task Task, addr net.Addr, database *Database) {
	c := task.Config
	task.Printf("The GraphQL API is at http://%s/graphql\n", addr)
	task.Printf("Its data is in %s\n", database.Place)
	switch {
	case c.Issuer != "":
		task.Printf("Reading needs no sign-in. To write, show a token of the issuer %s for the audience %s\n", c.Issuer, c.Audience)
		task.Printf("This is production: no Playground, and no local tokens\n")
	case c.Development():
		task.Printf("The Playground is at http://%s/playground\n", addr)
		task.Printf("Reading needs no sign-in. To write, get a token of this folder's local key for any name you like: %s\n", tokenCommand("anna", c.Data))
	default:
		task.Printf("This is production: no Playground, and no issuer of tokens is configured (--issuer), so that everybody can read and nobody can write\n")
	}
}

// tokenCommand is what to type for a token of a subject, in the way in which this process was started.
func tokenCommand(subject, data string) string {
	program := os.Args[0]
	if strings.Contains(program, string(filepath.Separator)+"go-build") {
		program = "go run ."
	}
	text := program + " token --sub " + subject
	if data != config.Default(config.Token).Data {
		text += " --data '" + strings.ReplaceAll(data, "'", `'\''`) + "'"
	}
	return text
}
