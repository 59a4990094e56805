// Package testseed seeds the random tests. By default, all of them use the same seed, so whether a
// change passes does not depend on luck. The environment variable COSMOSBLOG_TEST_SEED sets another
// seed, or repeats a run. Only tests import this package.
package testseed

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Variable is the environment variable with the seed, a positive integer.
const Variable = "COSMOSBLOG_TEST_SEED"

// Of returns the seed of the random tests. A test that fails logs how to repeat the run.
func Of(t testing.TB) uint64 {
	t.Helper()
	seed, text := uint64(1), os.Getenv(Variable)
	if text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil || seed == 0 {
			t.Fatalf("%s is %q, which is not a positive integer", Variable, text)
		}
	}
	if _, isTold := told.LoadOrStore(t, true); !isTold {
		t.Cleanup(func() { told.Delete(t) })
		t.Logf("repeat with %s=%d", Variable, seed)
	}
	return seed
}

var told sync.Map // running tests that have logged the seed

// Rand returns a source of random numbers that depends on the seed and the test's name.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name())) // never fails
	return rand.New(rand.NewPCG(Of(t), name.Sum64()))
}

// Check is rapid.Check with the seed. Tests that call it must not run in parallel, because the seed
// is a flag of the process.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if err := flag.Set("rapid.seed", strconv.FormatUint(Of(t), 10)); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, property)
}
