package views_test

import (
	"fmt"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
)

// world is a storetest.World with this package's shortcuts.
type world struct{ *storetest.World }

func newWorld(t *testing.T) *world { return &world{storetest.New(t)} }

func newWorldWith(t *testing.T, options cosmostest.Options) *world {
	return &world{storetest.NewWith(t, options)}
}

// another is a second server on the same engine.
func (w *world) another() *world { return &world{w.World.Another()} }

// on is the same world for a part of the test.
func (w *world) on(t *testing.T) *world { return &world{w.World.On(t)} }

func newDividedWorld(t *testing.T) *world { return &world{storetest.NewDividedWorld(t)} }

func newScriptWorld(t *testing.T, r *storetest.ScriptFaults, own bool) *world {
	return &world{storetest.NewScriptWorld(t, r, own)}
}

// scriptWorlds runs a subtest in a world for each of ownWrites.
func scriptWorlds(t *testing.T, f func(t *testing.T, w *world, r *storetest.ScriptFaults)) {
	for _, own := range ownWrites(t) {
		t.Run(fmt.Sprintf("own=%t", own), func(t *testing.T) {
			r := &storetest.ScriptFaults{}
			f(t, newScriptWorld(t, r, own), r)
		})
	}
}
