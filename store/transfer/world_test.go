package transfer_test

import (
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
)

// world is a storetest.World with shortcuts for this package.
type world struct{ *storetest.World }

func newWorld(t *testing.T) *world { return &world{storetest.New(t)} }

func newWorldWith(t *testing.T, options cosmostest.Options) *world {
	return &world{storetest.NewWith(t, options)}
}

// another returns a second server on the same engine.
func (w *world) another() *world { return &world{w.World.Another()} }

// on returns the same world for a subtest.
func (w *world) on(t *testing.T) *world { return &world{w.World.On(t)} }

func newDividedWorld(t *testing.T) *world { return &world{storetest.NewDividedWorld(t)} }
