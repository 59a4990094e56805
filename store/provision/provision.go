// Package provision creates the missing resources of a database, reports what differs from its
// definition, and writes the same definitions as a Bicep template.
package provision

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Options are what Run does beside creating what is missing.
type Options struct {
	Throughputs Throughputs // to set; the zero value leaves them

	// RecreateScripts deletes each script of this program and registers it again. The account blocks a
	// script that took too long several times, until then (cosmos.IsScriptBlocked). Meanwhile, servers
	// repeat its executions.
	RecreateScripts bool

	// KeepScripts keeps former versions of scripts. Otherwise those are deleted after which two others
	// were registered, both longer ago than maxScriptAge: a container has at most 100 stored
	// procedures.
	KeepScripts bool
}

// maxScriptAge is the time for which servers of a former release may run beside new ones.
const maxScriptAge = 30 * 24 * time.Hour

// Run creates the missing resources of a database: the database itself, containers with their
// indexes, and scripts. It deletes former versions of scripts, and does what the options say. It
// returns its changes in order, one sentence each, even if it fails. Run needs the account's key,
// because Entra ID tokens may not create or read definitions. Several processes may call it at the
// same time.
//
// Run reads everything before it writes anything. Errors, after which it has changed nothing:
// *DifferenceError if an existing resource differs from its definition; *schema.FormatError if the
// items have another format. Run does not store the number of the format: schema.Check does.
func Run(ctx context.Context, db *cosmos.DB, options Options) (done []string, err error) {
	steps, err := survey(ctx, db, options)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		changed, err := step.do(ctx)
		if cosmos.IsOverThroughputLimit(err) {
			return done, limitError(step, err)
		}
		if err != nil {
			return done, fmt.Errorf("%s: %w", step.doing, cosmos.SetupError(err))
		}
		if changed {
			done = append(done, step.done)
		}
	}
	return done, nil
}

// freeThroughput is the throughput of an account in the free tier, which is also the least that a
// database can share with autoscale (learn.microsoft.com/azure/cosmos-db/free-tier).
const freeThroughput = 1000

// limitError says what to do if a step would exceed the account's limit of its total throughput.
func limitError(s step, err error) error {
	sentence := "the account limits its total throughput"
	if answer := limitPattern.FindString(err.Error()); answer != "" {
		sentence += " (" + answer + "/s)"
	}
	return fmt.Errorf("%s: %s: with --throughput database=autoscale:%d, all containers share %d RU/s, "+
		"as many as the free tier has; %d containers with a throughput of their own need at least %d. "+
		"A database gets a shared throughput only when it is created, so an empty one that has none must be deleted first "+
		"(az cosmosdb sql database delete). Do not delete one with data: copy it to another database, "+
		"or raise the limit, in the portal under Cost Management",
		s.doing, sentence, freeThroughput, freeThroughput, len(schema.Containers), len(schema.Containers)*minManual)
}

// limitPattern finds the limit in the account's answer, which escapes the slash of RU/s.
var limitPattern = regexp.MustCompile(`limit of \d+ RU`)

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

// recreateScript returns the step that deletes a script and registers it again. If another process
// does the same, one of them finds it deleted or registered.
func recreateScript(db *cosmos.DB, script cosmos.Script) step {
	return step{
		doing: "creating the " + script.Label() + " again",
		done:  "created the " + script.Label() + " again",
		do: func(ctx context.Context) (bool, error) {
			if _, err := db.DeleteScript(ctx, script); err != nil {
				return false, err
			}
			_, err := db.RegisterScript(ctx, script)
			return err == nil, err
		},
	}
}

func removeScript(db *cosmos.DB, script cosmos.Script, successor string) step {
	return step{
		doing: "deleting the " + script.Label(),
		done:  fmt.Sprintf("deleted the %s, which %s replaced", script.Label(), successor),
		do:    func(ctx context.Context) (bool, error) { return db.DeleteScript(ctx, script) },
	}
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
