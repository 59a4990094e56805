package store

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Provision makes what a database lacks: the database itself, containers with their indexes, scripts; and it changes
// throughputs to the numbers that options.Throughput asks for. It gives what it did, in order and in sentences, also where it then
// failed. It looks at everything before it writes anything: where something is there and is not as it should be, it
// changes nothing and gives a *DifferenceError. It needs the account's key: Entra ID tokens may not do this.
func Provision(ctx context.Context, options Options) (done []string, err error) {
	s, err := newStore(options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.provision(ctx, options.Throughput)
}

func (s *Store) provision(ctx context.Context, throughputs Throughputs) (done []string, err error) {
	steps, err := s.survey(ctx, throughputs)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		new, err := step.do(ctx)
		if err != nil {
			return done, fmt.Errorf("%s: %w", step.doing, explained(err))
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

func (s *Store) makeDatabase(t Throughput) step {
	return making("database "+s.database, t, func(ctx context.Context) (bool, error) {
		_, err := s.client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: s.database},
			&azcosmos.CreateDatabaseOptions{ThroughputProperties: t.properties()})
		return madeNew(err)
	})
}

func (s *Store) makeContainer(d definition, t Throughput) step {
	return making("container "+d.name, t, func(ctx context.Context) (bool, error) {
		database, err := s.client.NewDatabase(s.database)
		if err != nil {
			return false, err
		}
		_, err = database.CreateContainer(ctx, d.properties(), &azcosmos.CreateContainerOptions{ThroughputProperties: t.properties()})
		return madeNew(err)
	})
}

func (s *Store) registerScript(script script) step {
	return making(script.label(), Throughput{}, func(ctx context.Context) (bool, error) {
		return s.procedures.register(ctx, script)
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
