package transfer_test

import (
	"testing"

	"cosmosblog/store/embedded"
	"cosmosblog/store/storetest"
)

// world is a storetest.World with this package's shortcuts.
type world struct{ *storetest.World }

func newWorld(t *testing.T) *world { return &world{storetest.New(t)} }

func newWorldWith(t *testing.T, options embedded.Options) *world {
	return &world{storetest.NewWith(t, options)}
}

// another is a second server on the same engine.
func (w *world) another() *world { return &world{w.World.Another()} }

// on is the same world for a part of the test.
func (w *world) on(t *testing.T) *world { return &world{w.World.On(t)} }

func newDividedWorld(t *testing.T) *world { return &world{storetest.NewDividedWorld(t)} }
