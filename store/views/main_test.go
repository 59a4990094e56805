package views_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"

	"cosmosblog/proof/testseed"
)

var (
	strideFlag = flag.Int("stride", 24,
		"tests inject a fault at every n-th place; unless it is 1, others take a random selection of their cases")
	historyFlag = flag.Int("history", 5, "the number of steps in the tests of random histories of the feed")
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
func places(t *testing.T, limit int) (numbers []int) {
	for n := testseed.Rand(t).IntN(min(*strideFlag, limit)); n < limit; n += *strideFlag {
		numbers = append(numbers, n)
	}
	return numbers
}

// someOf returns n random elements of all, or all of them if the flag -stride is 1.
func someOf[T any](t *testing.T, n int, all ...T) []T {
	if *strideFlag == 1 {
		return all
	}
	testseed.Rand(t).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// ownWrites returns whether queries of a script see the writes of its own transaction: one variant
// or both.
func ownWrites(t *testing.T) []bool { return someOf(t, 1, false, true) }
