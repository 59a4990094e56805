package provision

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// surveyor compares the existing resources with the definitions before anything is written.
type surveyor struct {
	db          *cosmos.DB
	options     Options
	wanted      Throughputs
	serverless  bool // the account is serverless; read only if a throughput is wanted
	steps       []step
	differences []schema.Difference
}

// survey returns the steps that create what is missing and change throughputs. Errors:
// *schema.FormatError, *DifferenceError, or that of a request.
func survey(ctx context.Context, db *cosmos.DB, options Options) ([]step, error) {
	v := &surveyor{db: db, options: options, wanted: options.Throughputs}
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
	databaseExists, err := v.visitDatabase(ctx)
	if err != nil {
		return fmt.Errorf("reading the database %s: %w", v.db.Name(), cosmos.SetupError(err))
	}
	exists := map[string]bool{}
	for _, d := range schema.Containers {
		if exists[d.Name], err = v.visitContainer(ctx, d, databaseExists); err != nil {
			return fmt.Errorf("reading the container %s of the database %s: %w", d.Name, v.db.Name(), cosmos.SetupError(err))
		}
	}
	// A database without one of these containers is refused later, by schema.Check.
	if exists[schema.Users] && exists[schema.Posts] && exists[schema.Leases] {
		if _, err := schema.HasFormat(ctx, v.db); err != nil {
			return err
		}
	}
	if err := v.visitFormerScripts(ctx, exists); err != nil { // first, to make room
		return fmt.Errorf("listing the scripts of the database %s: %w", v.db.Name(), cosmos.SetupError(err))
	}
	for _, script := range schema.Scripts {
		if err := v.visitScript(ctx, script, exists[script.Container]); err != nil {
			return fmt.Errorf("reading the %s of the database %s: %w", script.Label(), v.db.Name(), cosmos.SetupError(err))
		}
	}
	return nil
}

// visitAccount checks that the account has the capacity mode that the wanted throughput needs.
func (v *surveyor) visitAccount(ctx context.Context) (err error) {
	if !v.wanted.isSpecified() {
		return nil
	}
	if v.serverless, err = v.db.IsServerless(ctx); err != nil {
		return err
	}
	switch wantsServerless := v.wanted.fallback.kind == serverless; {
	case v.serverless && !wantsServerless:
		v.differ("account", "capacity", "serverless", "provisioned")
	case !v.serverless && wantsServerless:
		v.differ("account", "capacity", "provisioned", "serverless")
	}
	return nil
}

func (v *surveyor) differ(resource, property, actual, expected string) {
	v.differences = append(v.differences, schema.Difference{Resource: resource, Property: property, Actual: actual, Expected: expected})
}

func (v *surveyor) visitDatabase(ctx context.Context) (exists bool, err error) {
	database, err := v.db.Client().NewDatabase(v.db.Name())
	if err != nil {
		return false, err
	}
	_, err = database.Read(ctx, nil)
	if exists, err = cosmos.ExistsFromError(err); err != nil {
		return false, err
	}
	wanted := v.wanted.ofDatabase()
	if !exists {
		v.steps = append(v.steps, createDatabase(v.db, wanted))
		return false, nil
	}
	return true, v.visitThroughput(ctx, database, "database "+v.db.Name(), wanted, none)
}

func (v *surveyor) visitContainer(
	ctx context.Context, d schema.Container, databaseExists bool,
) (exists bool, err error) {
	wanted := v.wanted.ofContainer(d.Name)
	var response azcosmos.ContainerResponse
	if databaseExists {
		response, err = v.db.Container(d.Name).Read(ctx, nil)
		if exists, err = cosmos.ExistsFromError(err); err != nil {
			return false, err
		}
	}
	if !exists {
		v.steps = append(v.steps, createContainer(v.db, d, wanted))
		return false, nil
	}
	for _, difference := range d.Differences(*response.ContainerProperties) {
		if !difference.Tolerated {
			v.differences = append(v.differences, difference)
		}
	}
	return true, v.visitThroughput(ctx, v.db.Container(d.Name), "container "+d.Name, wanted, shared)
}

// visitThroughput compares the throughput of an existing resource with the wanted one. without
// is the kind to assume if the resource has no throughput of its own.
func (v *surveyor) visitThroughput(
	ctx context.Context, resource throughputHolder, name string, wanted throughput, without throughputKind,
) error {
	if wanted.kind == unspecified || wanted.kind == serverless || v.serverless {
		return nil
	}
	response, err := resource.ReadThroughput(ctx, nil)
	hasOwn, err := cosmos.ExistsFromError(err)
	if err != nil {
		return err
	}
	current := throughput{kind: without}
	if hasOwn {
		current = throughputOf(response.ThroughputProperties)
	}
	switch {
	case wanted == current:
	case wanted.kind != current.kind:
		v.differ(name, "throughput", current.String(), wanted.String())
	default:
		v.steps = append(v.steps, changeThroughput(resource, name, current, wanted))
	}
	return nil
}

func (v *surveyor) visitScript(ctx context.Context, script cosmos.Script, containerExists bool) error {
	var registered cosmos.ScriptDefinition
	exists := false
	if containerExists {
		var err error
		if registered, exists, err = v.db.ReadScript(ctx, script); err != nil {
			return err
		}
	}
	if !exists {
		v.steps = append(v.steps, registerScript(v.db, script))
		return nil
	}
	v.differences = append(v.differences, scriptDifferences(script, registered)...)
	if v.options.RecreateScripts {
		v.steps = append(v.steps, recreateScript(v.db, script))
	}
	return nil
}

// visitFormerScripts adds the steps that delete former versions of scripts: those after which two
// others of the same name were registered, both longer ago than maxScriptAge. One is not enough: it
// may be of a release that was withdrawn, and the servers use the version before it until this
// program replaces them. Versions of this program are kept, also if an older program was started
// again.
func (v *surveyor) visitFormerScripts(ctx context.Context, exists map[string]bool) error {
	if v.options.KeepScripts {
		return nil
	}
	type place struct {
		container string
		isTrigger bool
	}
	registered := map[place][]cosmos.RegisteredScript{}
	for _, script := range schema.Scripts {
		p := place{script.Container, script.Trigger}
		if !exists[script.Container] || registered[p] != nil {
			continue
		}
		var err error
		if registered[p], err = v.db.ListScripts(ctx, script); err != nil {
			return err
		}
	}
	for _, script := range schema.Scripts {
		versions := schema.VersionsOf(script, registered[place{script.Container, script.Trigger}])
		for i, version := range versions[:max(0, len(versions)-2)] {
			successor := versions[i+2]
			if version.ID != script.ID && v.db.Now().Sub(successor.RegisteredAt()) > maxScriptAge {
				former := cosmos.Script{ID: version.ID, Container: script.Container, Trigger: script.Trigger}
				v.steps = append(v.steps, removeScript(v.db, former, successor.ID))
			}
		}
	}
	return nil
}
