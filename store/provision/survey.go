package provision

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// surveyor compares what exists with the definitions, before anything is written.
type surveyor struct {
	db          *cosmos.DB
	wanted      Throughputs
	serverless  bool // the account; known where a throughput is wanted
	steps       []step
	differences []Difference
}

// survey gives what is to be done so that everything is there. Errors: *DifferenceError; others where the account
// cannot be asked.
func survey(ctx context.Context, db *cosmos.DB, wanted Throughputs) ([]step, error) {
	v := &surveyor{db: db, wanted: wanted}
	if err := v.visit(ctx); err != nil {
		return nil, err
	}
	if len(v.differences) > 0 {
		return nil, &DifferenceError{v.differences}
	}
	return v.steps, nil
}

func (v *surveyor) visit(ctx context.Context) error {
	if err := v.visitAccount(ctx); err != nil {
		return fmt.Errorf("reading the account's throughputs: %w", cosmos.SetupError(err))
	}
	databaseThere, err := v.visitDatabase(ctx)
	if err != nil {
		return fmt.Errorf("reading the database %s: %w", v.db.Name(), cosmos.SetupError(err))
	}
	there := map[string]bool{}
	for _, d := range schema.Containers {
		if there[d.Name], err = v.visitContainer(ctx, d, databaseThere); err != nil {
			return fmt.Errorf("reading the container %s of the database %s: %w", d.Name, v.db.Name(), cosmos.SetupError(err))
		}
	}
	for _, script := range schema.Scripts {
		if err := v.visitScript(ctx, script, there[script.Container]); err != nil {
			return fmt.Errorf("reading the %s of the database %s: %w", script.Label(), v.db.Name(), cosmos.SetupError(err))
		}
	}
	return nil
}

// visitAccount finds out whether the account is of the kind that the wanted throughput needs.
func (v *surveyor) visitAccount(ctx context.Context) (err error) {
	if !v.wanted.said() {
		return nil
	}
	if v.serverless, err = v.db.IsServerless(ctx); err != nil {
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

func (v *surveyor) differ(of, what, there, wanted string) {
	v.differences = append(v.differences, Difference{of, what, there, wanted})
}

func (v *surveyor) visitDatabase(ctx context.Context) (there bool, err error) {
	database, err := v.db.Client().NewDatabase(v.db.Name())
	if err != nil {
		return false, err
	}
	_, err = database.Read(ctx, nil)
	if there, err = cosmos.ExistsFromError(err); err != nil {
		return false, err
	}
	wanted := v.wanted.ofDatabase()
	if !there {
		v.steps = append(v.steps, makeDatabase(v.db, wanted))
		return false, nil
	}
	return true, v.meter(ctx, database, "database "+v.db.Name(), wanted, none)
}

func (v *surveyor) visitContainer(ctx context.Context, d schema.Container, databaseThere bool) (there bool, err error) {
	wanted := v.wanted.ofContainer(d.Name)
	var answer azcosmos.ContainerResponse
	if databaseThere {
		answer, err = v.db.Container(d.Name).Read(ctx, nil)
		if there, err = cosmos.ExistsFromError(err); err != nil {
			return false, err
		}
	}
	if !there {
		v.steps = append(v.steps, makeContainer(v.db, d, wanted))
		return false, nil
	}
	v.differences = append(v.differences, containerDifferences(d, *answer.ContainerProperties)...)
	return true, v.meter(ctx, v.db.Container(d.Name), "container "+d.Name, wanted, shared)
}

// meter compares the throughput of what is there with the wanted one. without says what it is where the account knows
// of none.
func (v *surveyor) meter(ctx context.Context, of metered, what string, wanted Throughput, without ThroughputKind) error {
	if wanted.Kind == Unsaid || wanted.Kind == Serverless || v.serverless {
		return nil
	}
	answer, err := of.ReadThroughput(ctx, nil)
	own, err := cosmos.ExistsFromError(err)
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

func (v *surveyor) visitScript(ctx context.Context, script cosmos.Script, containerThere bool) error {
	var registered cosmos.ScriptDefinition
	there := false
	if containerThere {
		var err error
		if registered, there, err = v.db.ReadScript(ctx, script); err != nil {
			return err
		}
	}
	if !there {
		v.steps = append(v.steps, registerScript(v.db, script))
		return nil
	}
	v.differences = append(v.differences, scriptDifferences(script, registered)...)
	return nil
}
