// Package provision creates what a database lacks, reports what differs from its definition, and writes
// the same definitions as a Bicep template.
package provision

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Run creates what a database lacks: the database itself, containers with their indexes, and scripts.
// It changes throughputs to the given ones. It returns what it did, in order, one sentence each, even
// if it failed after that. It reads everything before it writes anything: if something that exists
// differs from its definition, it changes nothing and returns a *DifferenceError. It needs the
// account's key: Entra ID tokens may not create or read definitions.
func Run(ctx context.Context, db *cosmos.DB, throughputs Throughputs) (done []string, err error) {
	steps, err := survey(ctx, db, throughputs)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		new, err := step.do(ctx)
		if err != nil {
			return done, fmt.Errorf("%s: %w", step.doing, cosmos.SetupError(err))
		}
		if new {
			done = append(done, step.done)
		}
	}
	return done, nil
}

// step is one thing that is to be done.
type step struct {
	doing, done string                                  // "making the container users", "made the container users"
	do          func(ctx context.Context) (bool, error) // false where another process did it meanwhile
}

func making(what string, t Throughput, do func(ctx context.Context) (bool, error)) step {
	s := step{"making the " + what, "made the " + what, do}
	if t.Kind != Unsaid && t.Kind != none {
		s.done += " (throughput: " + t.String() + ")"
	}
	return s
}

func makeDatabase(db *cosmos.DB, t Throughput) step {
	return making("database "+db.Name(), t, func(ctx context.Context) (bool, error) {
		_, err := db.Client().CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: db.Name()},
			&azcosmos.CreateDatabaseOptions{ThroughputProperties: t.properties()})
		return cosmos.CreatedFromError(err)
	})
}

func makeContainer(db *cosmos.DB, d schema.Container, t Throughput) step {
	return making("container "+d.Name, t, func(ctx context.Context) (bool, error) {
		database, err := db.Client().NewDatabase(db.Name())
		if err != nil {
			return false, err
		}
		_, err = database.CreateContainer(ctx, d.Properties(), &azcosmos.CreateContainerOptions{ThroughputProperties: t.properties()})
		return cosmos.CreatedFromError(err)
	})
}

func registerScript(db *cosmos.DB, script cosmos.Script) step {
	return making(script.Label(), Throughput{}, func(ctx context.Context) (bool, error) {
		return db.RegisterScript(ctx, script)
	})
}

// metered is a database or a container, as azcosmos lets its throughput be read and replaced.
type metered interface {
	ReadThroughput(context.Context, *azcosmos.ThroughputOptions) (azcosmos.ThroughputResponse, error)
	ReplaceThroughput(context.Context, azcosmos.ThroughputProperties, *azcosmos.ThroughputOptions) (azcosmos.ThroughputResponse, error)
}

// changeThroughput changes the number of a throughput that has one. The account may take hours for a great one, and serves meanwhile.
func changeThroughput(of metered, what string, there, wanted Throughput) step {
	return step{
		doing: fmt.Sprintf("changing the throughput of the %s from %s to %s", what, there, wanted),
		done:  fmt.Sprintf("changed the throughput of the %s from %s to %s", what, there, wanted),
		do: func(ctx context.Context) (bool, error) {
			_, err := of.ReplaceThroughput(ctx, *wanted.properties(), nil)
			return err == nil, err
		},
	}
}
