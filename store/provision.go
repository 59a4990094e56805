package store

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Provision makes what a database lacks: the database itself, containers with their indexes, scripts. What is there
// stays as it is. It gives what it made, in order and in words ("container posts"), also where it then failed. It needs
// the account's key: Entra ID tokens may not do this.
func Provision(ctx context.Context, options Options) (made []string, err error) {
	s, err := newStore(options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.provision(ctx)
}

func (s *Store) provision(ctx context.Context) (made []string, err error) {
	note := func(what string, new bool, err error) error {
		if err != nil {
			return fmt.Errorf("making the %s: %w", what, explained(err))
		}
		if new {
			made = append(made, what)
		}
		return nil
	}
	new, err := s.createDatabase(ctx)
	if err := note("database "+s.database, new, err); err != nil {
		return made, err
	}
	for _, d := range definitions {
		new, err := s.createContainer(ctx, d)
		if err := note("container "+d.name, new, err); err != nil {
			return made, err
		}
	}
	for _, script := range scripts {
		new, err := s.procedures.register(ctx, script)
		if err := note(script.label(), new, err); err != nil {
			return made, err
		}
	}
	return made, nil
}

func (s *Store) createDatabase(ctx context.Context) (bool, error) {
	_, err := s.client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: s.database}, nil)
	return madeNew(err)
}

func (s *Store) createContainer(ctx context.Context, d definition) (bool, error) {
	database, err := s.client.NewDatabase(s.database)
	if err != nil {
		return false, err
	}
	_, err = database.CreateContainer(ctx, d.properties(), nil)
	return madeNew(err)
}
