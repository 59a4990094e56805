package engine

import (
	"flag"
	"strings"
	"testing"

	"cosmosblog/proof/mutanttest"
)

var mutantsFlag = flag.Bool("mutants", false, "run TestMutantsAreFound, which builds the engine with deliberate mistakes")

// The tests that find mistakes of a durable store, and those that find mistakes of Changes.
var (
	findingSimulation = []string{".", "-timeout", "3m", "-run", "^TestSimulation$", "-simulation-steps", "20000"}
	findingChanges    = []string{".", "-timeout", "3m", "-run", "^Test(Changes|CountedReads)"}
)

// yield lets other goroutines run.
const yield = "	for range 100 {\n		turn := make(chan struct{})\n		go close(turn)\n		<-turn\n	}\n"

// mutants are mistakes that the engine must not make.
var mutants = func() map[string]mutanttest.Mutant {
	const (
		counted = "	t.engine.counts.add(t.container.databaseName, t.container.name, t.partition.epk())\n"
		applied = "	if err := t.engine.db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {\n		return 0, err\n	}\n"
		written = "	t.writeItems(batch, r)\n"
		works   = "	if err := work(t); err != nil {\n"
		ceiling = "	ceiling, err := e.meta(string(ceilingKey(c.number, r.number)))\n"
		catalog = "	defer e.counts.catalog.Add(1) // also after a failure, which may have removed expired items\n"
	)
	return map[string]mutanttest.Mutant{
		"no sync": {
			File: "commit.go", Right: "ApplyNoSyncWait(batch, pebble.Sync)", Wrong: "Apply(batch, pebble.NoSync)", Tests: findingSimulation},
		"numbers out of order": {
			File: "commit.go", Right: written, Wrong: "	r.lsn ^= 1\n" + written + "	r.lsn ^= 1\n", Tests: findingSimulation},
		"a number is assigned out of turn": {
			File: "commit.go", Right: written, Wrong: written + "	r.mu.Unlock()\n" + yield + "	r.mu.Lock()\n", Tests: findingSimulation},
		"commit before the script ends": {
			File: "isolation.go", Right: works, Wrong: works + "		t.commit()\n", Tests: findingSimulation},
		"numbers are reused after a crash": {
			File: "commit.go", Right: ceiling, Wrong: ceiling + "	ceiling = max(ceiling, reservedNumbers) - reservedNumbers\n", Tests: findingSimulation},
		"a write is counted before it is visible": {
			File: "commit.go", Right: applied + counted, Wrong: counted + yield + applied, Tests: findingChanges},
		"a write is not counted": {
			File: "commit.go", Right: counted, Tests: findingChanges},
		"a write is counted after it is acknowledged": {
			File: "commit.go", Right: counted, Wrong: "	go func() {\n" + yield + counted + "	}()\n", Tests: findingChanges},
		"a deleted container is not counted": {
			File: "catalog.go", Right: catalog, Tests: findingChanges},
	}
}()

// TestMutantsFit checks that every mistake still fits its source file.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		m.Plant(t)
	}
}

// TestMutantsAreFound introduces one mistake at a time, and expects the tests to find it: the
// simulation by its seed, or the tests of Changes.
func TestMutantsAreFound(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("compiles the engine several times; run with -mutants")
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			finding := "seed "
			if &m.Tests[0] == &findingChanges[0] {
				finding = "changecount_test.go:"
			}
			_, found, ok := strings.Cut(m.Test(t), finding)
			if !ok {
				t.Fatal("the tests failed for another reason")
			}
			t.Log(strings.SplitN(found, "\n", 2)[0])
		})
	}
}
