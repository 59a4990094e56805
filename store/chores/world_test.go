package chores_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
)

// TestMain collects garbage less often: the tests create hundreds of small engines, which live for
// a moment.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// world is a storetest.World with this package's shortcuts.
type world struct{ *storetest.World }

func newWorld(t *testing.T) *world { return &world{storetest.New(t)} }

func newWorldWith(t *testing.T, options cosmostest.Options) *world {
	return &world{storetest.NewWith(t, options)}
}

// another is a second server on the same engine.
func (w *world) another() *world { return &world{w.World.Another()} }

func newDividedWorld(t *testing.T) *world { return &world{storetest.NewDividedWorld(t)} }
