package views_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"
)

var (
	strideFlag = flag.Int("stride", 8,
		"tests of crashes and refused operations inject a fault at every n-th place; 1 tests all places")
	historyFlag = flag.Int("history", 8, "the number of steps in the tests of random histories of the feed")
)

// TestMain collects garbage less often: the tests create hundreds of small engines, which live for
// a moment.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// places returns every n-th number from 0 up to limit (exclusive), from a random first one, where
// n is the flag -stride.
func places(limit int) (numbers []int) {
	for n := rand.IntN(min(*strideFlag, limit)); n < limit; n += *strideFlag {
		numbers = append(numbers, n)
	}
	return numbers
}

// ownWrites returns whether queries of a script see the writes of its own transaction: both
// variants if the flag -stride is 1, otherwise one at random.
func ownWrites() []bool {
	if *strideFlag == 1 {
		return []bool{false, true}
	}
	return []bool{rand.IntN(2) == 1}
}
