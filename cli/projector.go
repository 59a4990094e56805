package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"cosmosblog/cli/datafolder"
	"cosmosblog/cli/monitor"
	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
)

var projectorText = text{
	short: "Runs the projector in a separate process",
	long: `Keeps the views up to date with their sources: short copies of posts, the feed, and
usernames. Any number of projectors share the work, including those in servers.
`,
}

func runProjector(ctx context.Context, task Task) error {
	if task.Config.Addr != "" {
		task.Traffic = telemetry.NewTraffic(nil, nil)
	}
	return lifecycle.Run(ctx, func(r *lifecycle.Runner) error {
		database, err := OpenDatabase(r, task)
		if err != nil {
			return err
		}
		p, err := projector.New(projectorOptions(database, task))
		if err != nil {
			return err
		}
		r.Go("projector", p.Run)
		task.Printf("The projector works on %s\n", database.Place)
		if task.Config.Addr == "" {
			<-r.Context().Done()
			return nil
		}
		listener, err := httpserver.Listen(r, "--addr", task.Config.Addr, limits.Default())
		if err != nil {
			return err
		}
		task.Printf("Its readiness is at http://%s/readyz\n", listener.Addr())
		task.Printf("Its metrics are at http://%s/metrics\n", listener.Addr())
		observer := monitor.Projector(r.Context(), monitorOptions(task, database, p))
		server := httpserver.Server{
			Handler: httpserver.ProgramsOnly(listener.Addr(), observer.Handler()),
			Limits:  limits.Default(),
			Logger:  task.Logger,
		}
		return server.Serve(r.Context(), listener)
	})
}

// projectorOptions returns the options of a database's projector. If the engine is in this process,
// writes wake the projector, and it takes over the leases of the engine's former owners.
func projectorOptions(database *datafolder.Database, task Task) projector.Options {
	options := projector.Options{
		DB:     database.DB,
		Owner:  leaseOwner(),
		Expire: task.Config.LeaseExpire, // 0, the projector's default, if the command has no such setting
		Logger: task.Logger,
	}
	options.Rebuild = rebuilder(task, database)
	options.Wake = database.Watch
	options.TakeOver = database.OwnsEngine()
	if !database.IsFolder() {
		options.Gather, options.BusyPoll = accountGather, accountBusyPoll
	}
	return options
}

// rebuilder returns a function that rebuilds all views for a projector, at chargeLimit. It resumes
// only a rebuild of its own in the same history: one of another process may have begun before the
// projectors read their feeds in that history. Errors: those of audit.Rebuild.
func rebuilder(task Task, database *datafolder.Database) func(ctx context.Context, history string) error {
	interrupted := "" // the history of the last call if that failed
	return func(ctx context.Context, history string) error {
		limit := &cosmos.ChargeLimit{PerSecond: chargeLimit(task.Config)}
		rebuilt, err := audit.Rebuild(limit.Context(ctx), database.DB, audit.Options{FromStart: interrupted != history})
		interrupted = ""
		if err != nil && !errors.Is(err, audit.ErrRebuildTaken) {
			interrupted = history
		}
		if err != nil {
			return err
		}
		if rebuilt.Left > 0 {
			task.Logger.Error("some views could not be rebuilt: run audit", "drifts", rebuilt.Left)
		}
		return nil
	}
}

// accountGather and accountBusyPoll are options of the projector for an account, whose change feeds
// cost RU to read.
const (
	accountGather   = 100 * time.Millisecond
	accountBusyPoll = 250 * time.Millisecond
)

// leaseOwner returns a readable, unique name for this process's projector.
func leaseOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8])
}

// monitorOptions returns the options for the monitor of a server or projector. p is nil if the
// process runs none.
func monitorOptions(task Task, database *datafolder.Database, p *projector.Projector) monitor.Options {
	return monitor.Options{
		DB:        database.DB,
		Projector: p,
		Traffic:   task.Traffic,
		Logger:    task.Logger,
	}
}
