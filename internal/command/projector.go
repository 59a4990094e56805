package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"

	"cosmosblog/internal/limits"
	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
)

var projectorText = text{
	short: "Run the projector as a process of its own",
	long: `Keeps the views up to date with their sources: short copies of posts, the feed, usernames. Any number of projectors share
the work; one that runs in a server's process is one of them.
`,
}

func runProjector(ctx context.Context, task Task) (err error) {
	if task.Config.Addr != "" {
		task.Traffic = telemetry.NewTraffic(telemetry.TrafficOptions{})
	}
	database, ctx, err := OpenDatabase(ctx, task)
	if err != nil {
		return err
	}
	defer closing(&err, database.Close)
	p, err := NewProjector(database, task)
	if err != nil {
		return err
	}
	ctx, stop := Start(ctx, "projector", p.Run)
	defer closing(&err, stop)
	task.Printf("The projector works on %s\n", database.Place)
	if task.Config.Addr == "" {
		<-ctx.Done()
		return nil
	}
	listener, err := Listen(task.Config.Addr, limits.Default())
	if err != nil {
		return err
	}
	task.Printf("Its readiness is at http://%s/readyz\n", listener.Addr())
	task.Printf("Its metrics are at http://%s/metrics\n", listener.Addr())
	observer := ObserveProjector(ctx, task, database, p)
	return ServeHTTP(ctx, listener, withoutPages(listener.Addr(), observer.Handler()), limits.Default(), task.Logger)
}

// NewProjector makes the projector of a database. Where this process owns the engine, writes wake it, and it takes over
// the leases of the processes that owned the engine before.
func NewProjector(database *Database, task Task) (*projector.Projector, error) {
	return projector.New(projectorOptions(database, task))
}

func projectorOptions(database *Database, task Task) projector.Options {
	c := task.Config
	options := projector.Options{
		Store:   database.Store,
		Owner:   workerName(),
		Renew:   c.LeaseRenew, // the projector's own where the command has no such setting
		Expire:  c.LeaseExpire,
		Balance: c.LeaseBalance,
		Logger:  task.Logger,
	}
	if engine := database.Engine; engine != nil {
		options.TakeOver = true
		options.Wake = func(container string) (<-chan struct{}, func()) {
			written, stop, err := engine.Watch(c.Database, container)
			if err != nil {
				return nil, func() {} // it looks for changes now and then anyway
			}
			return written, stop
		}
	}
	return options
}

// workerName is the name of this process among the projectors: readable, and like no other.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8])
}
