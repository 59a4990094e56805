package resolvers_test

import (
	"flag"
	"testing"

	"cosmosblog/proof/mutanttest"
)

var mutantsFlag = flag.Bool("mutants", false, "run TestMutantsAreFound, which compiles the commands with deliberate mistakes")

var mutants = map[string]mutanttest.Mutant{
	"decisions on stale reads": {
		File:  "../store/tries.go",
		Right: "	if !current {\n		return errReadAgain",
		Wrong: "	if current && false {\n		return errReadAgain",
		Tests: []string{".", "-run", "^TestCommandsThatUndoTheLast$", "-faults", "behind"},
	},
	"no list of edits": {
		File:  "../store/command_post.go",
		Right: "case slices.Contains(item.Edits, edit):",
		Wrong: "case slices.Contains(item.Edits, edit) && item.Edits[len(item.Edits)-1] == edit:",
		Tests: []string{".", "-run", "^TestEditsInSeveralTabs$", "-faults", "all", "-count", "10"},
	},
	"a username released by a stale read": {
		File:  "../store/naming.go",
		Right: "	user, _, err := cosmos.ReadLatest[schema.UserItem](ctx, s.users, userID)\n",
		Wrong: "	user, _, err := cosmos.Read[schema.UserItem](ctx, s.users, userID, userID)\n",
		Tests: []string{"../store", "-run", "OnStaleReplica$"},
	},
}

// TestMutantsAreFound plants one mistake at a time in a copy of the sources that only the compiler
// sees, and checks that the tests of the API, or those of the commands, fail.
func TestMutantsAreFound(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("compiles the commands several times; set -mutants to run it")
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) { m.Test(t) })
	}
}

// TestMutantsFit checks that every mistake still fits its source file.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		m.Plant(t)
	}
}
