// Package provision creates the missing resources of a database, reports what differs from its
// definition, and writes the same definitions as a Bicep template.
package provision

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Run creates the missing resources of a database: the database itself, containers with their
// indexes, and scripts. It also changes throughputs to the given ones. It returns its changes in
// order, one sentence each, even if it fails. Run needs the account's key, because Entra ID tokens
// may not create or read definitions. Several processes may call it at the same time.
//
// Run reads everything before it writes anything. Errors, after which it has changed nothing:
// *DifferenceError if an existing resource differs from its definition; *schema.FormatError if the
// items have another format. Run does not store the number of the format: schema.Check does.
func Run(ctx context.Context, db *cosmos.DB, throughputs Throughputs) (done []string, err error) {
	steps, err := survey(ctx, db, throughputs)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		changed, err := step.do(ctx)
		if err != nil {
			return done, fmt.Errorf("%s: %w", step.doing, cosmos.SetupError(err))
		}
		if changed {
			done = append(done, step.done)
		}
	}
	return done, nil
}

// step is one change of the database.
type step struct {
	doing string // "creating the container users"
	done  string // "created the container users"
	// do makes the change. It returns false if another process was first.
	do func(ctx context.Context) (bool, error)
}

// newCreation returns the step that creates a resource.
func newCreation(resource string, t throughput, do func(ctx context.Context) (bool, error)) step {
	s := step{"creating the " + resource, "created the " + resource, do}
	if t.kind != unspecified && t.kind != none {
		s.done += " (throughput: " + t.String() + ")"
	}
	return s
}

func createDatabase(db *cosmos.DB, t throughput) step {
	return newCreation("database "+db.Name(), t, func(ctx context.Context) (bool, error) {
		_, err := db.Client().CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: db.Name()},
			&azcosmos.CreateDatabaseOptions{ThroughputProperties: t.properties()})
		return cosmos.CreatedFromError(err)
	})
}

func createContainer(db *cosmos.DB, d schema.Container, t throughput) step {
	return newCreation("container "+d.Name, t, func(ctx context.Context) (bool, error) {
		database, err := db.Client().NewDatabase(db.Name())
		if err != nil {
			return false, err
		}
		_, err = database.CreateContainer(ctx, d.Properties(),
			&azcosmos.CreateContainerOptions{ThroughputProperties: t.properties()})
		return cosmos.CreatedFromError(err)
	})
}

func registerScript(db *cosmos.DB, script cosmos.Script) step {
	return newCreation(script.Label(), throughput{}, func(ctx context.Context) (bool, error) {
		return db.RegisterScript(ctx, script)
	})
}

// throughputHolder has the methods of azcosmos's database and container clients that concern
// throughput.
type throughputHolder interface {
	ReadThroughput(context.Context, *azcosmos.ThroughputOptions) (azcosmos.ThroughputResponse, error)
	ReplaceThroughput(
		context.Context, azcosmos.ThroughputProperties, *azcosmos.ThroughputOptions,
	) (azcosmos.ThroughputResponse, error)
}

// changeThroughput returns the step that changes the RU/s of a resource that has a throughput
// of the same kind. The account may take hours for a large increase, and serves requests
// meanwhile.
func changeThroughput(resource throughputHolder, name string, current, wanted throughput) step {
	return step{
		doing: fmt.Sprintf("changing the throughput of the %s from %s to %s", name, current, wanted),
		done:  fmt.Sprintf("changed the throughput of the %s from %s to %s", name, current, wanted),
		do: func(ctx context.Context) (bool, error) {
			_, err := resource.ReplaceThroughput(ctx, *wanted.properties(), nil)
			return err == nil, err
		},
	}
}
