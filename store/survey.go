package store

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// survey is a look at what is there, before anything is written.
type survey struct {
	*Store
	wanted      Throughputs
	serverless  bool // the account; known where a throughput is wanted
	steps       []step
	differences []Difference
}

// survey gives what is to be done so that everything is there. Errors: *DifferenceError; others where the account
// cannot be asked.
func (s *Store) survey(ctx context.Context, wanted Throughputs) ([]step, error) {
	v := &survey{Store: s, wanted: wanted}
	if err := v.visit(ctx); err != nil {
		return nil, err
	}
	if len(v.differences) > 0 {
		return nil, &DifferenceError{v.differences}
	}
	return v.steps, nil
}

func (v *survey) visit(ctx context.Context) error {
	if err := v.visitAccount(ctx); err != nil {
		return fmt.Errorf("reading the account's throughputs: %w", explained(err))
	}
	databaseThere, err := v.visitDatabase(ctx)
	if err != nil {
		return fmt.Errorf("reading the database %s: %w", v.database, explained(err))
	}
	there := map[string]bool{}
	for _, d := range definitions {
		if there[d.name], err = v.visitContainer(ctx, d, databaseThere); err != nil {
			return fmt.Errorf("reading the container %s of the database %s: %w", d.name, v.database, explained(err))
		}
	}
	for _, script := range scripts {
		if err := v.visitScript(ctx, script, there[script.container]); err != nil {
			return fmt.Errorf("reading the %s of the database %s: %w", script.label(), v.database, explained(err))
		}
	}
	return nil
}

// visitAccount finds out whether the account is of the kind that the wanted throughput needs.
func (v *survey) visitAccount(ctx context.Context) (err error) {
	if !v.wanted.said() {
		return nil
	}
	if v.serverless, err = v.procedures.isServerless(ctx); err != nil {
		return err
	}
	const serverless, provisioned = "serverless", "provisioned"
	switch wantsServerless := v.wanted.Each.Kind == Serverless; {
	case v.serverless && !wantsServerless:
		v.differ("account", "capacity", serverless, provisioned)
	case !v.serverless && wantsServerless:
		v.differ("account", "capacity", provisioned, serverless)
	}
	return nil
}

func (v *survey) differ(of, what, there, wanted string) {
	v.differences = append(v.differences, Difference{of, what, there, wanted})
}

func (v *survey) visitDatabase(ctx context.Context) (there bool, err error) {
	database, err := v.client.NewDatabase(v.database)
	if err != nil {
		return false, err
	}
	_, err = database.Read(ctx, nil)
	if there, err = found(err); err != nil {
		return false, err
	}
	wanted := v.wanted.ofDatabase()
	if !there {
		v.steps = append(v.steps, v.makeDatabase(wanted))
		return false, nil
	}
	return true, v.meter(ctx, database, "database "+v.database, wanted, none)
}

func (v *survey) visitContainer(ctx context.Context, d definition, databaseThere bool) (there bool, err error) {
	wanted := v.wanted.ofContainer(d.name)
	var answer azcosmos.ContainerResponse
	if databaseThere {
		answer, err = v.containers[d.name].Read(ctx, nil)
		if there, err = found(err); err != nil {
			return false, err
		}
	}
	if !there {
		v.steps = append(v.steps, v.makeContainer(d, wanted))
		return false, nil
	}
	v.differences = append(v.differences, d.differences(*answer.ContainerProperties)...)
	return true, v.meter(ctx, v.containers[d.name], "container "+d.name, wanted, shared)
}

// meter compares the throughput of what is there with the wanted one. without says what it is where the account knows
// of none.
func (v *survey) meter(ctx context.Context, of metered, what string, wanted Throughput, without ThroughputKind) error {
	if wanted.Kind == Unsaid || wanted.Kind == Serverless || v.serverless {
		return nil
	}
	answer, err := of.ReadThroughput(ctx, nil)
	own, err := found(err)
	if err != nil {
		return err
	}
	there := Throughput{Kind: without}
	if own {
		there = throughputOf(answer.ThroughputProperties)
	}
	switch {
	case wanted == there:
	case wanted.Kind != there.Kind:
		v.differ(what, "throughput", there.String(), wanted.String())
	default:
		v.steps = append(v.steps, changeThroughput(of, what, there, wanted))
	}
	return nil
}

func (v *survey) visitScript(ctx context.Context, script script, containerThere bool) error {
	var registered scriptDefinition
	there := false
	if containerThere {
		var err error
		if registered, there, err = v.procedures.read(ctx, script); err != nil {
			return err
		}
	}
	if !there {
		v.steps = append(v.steps, v.registerScript(script))
		return nil
	}
	v.differences = append(v.differences, script.differences(registered)...)
	return nil
}
