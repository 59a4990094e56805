package readcache

import (
	"flag"
	"testing"

	"cosmosblog/proof/mutanttest"
)

var mutantsFlag = flag.Bool("mutants", false, "run TestMutantsAreFound, which compiles the cache with deliberate mistakes")

// finding and findingOverGraphQL are the tests of random reads and writes, of this package and of
// the API.
var (
	finding            = []string{".", "-run", "^TestReadsSeeAcknowledgedWrites$"}
	findingOverGraphQL = []string{"../../resolvers", "-run", "^TestReadsSeeAcknowledgedWrites$", "-count", "5"}
)

var mutants = map[string]mutanttest.Mutant{
	"the changes are noted after the read": {
		File:  "flight.go",
		Right: "	c.begin(key, f)\n	var bytes int\n	f.result, bytes, f.err = read()\n",
		Wrong: "	var bytes int\n	f.result, bytes, f.err = read()\n	c.begin(key, f)\n",
		Tests: finding,
	},
	"a kept value is noted after the read": {
		File:  "flight.go",
		Right: "	if f.err == nil {\n",
		Wrong: "	if f.err == nil && c.changes != nil {\n		f.changes = c.changes(key.Container, key.Partition)\n",
		Tests: finding,
	},
	"a read joins another that has begun": {
		File:  "flight.go",
		Right: "(!f.begun || c.changes != nil && f.changes == now)",
		Wrong: "(now == now || f == nil)",
		Tests: finding,
	},
	"a kept value outlives a change": {
		File:  "readcache.go",
		Right: "ok && v.changes == now && (",
		Wrong: "ok && (",
		Tests: finding,
	},
}

// TestMutantsAreFound plants one mistake at a time in a copy of the sources that only the compiler
// sees, and checks that the random histories fail.
func TestMutantsAreFound(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("compiles the cache several times; set -mutants to run it")
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) { m.Test(t) })
		m.Tests = findingOverGraphQL
		t.Run(name+", over GraphQL", func(t *testing.T) { m.Test(t) })
	}
}

// TestMutantsFit checks that every mistake still fits its source file.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		m.Plant(t)
	}
}
